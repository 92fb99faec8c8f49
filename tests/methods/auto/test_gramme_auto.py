"""GrammeAuto: the mixture's weights, what it says about itself, few labels, noise, interrupts."""

import itertools

import numpy as np
import pandas as pd
import pytest
from tests.methods.cases import MethodCase
from tests.methods.graphs import half_known, planted

import gramme
from gramme import DataError, GrammeAuto, GrammeWarning, MembershipLayer, datasets
from gramme.methods import GrammeFusion
from gramme.training import loop

FAST = {"ensemble": 2, "folds": 2, "epochs": 20, "random_state": 0, "device": "cpu"}
GRAPH = planted()
Y = half_known(GRAPH)


class TestGrammeAuto(MethodCase):
    name = "gramme-auto"
    arguments = FAST | {"epochs": 3}
    trained = FAST
    inductive = True


@pytest.fixture(scope="module")
def fitted():
    return GrammeAuto(**FAST).fit(GRAPH, Y)


def test_ingredients_are_weighed(fitted):
    table = fitted.ingredients_
    assert list(table) == ["ingredient", "weight", "accuracy", "log_loss"]
    assert table["weight"].sum() == pytest.approx(1)
    assert (table["weight"] > 0).all()
    assert table["accuracy"].between(0, 1).all()
    assert list(fitted.models_) == table["ingredient"].tolist()


def test_the_probabilities_are_the_geometric_mean_of_the_ingredients(fitted):
    counts = np.unique([v for v in Y if v is not None], return_counts=True)[1]
    prior = (counts + 1 / 3) / (counts.sum() + 1)
    raised = np.ones((36, 3))
    for weight, model in zip(fitted.ingredients_["weight"], fitted.models_.values(), strict=True):
        raised *= (0.99 * model.predict_proba() + 0.01 * prior) ** (weight * fitted.exponent_)
    expected = raised / raised.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fitted.predict_proba(), expected, rtol=1e-4)


def test_the_attention_ingredient_is_what_it_would_be_alone(fitted):
    alone = GrammeFusion(ensemble=2, epochs=20, random_state=0, device="cpu").fit(GRAPH, Y)
    found = fitted.models_["gramme-fusion"].predict_proba()
    np.testing.assert_allclose(found, alone.predict_proba(), atol=1e-5)


def test_the_evidence_decides():
    """Where like joins like, and attention learned next to nothing, propagation is believed, and said to be."""
    graph = datasets.load("synthetic", nodes=200, signal=[0.9, 0.9], random_state=1)
    some = ["gramme-fusion", "label-propagation", "one-hot-logistic"]
    model = GrammeAuto(**FAST | {"epochs": 3}, ingredients=some).fit(
        graph, half_known(graph, every=5)
    )
    weights = model.ingredients_.set_index("ingredient")["weight"]
    assert weights["label-propagation"] > 0.5
    assert model.explanation_.startswith("Mostly known labels spreading to neighbours")


def test_layer_importance_is_the_weighted_sum_of_the_ingredients(fitted):
    total = sum(
        weight * fitted.models_[name].layer_importance_
        for name, weight in fitted.ingredients_[["ingredient", "weight"]].itertuples(index=False)
    )
    assert isinstance(total, pd.Series)
    np.testing.assert_allclose(fitted.layer_importance_, total)
    assert fitted.layer_importance_.sum() == pytest.approx(1)
    assert list(fitted.layer_importance_.index) == ["friends", "room"]


def test_it_shows_the_embedding_and_attention_of_its_fusion_ingredient(fitted):
    assert fitted.embedding_.shape == (36, 2 * 32)
    assert len(fitted.node_attention("friends")) == 36
    assert "loss" in fitted.history_


def test_one_label_per_class_works():
    y = {"n0": "a", "n1": "b"}
    model = GrammeAuto(**FAST).fit(GRAPH, y)
    assert model.ingredients_["accuracy"].isna().all(), "there was nothing to test"
    assert model.ingredients_["weight"].tolist() == pytest.approx(np.array([1, 1, 9, 1]) / 12)
    assert model.exponent_ == 1


def test_a_class_with_one_label_works():
    y = {f"n{i}": GRAPH.labels[i] for i in range(8)} | {"n20": "rare"}
    model = GrammeAuto(**FAST).fit(GRAPH, y)
    assert "rare" in model.classes_.tolist()
    assert np.isfinite(model.probabilities_).all()


def test_ten_noise_layers_cost_less_than_a_point():
    graph = datasets.load("synthetic_table", nodes=600, signal=[0.9, 0.8, 0.8], random_state=0)
    random = np.random.default_rng(0)
    noise = {
        f"noise {i}": MembershipLayer.from_codes(random.integers(4, size=600), range(4))
        for i in range(10)
    }
    noisy = graph.replace(layers={**graph.layers, **noise})
    y = half_known(graph, every=4)
    hidden = np.array([value is None for value in y])
    accuracy = [
        (GrammeAuto(ensemble=2, folds=3, random_state=0).fit(g, y).predict() == graph.labels)[
            hidden
        ].mean()
        for g in (graph, noisy)
    ]
    assert accuracy[0] > 0.85
    assert accuracy[0] - accuracy[1] < 0.01


def test_features_of_the_graph_bring_a_further_ingredient(fitted, tmp_path):
    codes = np.unique(GRAPH.labels, return_inverse=True)[1]
    graph = planted(features=np.eye(3)[codes] + np.random.default_rng(0).normal(size=(36, 3)))
    model = GrammeAuto(**FAST).fit(graph, Y)
    assert "neighbourhood-logistic" in model.models_
    assert not model.models_["one-hot-logistic"].use_features, "each looks at something else"
    without = GrammeAuto(ingredients=["one-hot-logistic"], random_state=0).fit(graph, Y)
    assert without.models_["one-hot-logistic"].use_features
    model.save(tmp_path / "m.safetensors")
    other = gramme.load(tmp_path / "m.safetensors")
    assert other.predict_proba(graph).tobytes() == model.predict_proba(graph).tobytes()
    assert "neighbourhood-logistic" not in fitted.models_


def test_chosen_ingredients_only():
    model = GrammeAuto(ingredients=["label-propagation"], random_state=0).fit(GRAPH, Y)
    assert model.ingredients_["weight"].tolist() == [1]
    assert not hasattr(model, "embedding_")
    with pytest.raises(DataError, match="propagation"):
        GrammeAuto(ingredients=["propagation"]).fit(GRAPH, Y)
    with pytest.raises(DataError, match="list of names"):
        GrammeAuto(ingredients=[]).fit(GRAPH, Y)


def test_an_interrupt_leaves_a_usable_mixture(monkeypatch):
    """Ctrl-C while the attention model trains: all take part by their prior weights."""
    proper = loop._step
    steps = itertools.count(1)

    def step(*arguments):
        if next(steps) == 30:  # in the second member
            raise KeyboardInterrupt
        proper(*arguments)

    monkeypatch.setattr(loop, "_step", step)
    monkeypatch.setattr("gramme.methods.attention.members.MAX_BATCH_NUMBERS", 1)  # member by member
    with pytest.warns(GrammeWarning, match="interrupted"):
        model = GrammeAuto(**FAST).fit(GRAPH, Y)
    assert list(model.models_)[-1] == "gramme-fusion"
    prior = np.array([0.25, 0.25, 0.25 + 2 * (10 / 18) ** 2, 0.25])  # with 18 labels
    assert model.ingredients_["weight"].tolist() == pytest.approx(prior / prior.sum())
    assert np.isfinite(model.probabilities_).all()


def test_an_ingredient_that_the_data_are_too_large_for_is_named(monkeypatch):
    monkeypatch.setattr("gramme.methods.auto.ingredients.MAX_TABLE_NUMBERS", 10)
    with pytest.warns(GrammeWarning, match="too large for spectral-logistic"):
        model = GrammeAuto(**FAST).fit(GRAPH, Y)
    assert "spectral-logistic" not in model.models_
    assert "gramme-fusion" in model.models_
    assert "The data are too large for spectral-logistic" in model.explanation_
