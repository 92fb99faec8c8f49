"""Stability: shares of pairs that stay together, by the definition."""

from itertools import combinations

import numpy as np
import pytest
from tests.grouping.planted import planted

from gramme.grouping.layer_ties import ties_of
from gramme.grouping.layer_weights import TiedLayers
from gramme.grouping.stability import agreement, beyond_chance, repeated, together


def test_a_share_of_pairs_that_stay_together():
    random = np.random.default_rng(0)
    group = random.integers(3, size=12)
    others = [random.integers(4, size=12) for _ in range(3)]
    found = together(group, others)
    for node in range(12):
        mates = [one for one in range(12) if one != node and group[one] == group[node]]
        shares = [np.mean([other[one] == other[node] for one in mates]) for other in others]
        assert found[node] == pytest.approx(np.mean(shares))


def test_a_node_alone_is_stable_where_it_stays_alone():
    assert together(np.array([0, 1, 1]), [np.array([0, 1, 1])]).tolist() == [1, 1, 1]
    assert together(np.array([0, 1, 1]), [np.array([0, 0, 0])])[0] == 0


def test_agreement_of_equal_and_of_single_partitions():
    one = np.array([0, 0, 1, 1])
    assert agreement([one, 1 - one]) == 1.0
    assert agreement([one]) == 1.0


@pytest.mark.parametrize(
    ("quality", "chance", "expected"),
    [(0.5, [0.3, 0.31, 0.29], True), (0.31, [0.3, 0.31, 0.29], False), (0.305, [0.3, 0.3], False)],
)
def test_what_is_beyond_chance(quality, chance, expected):
    assert beyond_chance(quality, np.array(chance)) is expected


def test_repetitions_differ_only_where_data_are_resampled():
    graph, _ = planted(nodes=60, inside=0.5, noise=0)
    random = np.random.default_rng(0)
    ties = ties_of(graph, random)
    layers = TiedLayers.of(ties)
    seen = []

    def partition(given, weights, random):
        seen.append((given is layers, tuple(weights)))
        return given.partition(weights, random)

    runs = repeated(ties, layers, np.ones(2), partition, 7, random)
    assert (len(runs.by_seed), len(runs.resampled)) == (4, 3)
    assert seen[:4] == [(True, (1.0, 1.0))] * 4
    # ties, layers, ties
    assert [one[0] for one in seen[4:]] == [False, True, False]
    assert seen[5][1] != (1.0, 1.0)
    for one, other in combinations(runs.by_seed, 2):
        assert agreement([one, other]) == 1.0
