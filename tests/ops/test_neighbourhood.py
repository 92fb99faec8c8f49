import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.ops.cases import LAYERS, NODES, dense
from tests.strategies import layers

from gramme.graph import EdgeLayer, Layer, MembershipLayer
from gramme.ops import EdgeSum, stack


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


def test_same_bits_twice() -> None:
    random = np.random.default_rng(0)
    layer = EdgeLayer(500, random.integers(0, 500, 9000), random.integers(0, 500, 9000))
    values = torch.randn(500, 8, generator=torch.Generator().manual_seed(0))
    first, second = stack([layer], 500), stack([layer], 500)
    assert torch.equal(first(values), second(values))


@pytest.mark.parametrize("name", LAYERS)
def test_a_structure_moves_as_a_module_and_saves_nothing(name: str) -> None:
    neighbourhood = stack([LAYERS[name]], NODES)
    assert neighbourhood.state_dict() == {}
    assert list(neighbourhood.parameters()) == []
    assert neighbourhood.to("cpu") is neighbourhood
    moved = neighbourhood.to("meta")
    assert {tensor.device.type for tensor in moved.buffers()} == {"meta"}


def test_printed_form() -> None:
    edges = sp.csr_array(np.ones((3, 3)) - np.eye(3))
    assert repr(EdgeSum(edges, symmetric=True)) == "EdgeSum(3 rows)"
    some = EdgeSum(edges, symmetric=True, outputs=np.array([1]))
    assert repr(some) == "EdgeSum(3 rows, 1 outputs)"


def test_further_edges_without_the_rows_themselves() -> None:
    edges = sp.csr_array([[0.0, 2.0], [0.0, 0.0]])
    further = EdgeSum(edges, symmetric=False, hears_itself=False)
    np.testing.assert_array_equal(dense(further, 2), edges.toarray())
    np.testing.assert_array_equal(dense(further.transposed, 2), edges.toarray().T)


def test_the_range_of_scores() -> None:
    neighbourhood = stack([LAYERS["undirected"]], NODES)
    scores = torch.randn(NODES, 3, generator=torch.Generator().manual_seed(0))
    low, high = neighbourhood.range_of(scores)
    assert torch.equal(low, scores.min(0).values)
    assert torch.equal(high, scores.max(0).values)
    low, high = neighbourhood.range_of(torch.zeros(0, 2))
    assert low.tolist() == high.tolist() == [0.0, 0.0]
