"""Logistic regression on groups."""

from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from tests.methods.cases import MethodCase
from tests.methods.splits import mean_accuracy

import gramme
from gramme import DataError, EdgeLayer, MembershipLayer, MultilayerGraph, datasets
from gramme.methods import OneHotLogistic
from gramme.methods.linear import one_hot_logistic
from gramme.methods.linear.layer_penalties import learned_scales


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
    model = OneHotLogistic(C=10.0).fit(
        table([0, 0, 1, 1, 0, 1], ["red", "blue"]), ["x", "x", "y", "y", None, None]
    )
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
            graph = datasets.load(
                "synthetic_table", nodes=300, signal=[0.9] + [0.0] * 15, random_state=seed
            )
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
    monkeypatch.setattr(one_hot_logistic, "MANY_LABELS", many)
    model = OneHotLogistic(weigh_layers=True, random_state=0).fit(graph)
    calls = []

    def counted(*arguments):
        calls.append(1)
        return learned_scales(*arguments)

    monkeypatch.setattr(one_hot_logistic, "learned_scales", counted)
    copy = model.fit_copy(graph)
    assert len(calls) == learned
    np.testing.assert_allclose(copy.probabilities_, model.probabilities_, rtol=1e-6)


@pytest.mark.parametrize(
    "wrong", [{"C": 0}, {"C": "much"}, {"max_iter": 0}, {"use_features": 3}, {"weigh_layers": 2}]
)
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
