import numpy as np
import pytest

from gramme.errors import DataError
from gramme.evaluation import Holdout, hold_out, holdout_estimate


def test_the_estimate_of_a_holdout_agrees_with_its_accuracy():
    labels = np.array(["a", "b", "c"] * 20 + [None] * 5, dtype=object)
    split = hold_out(labels, 0.4, random_state=1)
    shares = np.random.default_rng(0).dirichlet([1, 1, 1], 65)
    classes = np.array(["a", "b", "c"])
    estimate = holdout_estimate(split, classes, shares)
    accuracy, interval = split.accuracy(classes[shares.argmax(axis=1)])
    assert (estimate.accuracy, estimate.interval) == (accuracy, interval)
    assert estimate.confusion()[1].sum() == 24 == estimate.record()["nodes"]
    for node, (guess, share) in estimate.predictions(np.arange(65)).items():
        place = list(classes).index(labels[node])
        assert share == shares[node, place]
        assert guess == classes[shares[node].argmax()]


def test_a_class_the_model_never_saw_counts_as_wrong():
    split = Holdout(
        np.array([None, "a"], dtype=object), np.array([0]), np.array(["z", "a"], dtype=object)
    )
    estimate = holdout_estimate(split, np.array(["a", "b"]), np.array([[0.9, 0.1], [1, 0]]))
    assert estimate.accuracy == 0
    assert estimate.confusion()[0] == ["a", "z"]
    assert estimate.probability.tolist() == [0]


def test_nothing_set_aside_is_an_error():
    nothing = Holdout(np.array(["a"], dtype=object), np.zeros(0, dtype=np.int64), np.array(["a"]))
    with pytest.raises(DataError, match="set aside"):
        holdout_estimate(nothing, np.array(["a"]), np.ones((1, 1)))
