import json

import numpy as np
import pytest
from tests.methods.graphs import half_known, planted

from gramme.errors import DataError
from gramme.evaluation import Holdout, cross_validate, hold_out, holdout_estimate
from gramme.evaluation.estimate import UnseenPredictions, joined_estimate, joined_sets, set_facts, unseen_of
from gramme.evaluation.metrics import accuracy_interval, exact_interval
from gramme.methods import OneHotLogistic
from gramme.methods.cross_fitting import miss_ratio

GRAPH = planted(90)
Y = half_known(GRAPH)


@pytest.fixture(scope="module")
def model():
    return OneHotLogistic(random_state=0).fit(GRAPH, Y)


def test_the_predictions_of_an_estimate_are_those_that_sets_rest_on(model):
    estimate = cross_validate(model, GRAPH, Y, folds=2)
    seen = unseen_of(estimate, model.classes_)
    right = seen.probabilities.argmax(axis=1) == seen.codes
    assert right.mean() == estimate.accuracy
    assert (model.classes_[seen.codes] == GRAPH.labels[seen.nodes]).all()


def test_a_class_that_only_the_held_out_labels_have_counts_as_unknown():
    labels = np.array([*"aabbabab", "z"], dtype=object)
    split = hold_out(labels, 0.5, random_state=3)
    shares = np.tile([0.6, 0.4], (9, 1))
    seen = unseen_of(holdout_estimate(split, np.array(["a", "b"]), shares), np.array(["a", "b"]))
    assert [-1 if label == "z" else "ab".index(label) for label in labels[split.held_out]] == (seen.codes.tolist())


def test_the_record_counts_the_sets(model):
    sets, facts = set_facts(model, 0.97)
    assert facts["expected"] == pytest.approx(1 - 1 / 46, abs=1e-6)  # the smallest of 45 scores
    json.dumps(facts)
    free = sets[~model.labelled_]
    assert sum(facts["sizes"].values()) == len(free) == 45
    assert facts["sizes"].get("1", 0) == (free.sum(axis=1) == 1).sum()
    assert sum(one["nodes"] for one in facts["undecided"]) == (free.sum(axis=1) > 1).sum() > 0
    assert all(len(one["classes"]) > 1 for one in facts["undecided"])
    assert facts["enough"]
    assert facts["tested"] == 45


def test_where_the_most_probable_class_is_right_more_often_than_asked_the_record_says_how_often(model):
    facts = set_facts(model, 0.5)[1]
    seen = model.out_of_fold()
    right = (seen.probabilities.argmax(axis=1) == seen.codes).mean()
    assert right > 0.5
    missed = [int((one.set_scores() < 1).sum()) for one in (seen, model._out_of_half())]
    expected = 1 - miss_ratio(*missed, folds=5) * (1 - right)
    assert facts["expected"] == pytest.approx(expected, abs=1e-6)
    assert facts["halved"]
    assert facts["sizes"] == {"1": 45}
    assert facts["alone"]
    assert not set_facts(model, 0.97)[1]["alone"]
    near = set_facts(model, expected - 0.004)[1]
    assert not near["alone"]  # not "93 %, more than the 93 % asked for"


def test_too_few_labels_are_in_the_record_and_not_shouted(model, recwarn):
    facts = set_facts(model, 0.999)[1]
    assert not facts["enough"]
    assert facts["sizes"] == {"3": 45}
    assert set_facts(model, 0.95, by_class=True)[1]["unsettled"] == ["b", "c"]  # below 19 each
    assert not recwarn.list


def test_joined_by_bars_a_bar_in_a_name_is_escaped():
    sets = np.array([[True, False, True], [False, True, False]])
    assert joined_sets(sets, np.array(["a|b", "c\\d", 7], dtype=object)) == [r"a\|b|7", r"c\\d"]


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
    split = Holdout(np.array([None, "a"], dtype=object), np.array([0]), np.array(["z", "a"], dtype=object))
    estimate = holdout_estimate(split, np.array(["a", "b"]), np.array([[0.9, 0.1], [1, 0]]))
    assert estimate.accuracy == 0
    assert estimate.confusion()[0] == ["a", "z"]
    said = estimate.predictions(["x", "y"])["x"]
    assert said == {"predicted": "a", "probability": 0.9, "own": 0.0, "suggested": None}


def test_parts_whose_models_know_different_classes_are_joined():
    labels = np.array(["a", "b", "c", "b"], dtype=object)
    one = UnseenPredictions.of(np.array([0, 1]), labels, np.array(["b", "c"]), np.array([[0.6, 0.4], [0.7, 0.3]] * 2))
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
    low, high = exact_interval(50 / factor, 100 / factor)
    assert found.interval == pytest.approx((low, 1 - 0.8 * (1 - high))), "a model of all labels may be better"
    assert found.record()["independent_tests"] == pytest.approx(100 / factor, abs=0.05)
    aside = joined_estimate("holdout", "", [part])
    assert aside.interval == accuracy_interval(50, 100), "one model, whose tests are independent"
    wide, narrow = (one.recall().balanced_interval for one in (found, aside))
    assert wide[0] < narrow[0] < 0.5 < narrow[1] < wide[1]
