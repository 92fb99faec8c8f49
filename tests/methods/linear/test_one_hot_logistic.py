"""Logistic regression on groups."""

from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from tests.methods.cases import MethodCase
from tests.methods.splits import mean_accuracy

import gramme
from gramme import DataError, EdgeLayer, MembershipLayer, MultilayerGraph, datasets
from gramme.methods import OneHotLogistic
from gramme.methods.linear import one_hot_logistic
from gramme.methods.linear import one_hot_logistic as layer_penalties
from gramme.methods.linear.one_hot_logistic import learned_scales


def one_hot(codes) -> sp.csr_array:
    codes = np.asarray(codes)
    return sp.csr_array(np.eye(codes.max() + 1)[codes])


def drawn(layers: int, rows: int, groups: int = 4, classes: int = 2, seed: int = 0):
    """Layers of random groups, and classes that the first of them decides but for one in ten."""
    rng = np.random.default_rng(seed)
    groups_of = rng.integers(groups, size=(layers, rows))
    codes = np.where(rng.random(rows) < 0.9, groups_of[0] % classes, rng.integers(classes, size=rows))
    return [one_hot(one) for one in groups_of], codes


@pytest.mark.parametrize("classes", [2, 3])
def test_the_layer_that_tells_stands_out(classes):
    layers, codes = drawn(8, 60, groups=6, classes=classes)
    scales = learned_scales(layers, codes, 0, 200)
    assert scales[0] > 1.3 * scales[1:].max()


def test_layers_that_tell_alike_stay_nearly_alike():
    rng = np.random.default_rng(0)
    groups = rng.integers(5, size=(4, 200))
    codes = (groups.sum(axis=0) > 8).astype(int)
    scales = learned_scales([one_hot(one) for one in groups], codes, 0, 200)
    assert scales.max() < 1.5 * scales.min()


@pytest.mark.parametrize(("rows", "groups"), [(40, 3), (20, 15)])  # more rows than columns, and fewer
@pytest.mark.parametrize("classes", [2, 3])
def test_what_is_left_of_the_variance_is_that_of_the_coefficients(monkeypatch, rows, groups, classes):
    layers, _ = drawn(2, rows, groups)
    rng = np.random.default_rng(1)
    chances = rng.dirichlet(np.ones(classes), size=rows)
    variances = np.array([0.5, 3.0])
    counts = np.array([layer.shape[1] for layer in layers])
    table = layer_penalties.scaled_columns(layers, np.sqrt(variances))
    monkeypatch.setattr(layer_penalties, "CHUNK_COLUMNS", 4)
    left, directions = layer_penalties._posterior(table, counts, chances)
    assert directions == (1 if classes == 2 else 3)
    # the long way: the inverse of the second derivatives by the coefficients and an intercept without penalty
    whole = np.column_stack([table.toarray(), np.ones(rows)])
    expected = np.zeros(2)
    for number in range(directions):
        curvature = chances[:, number] * (1 - chances[:, number])
        penalty = np.diag([1.0] * counts.sum() + [0.0])
        inverse = np.linalg.inv(penalty + whole.T @ (curvature[:, None] * whole))
        one = np.diag(inverse)[:-1]
        expected += [one[: counts[0]].sum(), one[counts[0] :].sum()]
    np.testing.assert_allclose(left, expected, rtol=1e-8)


def test_nothing_to_learn_from():
    some = one_hot([0, 1, 0, 1])
    empty = sp.csr_array((4, 0))
    assert learned_scales([some, some], np.zeros(4, int), 0, 50).tolist() == [1, 1]
    assert learned_scales([empty], np.array([0, 1, 0, 1]), 0, 50).tolist() == [1]
    scales = learned_scales([some, empty], np.array([0, 1, 0, 1]), 0, 50)
    assert np.isfinite(scales).all()


@pytest.mark.parametrize("weight", [1e-200, 1e-9, 1e9, 1e14, 1e200])
def test_the_unit_of_the_weights_does_not_matter(weight):
    layers, codes = drawn(3, 40)
    expected = learned_scales(layers, codes, 0, 100)
    found = learned_scales([layers[0] * weight, *layers[1:]], codes, 0, 100)
    np.testing.assert_allclose(found * [weight, 1, 1], expected, rtol=1e-6)


def test_a_class_that_nobody_has_changes_nothing():
    layers, codes = drawn(4, 60, classes=3)
    some = codes != 1
    layers = [sp.csr_array(layer[some]) for layer in layers]
    without = np.where(codes[some] == 2, 1, 0)
    np.testing.assert_array_equal(learned_scales(layers, codes[some], 0, 100), learned_scales(layers, without, 0, 100))


def test_many_labels_are_sampled(monkeypatch):
    layers, codes = drawn(3, 400)
    monkeypatch.setattr(layer_penalties, "MAX_LABELS", 100)
    first = learned_scales(layers, codes, 5, 100)
    assert first[0] > first[1:].max()
    np.testing.assert_array_equal(first, learned_scales(layers, codes, 5, 100))
    assert (first != learned_scales(layers, codes, 6, 100)).any()


class TestOneHotLogistic(MethodCase):
    name = "one-hot-logistic"
    inductive = True
    quality = 0.6


class TestWithAPenaltyPerLayer(MethodCase):
    name = "one-hot-logistic"
    arguments: ClassVar = {"weigh_layers": True}
    inductive = True
    quality = 0.6


def table(codes: list[int], names: list[str]) -> MultilayerGraph:
    return MultilayerGraph({"colour": MembershipLayer.from_codes(codes, names)})


def test_groups_are_known_by_their_names():
    model = OneHotLogistic(C=10.0).fit(table([0, 0, 1, 1, 0, 1], ["red", "blue"]), ["x", "x", "y", "y", None, None])
    other = table([0, 1, 2], ["blue", "green", "red"])
    assert model.predict(other)[[0, 2]].tolist() == ["y", "x"]
    np.testing.assert_allclose(model.predict_proba(other)[1], [0.5, 0.5], atol=1e-6)


def test_a_layer_must_stay_of_its_kind():
    model = OneHotLogistic().fit(table([0, 1, 1], ["red", "blue"]), ["x", "y", None])
    with pytest.raises(DataError, match=r"'colour' has edges here; .* fitted on one with groups"):
        model.predict(MultilayerGraph({"colour": EdgeLayer(2, [0], [1])}))


def test_features_join_and_must_be_there():
    features = np.array([[0.0], [0.1], [5.0], [5.1], [0.05], [5.05]])
    graph = table([0] * 6, ["same"]).replace(features=features)
    y = ["x", "x", "y", "y", None, None]
    model = OneHotLogistic().fit(graph, y)
    assert model.predict().tolist() == ["x", "x", "y", "y", "x", "y"]
    assert len(set(OneHotLogistic(use_features=False).fit(graph, y).predict())) == 1
    with pytest.raises(DataError, match="needs 1 features"):
        model.predict(table([0, 0], ["same"]))


def test_importance_finds_the_layers_that_tell():
    graph = datasets.load("synthetic_table", nodes=600, signal=[0.9, 0.0, 0.6], random_state=1)
    assert graph.labels is not None
    importance = OneHotLogistic(random_state=0).fit(graph).layer_importance_
    assert importance.index.tolist() == list(graph.layers)
    assert importance.sum() == pytest.approx(1)
    assert importance.iloc[0] > importance.iloc[2] > importance.iloc[1]


def test_a_penalty_per_layer_finds_the_one_layer_of_many():
    def accuracy(**settings) -> float:
        found = []
        for seed in range(10):
            graph = datasets.load("synthetic_table", nodes=300, signal=[0.9] + [0.0] * 15, random_state=seed)
            assert graph.labels is not None
            y = graph.labels.copy()
            y[30:] = None
            model = OneHotLogistic(random_state=0, **settings).fit(graph, y)
            found.append((model.predict() == graph.labels)[30:].mean())
        return float(np.mean(found))

    assert accuracy(weigh_layers=True) > accuracy() + 0.02


@pytest.mark.parametrize(("many", "learned"), [(10, 0), (1_000, 1)])
def test_a_copy_takes_over_the_penalties_where_labels_are_many(monkeypatch, many, learned):
    graph = datasets.load("synthetic_table", nodes=60, random_state=0)
    monkeypatch.setattr(one_hot_logistic, "ENOUGH_LABELS", many)
    model = OneHotLogistic(weigh_layers=True, random_state=0).fit(graph)
    calls = []

    def counted(*arguments):
        calls.append(1)
        return learned_scales(*arguments)

    monkeypatch.setattr(one_hot_logistic, "learned_scales", counted)
    copy = model._fit_copy(graph)
    assert len(calls) == learned
    np.testing.assert_allclose(copy.probabilities_, model.probabilities_, rtol=1e-6)


@pytest.mark.parametrize("wrong", [{"C": 0}, {"C": "much"}, {"max_iter": 0}, {"use_features": 3}, {"weigh_layers": 2}])
def test_wrong_settings_are_a_clear_error(wrong):
    graph = datasets.load("wine")
    with pytest.raises(DataError, match=next(iter(wrong))):
        OneHotLogistic(**wrong).fit(graph)


def test_balance_scale():
    graph = datasets.load("balance_scale")
    assert mean_accuracy(OneHotLogistic, graph, 10) > 0.82
    assert mean_accuracy(OneHotLogistic, graph, 30) > 0.88


def test_congress_votes(gramme_data: Path):
    assert mean_accuracy(OneHotLogistic, gramme.datasets.load("congress_votes"), 10) > 0.92


def test_a_graph_without_edges_has_the_class_frequencies_to_offer():
    graph = MultilayerGraph({"friends": EdgeLayer(5, [], [])})
    model = OneHotLogistic(random_state=0).fit(graph, {0: "a", 1: "a", 2: "b"})
    np.testing.assert_allclose(model.predict_proba(), [[2 / 3, 1 / 3]] * 5, rtol=1e-6)


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        (["groups"], "who belongs to which group"),
        (["edges"], "each node's neighbours"),
        (["edges", "groups"], "each node's groups and neighbours"),
        (["edges", "features"], "each node's neighbours and features"),
        (["edges", "groups", "features"], "each node's groups, neighbours and features"),
        ([], "how frequent the classes are"),
    ],
)
def test_groups_are_named_only_where_there_are_some(monkeypatch, kinds, words):
    monkeypatch.setattr(OneHotLogistic, "kinds_of_columns", kinds)
    assert OneHotLogistic().columns_in_words() == words
