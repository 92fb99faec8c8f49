"""Logistic regression on neighbourhood means: what it sees, with and without edges, and what it refuses."""

import numpy as np
import pytest
from tests.methods.graphs import half_known, planted

from gramme import DataError, EdgeLayer, MultilayerGraph
from gramme.methods.labels import KnownLabels
from gramme.methods.linear.neighbourhood_logistic import (
    ALPHAS,
    STEPS,
    NeighbourhoodLogistic,
    Smoothing,
    _surroundings,
    chosen_smoothing,
    unsmoothed,
)
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
    return chosen_smoothing(graph, walk_of(graph), known, fold, [guesses(right, seed) for seed in range(5)])


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
    before, after = ((one.argmax(axis=1) == CODES).mean() for one in (shares, found.applied(walk_of(graph), shares)))
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
    found = chosen_smoothing(graph, walk_of(graph), known, np.arange(3), [guesses(0.5, seed) for seed in range(3)])
    assert found.alpha == unsmoothed(1).alpha == 0


GRAPH = planted(features=np.random.default_rng(0).normal(size=(36, 5)))
Y = half_known(GRAPH)


def test_blocks_are_means_over_a_node_and_its_neighbours():
    features = np.array([[3.0, 4.0], [1.0, 0.0], [0.0, 2.0]])
    graph = MultilayerGraph({"road": EdgeLayer(3, [0], [1])}, features=features)
    own = np.array([[0.6, 0.8], [1, 0], [0, 1]])
    pair = (own[0] + own[1]) / 2
    unit = pair / np.linalg.norm(pair)
    expected = np.hstack([own, [unit, unit, own[2]], [unit, unit, own[2]]]) / np.sqrt(3)
    np.testing.assert_allclose(_surroundings(graph).table, expected, rtol=1e-6)


def test_neighbours_tell_what_a_noisy_node_does_not():
    random = np.random.default_rng(1)
    codes = np.arange(300) % 3
    source, target = random.integers(300, size=(2, 6000))
    same = codes[source] == codes[target]
    layer = EdgeLayer(300, source[same], target[same])
    features = np.eye(3)[codes] + random.normal(scale=1.5, size=(300, 3))
    y = np.array(list("abc"), dtype=object)[codes]
    known = y.copy()
    known[random.permutation(300)[60:]] = None
    hidden = known == None  # noqa: E711
    graph = MultilayerGraph({"friends": layer}, features=features)
    near = NeighbourhoodLogistic(random_state=0).fit(graph, known)
    alone = NeighbourhoodLogistic(random_state=0).fit(graph.replace(layers={"friends": EdgeLayer(300, [], [])}), known)
    accuracy = [(model.predict() == y)[hidden].mean() for model in (near, alone)]
    assert accuracy[0] > 0.95 > accuracy[1] + 0.2


def test_it_predicts_for_other_graphs_with_as_many_features():
    model = NeighbourhoodLogistic(random_state=0).fit(GRAPH, Y)
    same = model.predict_proba(GRAPH.replace(labels=None))
    assert same.tobytes() == model.probabilities_.tobytes()
    with pytest.raises(DataError, match="needs 5 features per node; the graph has 2"):
        model.predict(planted(features=np.ones((36, 2))))
    assert model.layer_importance_.sum() == pytest.approx(1)


def test_without_features_there_is_nothing_to_see():
    with pytest.raises(DataError, match="no features"):
        NeighbourhoodLogistic().fit(planted(), Y)


def test_a_class_with_one_label_and_constant_features():
    graph = planted(features=np.ones((36, 2)))
    model = NeighbourhoodLogistic(random_state=0).fit(graph, {"n0": "a", "n1": "b", "n2": "b"})
    assert np.isfinite(model.probabilities_).all()
    np.testing.assert_allclose(model.probabilities_.sum(axis=1), 1, rtol=1e-5)
