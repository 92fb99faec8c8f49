"""Logistic regression on where walks lead: few labels, other graphs, copies that share the eigenvectors."""

import numpy as np
import pytest
from tests.methods.graphs import half_known, planted

from gramme import DataError, EdgeLayer, MultilayerGraph, datasets
from gramme.methods.linear import logistic, spectral_logistic
from gramme.methods.linear.spectral_logistic import SpectralLogistic

GRAPH = planted()
Y = half_known(GRAPH)


def test_one_label_per_class_is_enough_where_the_network_falls_apart():
    random = np.random.default_rng(0)
    codes = np.arange(200) % 2
    source, target = random.integers(200, size=(2, 2000))
    keep = (codes[source] == codes[target]) | (random.random(2000) < 0.05)
    graph = MultilayerGraph({"friends": EdgeLayer(200, source[keep], target[keep])})
    y = np.full(200, None, dtype=object)
    y[:2] = ["even", "odd"]
    model = SpectralLogistic(random_state=0).fit(graph, y)
    assert (model.predict() == np.array(["even", "odd"])[codes]).mean() > 0.97


def test_another_graph_with_the_same_nodes_is_the_same():
    model = SpectralLogistic(random_state=0).fit(GRAPH, Y)
    same = model.predict_proba(GRAPH.replace(labels=None))
    assert same.tobytes() == model.probabilities_.tobytes()
    assert model.layer_importance_.sum() == pytest.approx(1)
    assert list(model.layer_importance_.index) == ["friends", "room"]


def test_a_layer_that_tells_nothing_matters_less():
    graph = datasets.load("synthetic_table", nodes=400, signal=[0.95, 0.0], random_state=0)
    model = SpectralLogistic(random_state=0).fit(graph, half_known(graph, every=3))
    assert model.layer_importance_.iloc[0] > 2 * model.layer_importance_.iloc[1]


def test_nodes_that_no_walk_reaches_get_what_the_intercept_says():
    graph = MultilayerGraph({"friends": EdgeLayer(6, [0, 1], [1, 2])})
    model = SpectralLogistic(random_state=0).fit(graph, {0: "a", 2: "a", 3: "b"})
    np.testing.assert_array_equal(model.predict_proba()[4], model.predict_proba()[5])
    np.testing.assert_allclose(model.predict_proba().sum(1), 1, rtol=1e-5)


def test_copies_compute_eigenvectors_again_only_where_their_labels_could_change_them(monkeypatch):
    fewer = Y.copy()
    fewer[np.flatnonzero(Y != None)[0]] = None  # noqa: E711
    one_layer = GRAPH.replace(layers={"friends": GRAPH.layers["friends"]})
    for graph, many in ((one_layer, 1_000), (GRAPH, 10)):
        monkeypatch.setattr(spectral_logistic, "ENOUGH_LABELS", many)
        model = SpectralLogistic(random_state=0).fit(graph, Y)
        with monkeypatch.context() as patched:
            patched.delattr(spectral_logistic.WalkProfile, "of")
            model._fit_copy(graph, fewer)
            with pytest.raises(AttributeError):
                model._fit_copy(planted(seed=2), fewer)  # another graph needs its own
    monkeypatch.setattr(spectral_logistic, "ENOUGH_LABELS", 1_000)
    expected = SpectralLogistic(random_state=0).fit(GRAPH, fewer).predict_proba()
    assert model._fit_copy(GRAPH, fewer).predict_proba().tobytes() == expected.tobytes()


def test_layers_of_noise_cost_little():
    random = np.random.default_rng(0)
    codes = np.arange(200) % 4
    source, target = random.integers(200, size=(2, 6_000))
    some = (source != target) & ((codes[source] == codes[target]) | (random.random(6_000) < 0.1))
    layers = {"told": EdgeLayer(200, source[some], target[some])}
    for number in range(3):
        layers[f"noise {number}"] = EdgeLayer(200, *random.integers(200, size=(2, 2_000)))
    y = {node: str(codes[node]) for node in range(12)}
    alone = SpectralLogistic(random_state=0).fit(MultilayerGraph({"told": layers["told"]}), y)
    model = SpectralLogistic(random_state=0).fit(MultilayerGraph(layers), y)
    right = [(one.predict() == codes.astype(str)).mean() for one in (alone, model)]
    assert right[1] > right[0] - 0.03 > 0.9
    assert model.layer_importance_["told"] > 0.8
    restored = SpectralLogistic._restored(model.get_params(), model._learned())
    np.testing.assert_allclose(restored.predict_proba(MultilayerGraph(layers)), model.predict_proba(), atol=1e-5)


def test_a_copy_takes_over_the_penalty_only_where_labels_are_many(monkeypatch):
    model = SpectralLogistic(random_state=0).fit(GRAPH, Y)
    asked = []

    def chosen(*arguments):
        asked.append(1)
        return 1.0

    monkeypatch.setattr(logistic, "chosen_strength", chosen)
    assert model._fit_copy(GRAPH, Y).C_ == 1
    assert asked
    asked.clear()
    monkeypatch.setattr(spectral_logistic, "ENOUGH_LABELS", 10)
    assert model._fit_copy(GRAPH, Y).C_ == model.C_
    assert not asked


def test_scores_do_not_depend_on_the_chunks(monkeypatch):
    whole = SpectralLogistic(random_state=0).fit(GRAPH, Y).predict_proba()
    monkeypatch.setattr(spectral_logistic, "CHUNK_NODES", 7)
    parts = SpectralLogistic(random_state=0).fit(GRAPH, Y).predict_proba()
    np.testing.assert_allclose(parts, whole, rtol=1e-5)


@pytest.mark.parametrize(("name", "value"), [("dim", 0), ("dim", 1.5), ("C", 0), ("C", "x")])
def test_settings_are_checked(name, value):
    with pytest.raises(DataError, match=name):
        SpectralLogistic(**{name: value}).fit(GRAPH, Y)
