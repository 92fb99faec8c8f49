"""Sums over shared groups equal those over the explicit edges, weighted or not, whole or for some rows."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.ops.cases import agree, dense

from gramme.graph import MembershipLayer
from gramme.ops import GroupSum, MembershipSum, memberships, stack
from gramme.ops.memberships import MAX_OWN_SHARE


def weighted_incidence(
    nodes: int, groups: int, seed: int, low: float = 0.1, high: float = 3.0
) -> sp.csr_array:
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
def test_attention_over_weighted_memberships_in_values_and_gradients(
    scale: float, dtype: torch.dtype
) -> None:
    incidence = weighted_incidence(14, 5, 0)
    tolerance = 1e-11 if dtype == torch.float64 else 5e-5
    agree(
        MembershipSum(incidence),
        explicit(incidence),
        scale=scale,
        dtype=dtype,
        tolerance=tolerance,
    )


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
    assert some.cheaper_in_part == many
    if many:  # groups that nobody asks for are left out
        filled = memberships.with_own_groups(incidence)
        assert some.groups.bags == np.unique(filled[rows].indices).size < filled.shape[1]
    np.testing.assert_allclose(dense(some, 11), whole[rows], atol=1e-12)
    np.testing.assert_allclose(dense(some.transposed, 3), whole[rows].T, atol=1e-12)


def test_memberships_cost_no_edges() -> None:
    nodes = 300_000
    neighbourhood = stack([MembershipLayer.from_codes(np.zeros(nodes, dtype=int))], nodes)
    assert isinstance(neighbourhood, MembershipSum)
    assert not neighbourhood.cheaper_in_part
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
