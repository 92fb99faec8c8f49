"""Leiden's algorithm against all partitions of small graphs, and what it promises about its groups."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from gramme.ops.leiden import by_size, leiden


def quality(weights, rows, group) -> float:
    """The definition, pair by pair."""
    total = 0.0
    for one in range(len(group)):
        for other in range(len(group)):
            if one != other and group[one] == group[other]:
                total += weights[one, other] - rows[one] @ rows[other]
    return total


def partitions(count: int):
    """All ways to divide nodes, as restricted growth strings."""

    def extend(start: list[int]):
        if len(start) == count:
            yield np.array(start)
            return
        for label in range(max(start) + 2):
            yield from extend([*start, label])

    yield from extend([0])


def random_case(seed: int, count: int, columns: int = 2):
    random = np.random.default_rng(seed)
    weights = np.triu(random.random((count, count)) * (random.random((count, count)) < 0.5), 1)
    weights = weights + weights.T
    strengths = weights.sum(axis=1)
    shares = random.dirichlet(np.ones(columns), size=count)
    rows = np.sqrt(shares) * (strengths / np.sqrt(max(strengths.sum(), 1e-9)))[:, None]
    return weights, rows


@pytest.mark.parametrize("seed", range(8))
def test_no_partition_of_a_small_graph_is_better(seed):
    weights, rows = random_case(seed, 7)
    best = max(quality(weights, rows, one) for one in partitions(7))
    found = max(
        quality(weights, rows, leiden(sp.csr_array(weights), rows, np.random.default_rng(one))) for one in range(5)
    )
    assert found == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_groups_are_connected_and_no_single_move_gains(seed):
    weights, rows = random_case(seed, 40)
    weights[weights < 0.6] = 0
    group = leiden(sp.csr_array(weights), rows, np.random.default_rng(seed), rounds=4)
    now = quality(weights, rows, group)
    for label in range(group.max() + 1):
        inside = np.flatnonzero(group == label)
        assert connected_components(sp.csr_array(weights[np.ix_(inside, inside)]))[0] == 1
    for node in range(40):
        for label in range(group.max() + 2):
            moved = group.copy()
            moved[node] = label
            assert quality(weights, rows, moved) <= now + 1e-9


def test_without_ties_every_node_stays_alone():
    group = leiden(sp.csr_array((4, 4)), np.zeros((4, 1)), np.random.default_rng(0))
    assert sorted(group) == [0, 1, 2, 3]


def test_one_node():
    assert leiden(sp.csr_array((1, 1)), np.zeros((1, 1)), np.random.default_rng(0)).tolist() == [0]


def test_the_start_is_kept_where_it_is_best():
    weights, rows = random_case(1, 7)
    first = leiden(sp.csr_array(weights), rows, np.random.default_rng(0))
    again = leiden(sp.csr_array(weights), rows, np.random.default_rng(9), start=first)
    assert quality(weights, rows, again) >= quality(weights, rows, first) - 1e-12


def test_groups_are_numbered_by_size():
    assert by_size(np.array([7, 3, 3, 5, 5, 5])).tolist() == [2, 1, 1, 0, 0, 0]
