"""The models of a mixture in its file: each is checked like a model of its own, and refused by name."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from tests.methods.graphs import half_known, planted

from gramme.methods import GrammeAuto
from gramme.methods.auto.estimator import SHARED, SavedModels
from gramme.methods.auto.mixture import (
    calibrating_exponent,
    cross_fitted,
    mixed_with_prior,
    mixture_weights,
    pooled,
    sharpened,
)
from gramme.methods.persistence import Learned, MisfitError


def test_weights_are_the_most_probable_ones():
    own = np.random.default_rng(0).uniform(0.05, 1, size=(40, 2))

    def loss(weight):
        mixed = own @ [weight, 1 - weight]
        return -np.log(mixed).sum() - 2 * np.log(weight) - 0.5 * np.log(1 - weight)

    best = minimize_scalar(loss, bounds=(1e-6, 1 - 1e-6), method="bounded")
    assert mixture_weights(own, [2, 0.5])[0] == pytest.approx(best.x, abs=1e-3)


def test_few_labels_stay_near_the_prior_and_many_decide():
    own = np.tile([0.9, 0.3], (1000, 1))
    assert mixture_weights(own[:0], [1, 1]).tolist() == [0.5, 0.5]
    few, many = mixture_weights(own[:2], [1, 1])[0], mixture_weights(own, [1, 1])[0]
    assert 0.5 < few < 0.8
    assert many > 0.99


def test_no_class_is_ruled_out():
    assert (mixed_with_prior(np.array([[1.0, 0.0]]), np.array([0.5, 0.5])) > 0).all()


@pytest.mark.parametrize("true_exponent", [0.5, 1.0, 2.0])
def test_the_exponent_undoes_a_wrong_confidence(true_exponent):
    random = np.random.default_rng(1)
    told = random.dirichlet([1, 1, 1], size=20_000)
    chances = sharpened(told, true_exponent)
    codes = (random.random((20_000, 1)) > chances.cumsum(axis=1)).sum(axis=1)
    assert calibrating_exponent(told, codes) == pytest.approx(true_exponent, rel=0.05)


def test_few_labels_hardly_move_the_exponent_and_many_do():
    def found(labels, code=0):
        # predictions of 60 %, all right or all wrong
        return calibrating_exponent(np.tile([0.6, 0.4], (labels, 1)), np.full(labels, code))

    assert 1 < found(3) < 1.2
    assert 0.8 < found(3, code=1) < 1
    assert 1.5 < found(30) < 2.5
    assert found(1000) > 3, "as far as it may go"
    # by hand: where the gain of a larger exponent balances the caution of 5 labels per squared logarithm
    exponent = found(12)
    odds = np.log(0.6 / 0.4)
    gain = 12 * odds * exponent / (1 + np.exp(odds * exponent))
    assert gain == pytest.approx(2 * 5 * np.log(exponent), rel=1e-3)


def test_sharpening_keeps_the_order_and_survives_tiny_chances():
    told = np.array([[1 - 2e-300, 1e-300, 1e-300], [0.2, 0.5, 0.3]])
    for exponent in (0.3, 3.0):
        found = sharpened(told, exponent)
        assert np.isfinite(found).all()
        assert found.argmax(axis=1).tolist() == [0, 1]
        np.testing.assert_allclose(found.sum(axis=1), 1)


def test_nothing_to_test_leaves_the_probabilities_alone():
    assert calibrating_exponent(np.zeros((0, 3)), np.zeros(0, dtype=np.int64)) == 1


def test_cross_fitted_neither_weights_nor_exponent_see_a_labels_fold():
    random = np.random.default_rng(0)
    parts = [random.dirichlet([1, 1, 1], size=40) for _ in range(2)]
    codes, fold = random.integers(3, size=40), np.arange(40) % 5
    everyone = np.ones(40, dtype=bool)
    first = cross_fitted(parts, codes, fold, everyone, [1, 1])
    changed = np.where(fold == 2, (codes + 1) % 3, codes)
    second = cross_fitted(parts, changed, fold, everyone, [1, 1])
    assert (first[fold == 2] == second[fold == 2]).all()
    assert (first[fold != 2] != second[fold != 2]).any()
    np.testing.assert_allclose(first.sum(axis=1), 1)
    # by hand for one fold
    rows = np.flatnonzero(fold != 2)
    own = np.stack([part[rows, codes[rows]] for part in parts], axis=1)
    weights = mixture_weights(own, [1, 1])
    mixed = pooled([part[rows] for part in parts], weights)
    exponent = calibrating_exponent(mixed, codes[rows])
    mine = sharpened(pooled([part[fold == 2] for part in parts], weights), exponent)
    np.testing.assert_allclose(first[fold == 2], mine)


def test_of_very_many_labels_one_mixture_serves_all_folds(monkeypatch):
    monkeypatch.setattr("gramme.methods.auto.mixture.MAX_CROSS_FITTED", 10)
    parts = [np.tile([0.8, 0.2], (12, 1)), np.tile([0.4, 0.6], (12, 1))]
    codes = np.zeros(12, dtype=np.int64)
    found = cross_fitted(parts, codes, np.arange(12) % 3, np.ones(12, dtype=bool), [1, 1])
    weights = mixture_weights(np.array([[0.8, 0.4]] * 12), [1, 1])
    mixed = pooled(parts, weights)
    np.testing.assert_allclose(found, sharpened(mixed, calibrating_exponent(mixed, codes)))


GRAPH = planted()


@pytest.fixture(scope="module")
def model():
    some = ["label-propagation", "one-hot-logistic"]
    return GrammeAuto(ingredients=some, random_state=0).fit(GRAPH, half_known(GRAPH))


def restored(model, **changes):
    learned = model._learned()
    record = learned.record
    for name, change in changes.items():
        record["models"][name.replace("_", "-")] = change(record["models"][name.replace("_", "-")])
    return GrammeAuto._restored(model.get_params(), Learned(record, learned.tensors))


def test_what_all_models_share_is_saved_once(model):
    record = model._learned().record
    for inner in record["models"].values():
        assert not set(SHARED) & set(inner["learned"])
    assert restored(model).predict_proba().tobytes() == model.predict_proba().tobytes()


def test_a_part_of_a_model_that_does_not_fit_is_named(model):
    def hot(saved):
        return saved | {"learned": saved["learned"] | {"C": -1}}

    with pytest.raises(MisfitError, match="one-hot-logistic: C must be a number of more than 0"):
        restored(model, one_hot_logistic=hot)
    with pytest.raises(MisfitError, match="parameters and what was learned for label-propagation"):
        restored(model, label_propagation=lambda saved: 3)


def test_models_are_those_of_the_table(model):
    learned = model._learned()
    learned.record["models"].pop("one-hot-logistic")
    with pytest.raises(MisfitError, match="ingredients and models are not the same"):
        GrammeAuto._restored(model.get_params(), learned)
    learned = model._learned()
    learned.record["ingredients"]["weight"] = [0.5, 0.1]
    with pytest.raises(MisfitError, match="must sum to 1"):
        GrammeAuto._restored(model.get_params(), learned)


def test_the_field_wants_names_of_ingredients(model):
    field = SavedModels()
    with pytest.raises(MisfitError, match="models by the names of ingredients"):
        field.load(model, Learned({"models": {"oracle": {}}}), {})


def test_a_little_of_the_prior_leaves_probabilities_and_rules_no_class_out():
    prior = np.array([0.2, 0.5, 0.3])
    mixed = mixed_with_prior(np.array([[1.0, 0.0, 0.0], [0.1, 0.2, 0.7]]), prior)
    np.testing.assert_allclose(mixed.sum(axis=1), 1.0)
    np.testing.assert_allclose(mixed[0], [0.99 + 0.01 * 0.2, 0.01 * 0.5, 0.01 * 0.3])
