import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn import metrics as sk

from gramme import datasets
from gramme.evaluation import accuracy_interval, cross_validate
from gramme.evaluation.metrics import (
    MIN_PROBABILITY,
    Recall,
    calibration_error,
    label_doubts,
    score,
)
from gramme.methods import OneHotLogistic


def drawn(nodes=200, classes=4, seed=0):
    random = np.random.default_rng(seed)
    return random.integers(classes, size=nodes), random.dirichlet(np.ones(classes), size=nodes)


def test_as_scikit_learn_where_all_classes_are_known():
    truth, probabilities = drawn()
    found = score(truth.tolist(), probabilities, list(range(4)))
    guess = probabilities.argmax(1)
    assert found.accuracy == pytest.approx(sk.accuracy_score(truth, guess))
    assert found.macro_f1 == pytest.approx(sk.f1_score(truth, guess, average="macro"))
    assert found.log_loss == pytest.approx(sk.log_loss(truth, probabilities))


def test_a_class_never_seen_counts_as_wrong():
    truth = ["a", "b", "new", "new"]
    found = score(truth, np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]), ["a", "b"])
    assert found.accuracy == 0.5
    assert found.macro_f1 == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    assert found.log_loss == pytest.approx(-np.log(MIN_PROBABILITY) / 2)


def test_one_class_for_everybody():
    found = score(["a", "a", "b", "b"], np.ones((4, 1)), ["a"])
    assert found.accuracy == 0.5
    assert found.calibration_error == pytest.approx(0.5)


def test_calibration_error_by_hand_and_of_a_calibrated_method():
    confidence = np.array([0.61, 0.62, 0.95, 0.99])
    right = np.array([True, False, True, True])
    by_hand = (abs(1.23 - 1) + abs(1.94 - 2)) / 4
    assert calibration_error(confidence, right, bins=10) == pytest.approx(by_hand)
    random = np.random.default_rng(0)
    sure = random.uniform(0.5, 1, 50_000)
    assert calibration_error(sure, random.random(50_000) < sure) < 0.01
    assert calibration_error(np.ones(4), np.zeros(4, dtype=bool)) == 1.0


@pytest.mark.parametrize("bins", [5, 10, 15])
def test_calibration_error_has_so_many_bins_of_equal_width(bins):
    # Two predictions near the ends of each bin: fewer bins join neighbours, more bins tear one apart.
    start = np.arange(bins) / bins
    low, high = start + 0.05 / bins, start + 0.95 / bins
    # every other bin is right both times, the last among them, so that joined neighbours make up for each other
    right = np.arange(bins) % 2 == (bins - 1) % 2
    by_hand = np.abs(low + high - 2 * right).sum() / (2 * bins)
    found = calibration_error(np.append(low, high), np.append(right, right), bins=bins)
    assert found == pytest.approx(by_hand)
