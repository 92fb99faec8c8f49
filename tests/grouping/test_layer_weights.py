"""Layer weights that are learned without labels: noise counts nothing, and no column explains itself."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from tests.grouping.planted import planted

from gramme.graph import MembershipLayer, MultilayerGraph
from gramme.grouping.layer_ties import ties_of
from gramme.grouping.layer_weights import TiedLayers, description_length, learn_weights, log_odds


def tied(graph, seed=0) -> TiedLayers:
    return TiedLayers.of(ties_of(graph, np.random.default_rng(seed)))


def test_layers_of_noise_count_next_to_nothing():
    graph, group = planted(nodes=200, inside=0.12, layers=2, noise=4)
    learned = learn_weights(tied(graph), np.random.default_rng(0))
    assert learned.weights[:2].min() > 10 * learned.weights[2:].max()
    assert adjusted_rand_score(group, learned.group) > 0.9


def test_a_noisy_column_counts_less_than_columns_that_agree():
    random = np.random.default_rng(0)
    group = random.integers(3, size=300)
    columns = {
        f"column {place}": MembershipLayer.from_codes(
            np.where(random.random(300) < 0.8, group, random.integers(3, size=300))
        )
        for place in range(4)
    }
    columns["noise"] = MembershipLayer.from_codes(random.integers(3, size=300))
    learned = learn_weights(tied(MultilayerGraph(columns)), random)
    assert learned.weights[4] < 0.2 * learned.weights[:4].min()


def test_quality_and_pull_are_what_their_definitions_say():
    graph, group = planted(nodes=30)
    layers, weights = tied(graph), np.array([1.0, 0.5, 2.0])
    total = expected = 0.0
    for place, matrix in enumerate(layers.matrices):
        dense, strength = matrix.toarray(), layers.strengths[:, place]
        same = group[:, None] == group[None]
        null = np.outer(strength, strength) / strength.sum()
        total += weights[place] * (dense - null)[same].sum()
        expected += weights[place] * strength.sum()
        pull = layers.pull(group, place)
        others = same.copy()
        np.fill_diagonal(others, False)
        assert pull[np.arange(30), group] == pytest.approx(((dense - null) * others).sum(axis=1))
    assert layers.quality(group, weights) == pytest.approx(total / expected)


def test_a_division_that_ties_do_not_follow_costs_more_than_none():
    graph, group = planted(nodes=60)
    layers = tied(graph)
    totals = layers.strengths.sum(axis=0)
    shuffled = np.random.default_rng(0).permutation(group)
    good, bad, none = (
        description_length(one, *layers.inside(one), totals) for one in (group, shuffled, np.zeros(60, dtype=np.int64))
    )
    assert good < none < bad


def test_an_empty_layer_weighs_nothing():
    assert log_odds(np.zeros(1), np.zeros(1), np.zeros(1)).tolist() == [0.0]
