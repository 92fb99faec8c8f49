"""Mixing predictions: weights against a direct search, pseudo labels, and calibration that changes no prediction."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from gramme.methods.auto.mixing import (
    calibrating_exponent,
    mixed_with_prior,
    mixture_weights,
    sharpened,
)


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


def test_sharpening_keeps_the_order_and_survives_tiny_chances():
    told = np.array([[1 - 2e-300, 1e-300, 1e-300], [0.2, 0.5, 0.3]])
    for exponent in (0.3, 3.0):
        found = sharpened(told, exponent)
        assert np.isfinite(found).all()
        assert found.argmax(axis=1).tolist() == [0, 1]
        np.testing.assert_allclose(found.sum(axis=1), 1)


def test_nothing_to_test_leaves_the_probabilities_alone():
    assert calibrating_exponent(np.zeros((0, 3)), np.zeros(0, dtype=np.int64)) == 1
