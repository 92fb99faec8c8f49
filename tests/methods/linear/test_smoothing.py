"""Smoothing of predictions: the formula, what is chosen where it helps and where it does not."""

import numpy as np
import pytest

from gramme import EdgeLayer, MultilayerGraph
from gramme.methods.labels import KnownLabels
from gramme.methods.linear.smoothing import ALPHAS, STEPS, Smoothing, chosen_smoothing, unsmoothed
from gramme.methods.propagation.series import NodeWalk

CODES = np.arange(240) % 3


def blocks(share: float, seed: int) -> EdgeLayer:
    """Edges of which so many join nodes of the same class."""
    random = np.random.default_rng(seed)
    source, target = random.integers(240, size=(2, 4000))
    same = CODES[source] == CODES[target]
    kept = np.where(same, True, random.random(4000) > share)
    return EdgeLayer(240, source[kept], target[kept])


def guesses(right: float, seed: int) -> np.ndarray:
    """Probabilities of a model that is right so often."""
    random = np.random.default_rng(seed)
    said = np.where(random.random(240) < right, CODES, random.integers(3, size=240))
    return 0.8 * np.eye(3)[said] + 0.2 / 3


def walk_of(graph: MultilayerGraph) -> NodeWalk:
    return NodeWalk(graph)


def chosen(graph: MultilayerGraph, right: float) -> Smoothing:
    known = KnownLabels(np.arange(60), CODES[:60], np.arange(3))
    fold = np.arange(60) // 12
    return chosen_smoothing(
        graph, walk_of(graph), known, fold, [guesses(right, seed) for seed in range(5)]
    )


def test_it_is_the_series_made_to_sum_to_one():
    graph = MultilayerGraph({"a": blocks(0.5, 0), "b": blocks(0.0, 1)})
    weights = np.array([0.7, 0.3])
    shares = guesses(0.6, 0)
    means = []
    for layer in graph.layers.values():
        matrix = layer.to_scipy().toarray() + np.eye(240)
        means.append(matrix / matrix.sum(axis=1, keepdims=True))
    step = 0.7 * means[0] + 0.3 * means[1]
    total = sum(0.6**k * np.linalg.matrix_power(step, k) @ shares for k in range(STEPS + 1))
    expected = (total / total.sum(axis=1, keepdims=True)) ** 2
    expected /= expected.sum(axis=1, keepdims=True)
    found = Smoothing(0.6, 2.0, weights).applied(walk_of(graph), shares)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_where_like_joins_like_neighbours_help():
    graph = MultilayerGraph({"friends": blocks(0.95, 0), "noise": blocks(0.0, 1)})
    found = chosen(graph, right=0.5)
    assert found.alpha > 0
    assert found.weights[0] > 0.9  # the noise is not listened to
    assert found.weights.sum() == pytest.approx(1)
    shares = guesses(0.5, 9)
    before, after = (
        (one.argmax(axis=1) == CODES).mean()
        for one in (shares, found.applied(walk_of(graph), shares))
    )
    assert after > before + 0.2


def test_where_edges_say_nothing_predictions_stay_as_they_are():
    graph = MultilayerGraph({"noise": blocks(0.0, 2)})
    found = chosen(graph, right=0.9)
    assert found.alpha <= min(ALPHAS)
    shares = guesses(0.9, 9)
    same = found.applied(walk_of(graph), shares).argmax(axis=1) == shares.argmax(axis=1)
    assert same.mean() > 0.97
    assert chosen(graph, right=1.0).alpha == 0  # nothing is left to gain
    assert unsmoothed(1).applied(walk_of(graph), shares) is shares


def test_with_one_label_a_class_there_is_nothing_to_choose_by():
    graph = MultilayerGraph({"friends": blocks(0.95, 0)})
    known = KnownLabels(np.arange(3), CODES[:3], np.arange(3))
    found = chosen_smoothing(
        graph, walk_of(graph), known, np.arange(3), [guesses(0.5, seed) for seed in range(3)]
    )
    assert found.alpha == unsmoothed(1).alpha == 0
