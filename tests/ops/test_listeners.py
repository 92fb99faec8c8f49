"""Attention in which both ends' scores count, against the softmax over explicit pairs."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from tests.ops.cases import GRAPH, LAYERS, NODES, STACKS

from gramme import DataError, EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.graph import Coupling
from gramme.ops import in_plain_torch
from gramme.ops.listeners import ListenerSums, leaky, listener_sums
from gramme.ops.stacked import supra_sum


def pairwise(matrix: np.ndarray, values: torch.Tensor, scores: torch.Tensor, listening: torch.Tensor) -> torch.Tensor:
    """Means by a softmax over every pair, with the weights of a matrix that has each row itself."""
    heard = torch.from_numpy(matrix > 0)[..., None]
    logarithms = torch.from_numpy(np.log(np.where(matrix > 0, matrix, 1)))[..., None]
    each = (leaky(listening[:, None] + scores[None]) + logarithms).masked_fill(~heard, -torch.inf)
    return torch.einsum("ijh,jhd->ihd", each.softmax(1), values)


def agree(sums: ListenerSums, matrix: np.ndarray, scale: float) -> None:
    random = torch.Generator().manual_seed(0)
    values, scores, listening = (
        (factor * torch.randn(shape, generator=random, dtype=torch.float64)).requires_grad_()
        for factor, shape in ((1.0, (sums.rows, 2, 3)), (scale, (sums.rows, 2)), (scale, (sums.rows, 2)))
    )
    found, wanted = sums.means(values, scores, listening), pairwise(matrix, values, scores, listening)
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-11)
    direction = torch.randn(found.shape, generator=random, dtype=torch.float64)
    for one, other in zip(
        torch.autograd.grad(found, (values, scores, listening), direction),
        torch.autograd.grad(wanted, (values, scores, listening), direction),
        strict=True,
    ):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-9)
    with in_plain_torch():
        torch.testing.assert_close(sums.means(values, scores, listening), wanted, rtol=0, atol=1e-11)


@pytest.mark.parametrize("scale", [1.0, 30.0, 3000.0], ids=["near", "far", "beyond exp"])
@pytest.mark.parametrize("name", STACKS)
def test_equals_the_softmax_over_pairs_in_values_and_gradients(name, scale):
    matrices = [LAYERS[layer].to_edges().to_scipy() + sp.eye_array(NODES) for layer in STACKS[name]]
    agree(listener_sums(GRAPH, STACKS[name]), sp.block_diag(matrices).toarray(), scale)


def test_equal_scores_and_ties_at_the_bend_count_once():
    sums = listener_sums(MultilayerGraph({"room": MembershipLayer.from_codes([0, 0, 0, 1, 1])}))
    values = torch.arange(5.0, dtype=torch.float64)[:, None, None]
    zero = torch.zeros(5, 1, dtype=torch.float64)
    assert sums.means(values, zero, zero).ravel().tolist() == [1.0, 1.0, 1.0, 3.5, 3.5]


@pytest.mark.parametrize("directed", [True, False])
def test_the_supra_graph_takes_copies_for_a_group_and_couplings_for_edges(directed):
    layers = {
        "a": EdgeLayer(6, [0, 1], [1, 2], nodes=[0, 1, 2, 4]),
        "b": MembershipLayer.from_codes([0, 0, 1, 1, 1, -1]),
        "c": EdgeLayer(6, [0, 3], [5, 4], [2.0, 3.0], directed=True),
    }
    coupling = Coupling(6, [0, 2], [3, 1], directed=directed)
    graph = MultilayerGraph(layers, couplings={("a", "c"): coupling})
    whole = supra_sum(graph)
    matrix = whole(torch.eye(whole.rows, dtype=torch.float64)).numpy()
    agree(listener_sums(graph, pillars=True), matrix, 2.0)


def test_the_plain_sum_and_its_transpose():
    sums = listener_sums(GRAPH, STACKS["mixed"])
    one = torch.eye(sums.rows, dtype=torch.float64)
    torch.testing.assert_close(sums(one), sums.transposed(one).t())


def test_features_of_edges_are_refused():
    layer = EdgeLayer(3, [0], [1], features=[[1.0]])
    with pytest.raises(DataError, match="attention_score='neighbour'"):
        listener_sums(MultilayerGraph({"a": layer}))
