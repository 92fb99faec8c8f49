"""GrammeAuto: the mixture's weights, what it says about itself, few labels, noise, interrupts."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from tests.methods.cases import MethodCase
from tests.methods.graphs import half_known, planted

import gramme
from gramme import datasets
from gramme.errors import DataError, GrammeError, GrammeWarning
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.graph.canonical import in_name_order
from gramme.methods import GrammeAuto, GrammeFusion
from gramme.methods import labels as folds
from gramme.methods.attention.members import TRAINING_SHARE, TrainingSize, expected_step_seconds
from gramme.methods.auto import estimator as module
from gramme.methods.auto.estimator import layers_in_words, mixture_in_words
from gramme.methods.auto.mixture import mixed_with_prior, pooled, sharpened
from gramme.methods.labels import class_prior
from gramme.training import loop

BUDGET_GRAPH = planted(60)
BUDGET_Y = half_known(BUDGET_GRAPH)
FULL = TrainingSize(8, 2, 40)


def test_a_short_budget_leaves_attention_out_and_says_so() -> None:
    with pytest.warns(GrammeWarning, match="Attention is left out: a budget of 1 s is too short"):
        model = GrammeAuto(budget=0.001, random_state=0).fit(BUDGET_GRAPH, BUDGET_Y)
    assert "gramme-fusion" not in model.models_
    assert model.explanation_.endswith("a budget of 1 s is too short for it.")
    with pytest.raises(GrammeError, match="give it a larger budget"):
        GrammeAuto(budget=0.001, ingredients=["gramme-fusion"], random_state=0).fit(BUDGET_GRAPH, BUDGET_Y)


def test_large_data_shrink_attention_by_their_size_and_the_file_remembers(
    monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    sixty_steps = 60 * expected_step_seconds(BUDGET_GRAPH) / TRAINING_SHARE
    monkeypatch.setattr(module, "DEFAULT_SECONDS", sixty_steps)
    monkeypatch.setattr(folds, "LARGE_ENTRIES", 10)
    monkeypatch.setattr(folds, "ENOUGH_LABELS", 3)
    chosen = ["label-propagation", "gramme-fusion"]
    with pytest.warns(GrammeWarning, match="1 of 5 folds weigh"):
        model = GrammeAuto(epochs=12, ingredients=chosen, random_state=0).fit(BUDGET_GRAPH, BUDGET_Y)
    attention = model.attention_
    assert attention.effort_ == TrainingSize(4, 1, 12)
    assert attention.members_ == 4
    assert model.explanation_.endswith(model.done_in_time_)
    assert f"{attention.members_} of 8 members" in model.done_in_time_
    tested = model.out_of_fold()
    assert 0 < tested.nodes.size < 30
    assert np.isfinite(tested.probabilities).all()
    model.save(tmp_path / "m.safetensors")
    assert gramme.load(tmp_path / "m.safetensors").done_in_time_ == model.done_in_time_


def test_enough_time_changes_nothing() -> None:
    settings = {"epochs": 10, "ensemble": 2, "ingredients": ["gramme-fusion"], "random_state": 0}
    free, timed = (GrammeAuto(budget=one, **settings).fit(BUDGET_GRAPH, BUDGET_Y) for one in (None, "1h"))
    assert (free.probabilities_ == timed.probabilities_).all()
    assert timed.done_in_time_ == ""


@pytest.mark.parametrize("wrong", ["soon", "", 0, -1, "10 parsecs", True, float("nan")])
def test_a_budget_is_a_time(wrong: object) -> None:
    with pytest.raises(DataError, match="budget"):
        GrammeAuto(budget=wrong).fit(BUDGET_GRAPH, BUDGET_Y)


HALVES_GRAPH = planted(90)
HALVES_Y = half_known(HALVES_GRAPH)


@pytest.fixture(scope="module")
def model():
    names = ["label-propagation", "one-hot-logistic", "gramme-fusion"]
    return GrammeAuto(ensemble=2, epochs=5, ingredients=names, random_state=0).fit(HALVES_GRAPH, HALVES_Y)


def test_each_label_is_predicted_by_ingredients_of_the_other_half(model):
    found = model._out_of_half()
    assert found.probabilities.shape == (int(model.labelled_.sum()), 3)
    np.testing.assert_allclose(found.probabilities.sum(1), 1, rtol=1e-5)
    assert (found.probabilities.argmax(1) == found.codes).mean() > 0.5


def test_a_label_never_reaches_its_own_prediction(model, monkeypatch):
    """With another class for a label, what is said about its half stays as it is."""
    known = model._learned_from()
    half = np.arange(known.nodes.size) % 2
    monkeypatch.setattr("gramme.methods.auto.gramme_auto.stratified_folds", lambda *_, **__: half)
    before = model._from_halves(HALVES_GRAPH, known).probabilities
    _, places = known.sorted_by_name(in_name_order(HALVES_GRAPH))
    mine = np.isin(np.arange(half.size), places[half == 0])
    changed = int(np.flatnonzero(mine)[0])
    known.codes[changed] = (known.codes[changed] + 1) % 3
    after = model._from_halves(HALVES_GRAPH, known).probabilities
    np.testing.assert_allclose(after[mine], before[mine], rtol=1e-6)
    assert np.abs(after[~mine] - before[~mine]).max() > 1e-3


def test_one_ingredient_alone_is_pooled_and_calibrated_as_in_the_fit():
    alone = GrammeAuto(ingredients=["one-hot-logistic"], random_state=0).fit(HALVES_GRAPH, HALVES_Y)
    inner = alone.models_["one-hot-logistic"]
    halved = dict(zip(*_rows(inner._out_of_half()), strict=True))
    found = alone._out_of_half()
    prior = class_prior(alone.class_counts_)
    for node, row in zip(found.nodes.tolist(), found.probabilities, strict=True):
        mixed = pooled([mixed_with_prior(halved[node][None], prior)], [1.0])
        np.testing.assert_allclose(row, sharpened(mixed, alone.exponent_)[0], rtol=1e-4)


def _rows(found):
    return found.nodes.tolist(), found.probabilities


ALIKE = pd.Series({"one": 0.26, "two": 0.25, "three": 0.25, "four": 0.24})
WORDS = {
    "gramme-fusion": "attention within each layer (GrAMME-Fusion)",
    "spectral-logistic": "a linear model of where walks lead",
    "one-hot-logistic": "a linear model of who belongs to which group",
}
UNLIKE = pd.Series({"one": 0.559, "two": 0.263, "three": 0.178})


def test_small_shares_are_not_named():
    text = mixture_in_words({"gramme-fusion": 0.93, "spectral-logistic": 0.07}, WORDS, ALIKE)
    assert text == (
        "Mostly attention within each layer (GrAMME-Fusion), 93 %; the others contribute 7 % together. "
        "The 4 layers count about alike (24 % to 26 %)."
    )


def test_without_a_majority_it_is_a_mix():
    weights = {"one-hot-logistic": 0.4, "gramme-fusion": 0.3, "spectral-logistic": 0.3}
    text = mixture_in_words(weights, WORDS, ALIKE)
    assert text.startswith("A mix: a linear model of who belongs to which group, 40 %")
    assert "(GrAMME-Fusion), 30 % and a linear model of where walks lead" in text


def test_layers_that_differ_are_not_called_alike():
    text = layers_in_words(UNLIKE)
    assert text == "Of the layers, one counts most (56 %), then two (26 %) and three (18 %)."
    assert layers_in_words(pd.Series({"a": 1.0})) == ""
    assert layers_in_words(pd.Series({"a": 1.0, "b": 0.0})).endswith("the others not at all.")
    assert "none of them counts" in layers_in_words(pd.Series({"a": 0.0, "b": 0.0}))


def fits() -> list[MultilayerGraph]:
    """Edges, groups, both, and with a column that joins nobody."""
    random = np.random.default_rng(0)
    count = 40
    label = np.arange(count) % 2
    source = random.integers(count, size=160)
    target = (source + 2 * random.integers(1, 20, size=160)) % count
    talk = EdgeLayer(count, source, target)
    noise = EdgeLayer(count, random.integers(count, size=60), random.integers(count, size=60))
    vote = MembershipLayer.from_codes(np.where(random.random(count) < 0.8, label, 1 - label))
    alone = MembershipLayer.from_codes(np.arange(count))
    labels = np.where(np.arange(count) < 24, label, None)
    return [
        MultilayerGraph(layers, labels=labels)
        for layers in (
            {"talk": talk, "noise": noise},
            {"vote": vote, "alone": alone},
            {"talk": talk, "vote": vote, "alone": alone},
        )
    ]


@pytest.mark.parametrize("place", range(3))
def test_every_number_of_the_sentence_is_one_of_the_tables(place: int):
    graph = fits()[place]
    model = GrammeAuto(ensemble=1, epochs=5, folds=2, random_state=0, progress=False).fit(graph)
    shares = model.layer_importance_
    assert shares.sum() == pytest.approx(1)
    if "alone" in graph.layers:
        assert shares["alone"] == 0
    text = model.explanation_
    for layer, told in re.findall(r"(\w+)(?: counts most)? \((\d+) %\)", text):
        assert f"{100 * shares[layer]:.0f}" == told
    weights = [f"{100 * weight:.0f}" for weight in model.ingredients_["weight"]]
    first = text.split("; the rest")[0].split(". Of the")[0].split(". The")[0]
    assert set(re.findall(r", (\d+) %", first)) <= set(weights)
    has_groups = any(isinstance(one, MembershipLayer) for one in graph.layers.values())
    assert has_groups or "group" not in text


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
    model = GrammeAuto(**FAST | {"epochs": 3}, ingredients=some).fit(graph, half_known(graph, every=5))
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
    assert model.ingredients_["weight"].tolist() == pytest.approx(np.array([1, 1, 1, 9, 1]) / 13)
    assert model.exponent_ == 1


def test_a_class_with_one_label_works():
    y = {f"n{i}": GRAPH.labels[i] for i in range(8)} | {"n20": "rare"}
    model = GrammeAuto(**FAST).fit(GRAPH, y)
    assert "rare" in model.classes_.tolist()
    assert np.isfinite(model.probabilities_).all()


def test_ten_noise_layers_cost_less_than_a_point():
    graph = datasets.load("synthetic_table", nodes=600, signal=[0.9, 0.8, 0.8], random_state=0)
    random = np.random.default_rng(0)
    noise = {f"noise {i}": MembershipLayer.from_codes(random.integers(4, size=600), range(4)) for i in range(10)}
    noisy = graph.replace(layers={**graph.layers, **noise})
    y = half_known(graph, every=4)
    hidden = np.array([value is None for value in y])
    accuracy = [
        (GrammeAuto(ensemble=2, folds=3, random_state=0).fit(g, y).predict() == graph.labels)[hidden].mean()
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
    model = GrammeAuto(**FAST)
    with pytest.warns(GrammeWarning, match="interrupted"), pytest.raises(KeyboardInterrupt):
        model.fit(GRAPH, Y)
    assert list(model.models_)[-1] == "gramme-fusion"
    prior = np.array([0.25, 0.25, 0.25, 0.25 + 2 * (10 / 18) ** 2, 0.25])  # with 18 labels
    assert model.ingredients_["weight"].tolist() == pytest.approx(prior / prior.sum())
    assert np.isfinite(model.probabilities_).all()


def test_an_ingredient_that_the_data_are_too_large_for_is_named(monkeypatch):
    monkeypatch.setattr("gramme.methods.auto.ingredients.MAX_TABLE_NUMBERS", 10)
    with pytest.warns(GrammeWarning, match="too large for spectral-logistic"):
        model = GrammeAuto(**FAST).fit(GRAPH, Y)
    assert "spectral-logistic" not in model.models_
    assert "gramme-fusion" in model.models_
    assert "The data are too large for spectral-logistic" in model.explanation_
