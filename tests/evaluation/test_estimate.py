import numpy as np
import pytest

from gramme.errors import DataError
from gramme.evaluation import Holdout, hold_out, holdout_estimate
from gramme.evaluation.estimate import UnseenPredictions, joined_estimate
from gramme.evaluation.intervals import accuracy_interval


def test_the_estimate_of_a_holdout_agrees_with_its_accuracy():
    labels = np.array(["a", "b", "c"] * 20 + [None] * 5, dtype=object)
    split = hold_out(labels, 0.4, random_state=1)
    shares = np.random.default_rng(0).dirichlet([1, 1, 1], 65)
    classes = np.array(["a", "b", "c"])
    estimate = holdout_estimate(split, classes, shares)
    accuracy, interval = split.accuracy(classes[shares.argmax(axis=1)])
    assert (estimate.accuracy, estimate.interval) == (accuracy, interval)
    assert estimate.confusion()[1].sum() == 24 == estimate.record()["nodes"]
    for node, said in estimate.predictions(np.arange(65)).items():
        place = list(classes).index(labels[node])
        assert said["own"] == shares[node, place]
        assert said["predicted"] == classes[shares[node].argmax()]
        assert said["probability"] == shares[node].max()


def test_a_class_the_model_never_saw_counts_as_wrong():
    split = Holdout(
        np.array([None, "a"], dtype=object), np.array([0]), np.array(["z", "a"], dtype=object)
    )
    estimate = holdout_estimate(split, np.array(["a", "b"]), np.array([[0.9, 0.1], [1, 0]]))
    assert estimate.accuracy == 0
    assert estimate.confusion()[0] == ["a", "z"]
    said = estimate.predictions(["x", "y"])["x"]
    assert said == {"predicted": "a", "probability": 0.9, "own": 0.0, "suggested": None}


def test_parts_whose_models_know_different_classes_are_joined():
    labels = np.array(["a", "b", "c", "b"], dtype=object)
    one = UnseenPredictions.of(
        np.array([0, 1]), labels, np.array(["b", "c"]), np.array([[0.6, 0.4], [0.7, 0.3]] * 2)
    )
    other = UnseenPredictions.of(np.array([2, 3]), labels, np.array(["a", "b"]), np.eye(4)[:, :2])
    found = joined_estimate("cross-validation", "", [one, other], 2, 2)
    assert found.classes == ["a", "b", "c"]
    assert found.predicted == ["b", "b", "a", "a"]
    assert found.shares[1].tolist() == [0, 0.7, 0.3]
    assert found.accuracy == 0.25


def test_unequal_classes_are_told_by_recall_and_against_the_guess():
    labels = np.array(["ok"] * 294 + ["fraud"] * 6, dtype=object)
    split = Holdout(np.full(300, None), np.arange(300), labels)
    blind = np.tile([0.02, 0.98], (300, 1))
    record = holdout_estimate(split, np.array(["fraud", "ok"]), blind).record()
    assert record["accuracy"] == 0.98
    assert record["unequal_classes"]
    assert record["balanced_accuracy"] == 0.5
    assert record["recall"]["fraud"] == {"nodes": 6, "found": 0, "recall": 0.0}
    assert record["guess"] == {"class": "ok", "accuracy": 0.98}
    assert record["against_guess"] == "no better"
    sharp = np.array([[0.1, 0.9]] * 294 + [[0.9, 0.1]] * 6)
    record = holdout_estimate(split, np.array(["fraud", "ok"]), sharp).record()
    assert (record["balanced_accuracy"], record["against_guess"]) == (1.0, "better")


def test_nothing_set_aside_is_an_error():
    nothing = Holdout(np.array(["a"], dtype=object), np.zeros(0, dtype=np.int64), np.array(["a"]))
    with pytest.raises(DataError, match="set aside"):
        holdout_estimate(nothing, np.array(["a"]), np.ones((1, 1)))


@pytest.mark.parametrize(("unlabelled", "factor"), [(0, 1.4), (50, 2.4), (400, 1.65)])
def test_labels_that_test_each_other_are_worth_fewer_independent_tests(unlabelled, factor):
    """What was measured: a 95 % interval of as many independent tests held the truth in 69 to 88 % of splits."""
    labels = np.array(["a", "b"] * 50, dtype=object)
    shares = np.tile([0.9, 0.1], (100, 1))
    part = UnseenPredictions.of(np.arange(100), labels, np.array(["a", "b"]), shares)
    found = joined_estimate("cross-fitting", "", [part], 5, 5, to_predict=unlabelled)
    assert found.worth == pytest.approx(1 / factor)
    assert found.interval == pytest.approx(accuracy_interval(50 / factor, 100 / factor))
    assert found.record()["independent_tests"] == pytest.approx(100 / factor, abs=0.05)
    aside = joined_estimate("holdout", "", [part])
    assert aside.interval == accuracy_interval(50, 100), "one model, whose tests are independent"
    wide, narrow = (one.recall().balanced_interval for one in (found, aside))
    assert wide[0] < narrow[0] < 0.5 < narrow[1] < wide[1]
