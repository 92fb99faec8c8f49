import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.ops.cases import LAYERS, NODES, dense
from tests.strategies import layers

from gramme.graph import EdgeLayer, Layer, MembershipLayer
from gramme.ops import Bags, GroupSum, MembershipSum, stack
from gramme.ops import bags as bags_module


def with_self(layer: Layer) -> np.ndarray:
    return layer.to_scipy().toarray() + np.eye(layer.num_nodes)


@pytest.mark.parametrize("name", LAYERS)
def test_the_sum_is_the_adjacency_with_each_node_itself(name: str) -> None:
    neighbourhood = stack([LAYERS[name]], NODES)
    wanted = with_self(LAYERS[name])
    np.testing.assert_allclose(dense(neighbourhood, NODES), wanted, atol=1e-15)
    np.testing.assert_allclose(dense(neighbourhood.transposed, NODES), wanted.T, atol=1e-15)


@given(st.integers(1, 8).flatmap(lambda n: layers(n)))
def test_the_sum_of_any_layer(layer: Layer) -> None:
    neighbourhood = stack([layer], layer.num_nodes)
    wanted = with_self(layer)
    np.testing.assert_allclose(dense(neighbourhood, layer.num_nodes), wanted)
    np.testing.assert_allclose(dense(neighbourhood.transposed, layer.num_nodes), wanted.T)


@pytest.mark.parametrize("layer", [EdgeLayer(1, [], []), MembershipLayer.from_codes([0])])
def test_one_node_hears_itself(layer: Layer) -> None:
    values = torch.tensor([[2.0, 3.0]])
    assert torch.equal(stack([layer], 1)(values), values)


@pytest.mark.parametrize("layer", [EdgeLayer(0, [], []), MembershipLayer.from_codes([])])
def test_no_nodes(layer: Layer) -> None:
    assert stack([layer], 0)(torch.zeros(0, 3)).shape == (0, 3)


def test_memberships_cost_no_edges() -> None:
    nodes = 300_000
    neighbourhood = stack([MembershipLayer.from_codes(np.zeros(nodes, dtype=int))], nodes)
    assert isinstance(neighbourhood, MembershipSum)
    assert torch.equal(neighbourhood(torch.ones(nodes, 1)), torch.full((nodes, 1), float(nodes)))


@pytest.mark.parametrize("weighted", [False, True])
def test_a_large_group_is_summed_precisely(weighted: bool) -> None:
    members = 1_000_000
    random = np.random.default_rng(0)
    weights = random.random(members) + 0.5 if weighted else np.ones(members)
    matrix = sp.csr_array((weights, np.arange(members), [0, members]), shape=(1, members))
    values = torch.from_numpy(random.random((members, 2)).astype(np.float32))
    exact = torch.from_numpy(weights) @ values.double()
    found = Bags(matrix)(values)[0].double()
    assert ((found - exact).abs() / exact).max() < 2e-6


@given(st.lists(st.integers(0, 12), max_size=6), st.integers(2, 5))
def test_chunks_make_no_difference(sizes: list[int], chunk: int) -> None:
    random = np.random.default_rng(0)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    members = random.integers(0, 5, indptr[-1])
    matrix = sp.csr_array((random.random(indptr[-1]), members, indptr), shape=(len(sizes), 5))
    values = random.random((5, 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bags_module, "CHUNK", chunk)
        chunked = Bags(matrix)
    np.testing.assert_allclose(chunked(torch.from_numpy(values)).numpy(), matrix @ values)


def test_weights_keep_their_precision_after_use_in_single_precision() -> None:
    layer = EdgeLayer(2, [0], [1], [0.1])
    neighbourhood = stack([layer], 2)
    neighbourhood(torch.ones(2, 1))
    assert neighbourhood(torch.tensor([[0.0], [1.0]], dtype=torch.float64))[0, 0] == 0.1


def test_same_bits_twice() -> None:
    random = np.random.default_rng(0)
    layer = EdgeLayer(500, random.integers(0, 500, 9000), random.integers(0, 500, 9000))
    values = torch.randn(500, 8, generator=torch.Generator().manual_seed(0))
    first, second = stack([layer], 500), stack([layer], 500)
    assert torch.equal(first(values), second(values))


@pytest.mark.parametrize("name", LAYERS)
def test_moving_keeps_the_sum(name: str) -> None:
    neighbourhood = stack([LAYERS[name]], NODES)
    moved = neighbourhood.to(torch.device("cpu"))
    assert moved.rows == NODES
    np.testing.assert_array_equal(dense(moved, NODES), dense(neighbourhood, NODES))
    np.testing.assert_array_equal(
        dense(moved.transposed, NODES), dense(neighbourhood.transposed, NODES)
    )


def test_one_row_per_group() -> None:
    layers = [MembershipLayer.from_codes([0, 1, 0, -1]), MembershipLayer.from_codes([0, 0, 0, 0])]
    groups = GroupSum([layer.incidence() for layer in layers])
    assert (groups.rows, groups.outputs, groups.size) == (8, 6, 3)
    # the node in no group has one of its own; the second layer is padded with two empty groups
    assert groups.member_of.tolist() == [0, 1, 0, 2, 3, 3, 3, 3]
    matrix = dense(groups, 8)
    assert matrix[4:].sum() == 0
    np.testing.assert_array_equal(dense(groups.transposed, 6), matrix.T)
    np.testing.assert_array_equal(matrix.T @ matrix, dense(stack(layers, 4), 8))
    moved = groups.to(torch.device("cpu"))
    np.testing.assert_array_equal(dense(moved, 8), matrix)
    assert (moved.rows, moved.outputs, moved.size) == (8, 6, 3)
