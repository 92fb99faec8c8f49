import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.ops.cases import LAYERS, NODES, agree, dense
from tests.strategies import layers

from gramme.graph import EdgeLayer, Layer, MembershipLayer
from gramme.ops import EdgeSum, GroupSum, MembershipSum, SparseRowSum, stack
from gramme.ops import neighbourhood as bags_module
from gramme.ops import neighbourhood as memberships
from gramme.ops.neighbourhood import MAX_OWN_SHARE


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
    further = EdgeSum(edges, symmetric=False, include_self=False)
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


@pytest.mark.parametrize("weighted", [False, True])
def test_a_large_group_is_summed_precisely(weighted: bool) -> None:
    members = 1_000_000
    random = np.random.default_rng(0)
    weights = random.random(members) + 0.5 if weighted else np.ones(members)
    matrix = sp.csr_array((weights, np.arange(members), [0, members]), shape=(1, members))
    values = torch.from_numpy(random.random((members, 2)).astype(np.float32))
    exact = torch.from_numpy(weights) @ values.double()
    found = SparseRowSum(matrix)(values)[0].double()
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
        chunked = SparseRowSum(matrix)
    np.testing.assert_allclose(chunked(torch.from_numpy(values)).numpy(), matrix @ values)


def test_weights_keep_their_precision_after_use_in_single_precision() -> None:
    bags = SparseRowSum(sp.csr_array([[0.1, 0.0], [0.0, 1.0]]))
    assert bags(torch.ones(2, 1)).dtype == torch.float32
    assert bags(torch.ones(2, 1, dtype=torch.float64))[0, 0] == 0.1


def test_no_members() -> None:
    assert SparseRowSum(sp.csr_array((3, 2)))(torch.ones(2, 4)).tolist() == [[0.0] * 4] * 3


def test_tensors_move_with_the_module_and_are_not_saved() -> None:
    bags = SparseRowSum(sp.csr_array([[0.5, 2.0]]))
    assert bags.state_dict() == {}
    bags(torch.ones(2, 1))  # makes the weights in single precision
    moved = bags.to("meta")
    assert {tensor.device.type for tensor in moved.buffers()} == {"meta"}


@pytest.mark.parametrize("columns", [1, 3])
def test_doubles_without_weights_are_summed_as_torch_does(columns: int) -> None:
    random = np.random.default_rng(0)
    matrix = sp.csr_array(sp.random_array((7, 5), density=0.5, random_state=random, format="csr"))
    matrix.data[:] = 1.0
    bags = SparseRowSum(matrix)
    values = torch.from_numpy(random.random((5, columns)))
    through_torch = bags(values.clone().requires_grad_())
    assert through_torch.requires_grad
    assert torch.equal(bags(values), through_torch.detach())
    assert torch.equal(bags(values.T.contiguous().T), through_torch.detach())


def weighted_incidence(nodes: int, groups: int, seed: int, low: float = 0.1, high: float = 3.0) -> sp.csr_array:
    """Some memberships with weights; the last node is in no group."""
    random = np.random.default_rng(seed)
    weights = random.uniform(low, high, (nodes, groups)) * (random.random((nodes, groups)) < 0.4)
    weights[-1] = 0
    return sp.csr_array(weights)


def explicit(incidence: sp.csr_array) -> sp.csr_array:
    """The edges that memberships imply: sum over g of w_ig w_jg, no diagonal."""
    joined = (incidence @ incidence.T).toarray()
    np.fill_diagonal(joined, 0)
    return sp.csr_array(joined)


@given(st.integers(1, 9), st.integers(0, 5), st.integers(0, 99))
def test_weighted_memberships_are_the_explicit_edges(nodes: int, groups: int, seed: int) -> None:
    incidence = weighted_incidence(nodes, groups, seed)
    found = MembershipSum(incidence)
    wanted = explicit(incidence).toarray() + np.eye(nodes)
    np.testing.assert_allclose(dense(found, nodes), wanted, atol=1e-12)
    np.testing.assert_allclose(dense(found.transposed, nodes), wanted.T, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 50.0, 1e3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_attention_over_weighted_memberships_in_values_and_gradients(scale: float, dtype: torch.dtype) -> None:
    incidence = weighted_incidence(14, 5, 0)
    tolerance = 1e-11 if dtype == torch.float64 else 5e-5
    agree(MembershipSum(incidence), explicit(incidence), scale=scale, dtype=dtype, tolerance=tolerance)


def test_one_group_each_with_weights() -> None:
    incidence = sp.csr_array([[2.0, 0.0], [0.5, 0.0], [0.0, 1.0], [0.0, 3.0]])
    wanted = explicit(incidence).toarray() + np.eye(4)
    np.testing.assert_allclose(dense(MembershipSum(incidence), 4), wanted, atol=1e-15)


def test_a_dominant_member_costs_no_precision() -> None:
    # node 0 weighs 10,000 times as much as the others: its own term is 1e8 and must go again
    incidence = sp.csr_array([[1e4], [1.0], [1e-4]])
    found = MembershipSum(incidence)
    assert found.in_double
    values = torch.tensor([[1.0], [2.0], [3.0]])
    wanted = (explicit(incidence).toarray() + np.eye(3)) @ values.double().numpy()
    np.testing.assert_allclose(found(values).numpy(), wanted, rtol=1e-6)
    assert found(values).dtype == torch.float32
    assert not MembershipSum(sp.csr_array([[2.0], [1.0]])).in_double
    assert MAX_OWN_SHARE < 1e8


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("kind", ["weighted", "several", "one each"])
def test_some_rows_alone(kind: str, many: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memberships, "MANY_MEMBERSHIPS", 0 if many else 10**9)
    incidence = weighted_incidence(11, 4, 3)
    if kind == "several":
        incidence.data[:] = 1
    if kind == "one each":
        incidence = MembershipLayer.from_codes([0, 1, 1, -1, 0, 2, 2, 1, 0, 0, -1]).incidence()
    rows = np.array([7, 0, 3])
    whole = dense(MembershipSum(incidence), 11)
    some = MembershipSum(incidence, rows)
    assert (some.rows, some.outputs) == (11, 3)
    assert some.supports_subset == many
    if many:  # groups that nobody asks for are left out
        filled = memberships.with_own_groups(incidence)
        assert some.groups.bags == np.unique(filled[rows].indices).size < filled.shape[1]
    np.testing.assert_allclose(dense(some, 11), whole[rows], atol=1e-12)
    np.testing.assert_allclose(dense(some.transposed, 3), whole[rows].T, atol=1e-12)


def test_memberships_cost_no_edges() -> None:
    nodes = 300_000
    neighbourhood = stack([MembershipLayer.from_codes(np.zeros(nodes, dtype=int))], nodes)
    assert isinstance(neighbourhood, MembershipSum)
    assert not neighbourhood.supports_subset
    assert torch.equal(neighbourhood(torch.ones(nodes, 1)), torch.full((nodes, 1), float(nodes)))


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


@pytest.mark.parametrize("incidence", [[[0.5], [1.0]], [[1.0, 1.0], [0.0, 1.0]]])
def test_a_group_stands_only_for_plain_and_single_memberships(incidence: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="memberships are 1 and single"):
        GroupSum([sp.csr_array(incidence)])
