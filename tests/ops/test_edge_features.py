"""Learned weights of edges and memberships against one explicit edge after the other, in values and gradients."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from gramme import DataError
from gramme.graph import Coupling, EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.ops import edge_scales, featured_attention_sums, in_plain_torch, layers_sum, supra_sum

N, HEADS, DIM = 7, 2, 3


def graph(*, coupled: bool = False) -> MultilayerGraph:
    """Directed and weighted edges, undirected ones, several groups to a node, a layer without features."""
    random = np.random.default_rng(0)
    layers = {
        "calls": EdgeLayer(
            N, [0, 1, 2, 0], [1, 2, 0, 3], [1.0, 0.5, 2.0, 3.0], directed=True, features=random.normal(size=(4, 2))
        ),
        "friends": EdgeLayer(N, [0, 1, 4], [2, 3, 5], features=random.normal(size=3)),
        "plain": EdgeLayer(N, [0, 2, 4], [1, 3, 6]),
        "clubs": MembershipLayer(N, [0, 1, 1, 2, 2, 3], [0, 0, 1, 1, 2, 2], features=random.normal(size=(6, 2))),
    }
    couplings = {("calls", "clubs"): Coupling(N, [0, 4], [2, 3])} if coupled else None
    return MultilayerGraph(layers, couplings=couplings)


def slow_weights(given: MultilayerGraph, coefficients: torch.Tensor, bound: float | None) -> torch.Tensor:
    """The weight with which each copy listens to each other, (copies, copies, heads), by Python loops over edges."""
    scales = edge_scales(given.layers)
    copies = given.num_layers * N
    found = torch.zeros(copies, copies, HEADS, dtype=torch.float64)
    column = 0
    for place, (name, layer) in enumerate(given.layers.items()):
        at = place * N
        width = 0 if layer.features is None else layer.features.shape[1]
        c = coefficients[:, column : column + width]
        column += width

        def factor(row: int, layer=layer, name=name, c=c, width=width):  # type: ignore[no-untyped-def]
            if not width:
                return torch.ones(HEADS, dtype=torch.float64)
            center, scale = scales[name]
            product = c @ torch.from_numpy((layer.features[row] - center) / scale)
            return (product if bound is None else bound * torch.tanh(product / bound)).exp()

        if isinstance(layer, EdgeLayer):
            for row, (i, j) in enumerate(zip(layer.source.tolist(), layer.target.tolist(), strict=True)):
                weight = 1.0 if layer.weight is None else float(layer.weight[row])
                found[at + i, at + j] += weight * factor(row)
                if not layer.directed:
                    found[at + j, at + i] += weight * factor(row)
            continue
        members = list(zip(layer.node.tolist(), layer.group.tolist(), strict=True))
        for row, (i, group) in enumerate(members):
            for other, (j, same) in enumerate(members):
                if group == same and i != j:
                    found[at + i, at + j] += factor(row) * factor(other)
    return found + torch.eye(copies, dtype=torch.float64)[..., None]


def slow_means(values, scores, weights):  # type: ignore[no-untyped-def]
    strength = weights * torch.exp(scores - scores.max())[None]
    return torch.einsum("ijh,jhd->ihd", strength / strength.sum(1, keepdim=True), values)


@pytest.fixture(autouse=True)
def double():  # type: ignore[no-untyped-def]
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def inputs(copies: int, columns: int) -> list[torch.Tensor]:
    torch.manual_seed(0)
    shapes = (copies, HEADS, DIM), (copies, HEADS), (HEADS, columns)
    return [torch.randn(*shape, requires_grad=True) for shape in shapes]


@pytest.mark.parametrize("bound", [None, 2.0])
@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("supra", [False, True])
def test_equal_to_explicit_edges_in_values_and_gradients(supra: bool, plain: bool, bound: float | None) -> None:
    given = graph(coupled=supra)
    scales = edge_scales(given.layers)
    total = supra_sum(given, scales=scales) if supra else layers_sum(given, scales=scales)
    values, scores, coefficients = inputs(given.num_layers * N, 5)
    weights = slow_weights(given, coefficients, bound)
    if supra:
        bare = MultilayerGraph(
            {name: EdgeLayer(N, [], [], nodes=layer.present) for name, layer in given.layers.items()},
            couplings=given.couplings,
        )
        weights = weights + torch.from_numpy(sp.csr_array(bare.supra_adjacency()).toarray())[..., None]
    with in_plain_torch(plain):
        sums, totals = featured_attention_sums(values, scores, total, coefficients, bound)
        found = sums / totals[..., None]
        expected = slow_means(values, scores, weights)
        torch.testing.assert_close(found, expected)
        direction = torch.randn_like(found)
        ours = torch.autograd.grad(found, [values, scores, coefficients], direction)
    theirs = torch.autograd.grad(expected, [values, scores, coefficients], direction)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other)


def test_gradients_by_finite_differences() -> None:
    given = graph()
    total = layers_sum(given, scales=edge_scales(given.layers))

    def means(values, scores, coefficients):  # type: ignore[no-untyped-def]
        sums, totals = featured_attention_sums(values, scores, total, coefficients, 3.0)
        return sums / totals[..., None]

    assert torch.autograd.gradcheck(means, inputs(given.num_layers * N, 5))


def test_without_coefficients_it_is_the_sum_without_features() -> None:
    given = graph()
    featured, bare = layers_sum(given, scales=edge_scales(given.layers)), layers_sum(given)
    values = torch.randn(given.num_layers * N, 4)
    torch.testing.assert_close(featured(values), bare(values))
    torch.testing.assert_close(featured.transposed(values), bare.transposed(values))


def test_scores_far_apart_are_taken_in_double_precision() -> None:
    torch.set_default_dtype(torch.float32)
    given = graph()
    total = layers_sum(given, scales=edge_scales(given.layers))
    values, scores, coefficients = (one.detach() for one in inputs(given.num_layers * N, 5))
    scores = scores * 100
    sums, totals = featured_attention_sums(values, scores, total, coefficients, 3.0)
    expected = slow_means(values.double(), scores.double(), slow_weights(given, coefficients.double(), 3.0))
    torch.testing.assert_close((sums / totals[..., None]).double(), expected, rtol=1e-4, atol=1e-4)


def test_second_derivatives_are_refused_by_compiled_code_and_right_in_plain_torch() -> None:
    given = graph()
    total = layers_sum(given, scales=edge_scales(given.layers))
    arguments = inputs(given.num_layers * N, 5)

    def means(values, scores, coefficients):  # type: ignore[no-untyped-def]
        sums, totals = featured_attention_sums(values, scores, total, coefficients, 3.0)
        return sums / totals[..., None]

    with pytest.raises(DataError, match="first derivatives only"):
        torch.autograd.grad(means(*arguments).sum(), arguments, create_graph=True)
    with in_plain_torch():
        assert torch.autograd.gradgradcheck(means, arguments)
