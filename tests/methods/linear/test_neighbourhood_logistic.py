"""Logistic regression on neighbourhood means: what it sees, with and without edges, and what it refuses."""

import numpy as np
import pytest
from tests.methods.graphs import half_known, planted

from gramme import DataError, EdgeLayer, MultilayerGraph
from gramme.methods.linear.neighbourhood_logistic import NeighbourhoodLogistic, _surroundings

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
    alone = NeighbourhoodLogistic(random_state=0).fit(
        graph.replace(layers={"friends": EdgeLayer(300, [], [])}), known
    )
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
