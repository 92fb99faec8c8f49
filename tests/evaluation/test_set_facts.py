import json

import numpy as np
import pytest
from tests.methods.graphs import half_known, planted

from gramme.evaluation import cross_validate, hold_out, holdout_estimate
from gramme.evaluation.set_facts import joined_sets, set_facts, unseen_of
from gramme.methods import OneHotLogistic
from gramme.methods.learning_gain import miss_ratio

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
    assert [-1 if label == "z" else "ab".index(label) for label in labels[split.held_out]] == (
        seen.codes.tolist()
    )


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


def test_where_the_most_probable_class_is_right_more_often_than_asked_the_record_says_how_often(
    model,
):
    facts = set_facts(model, 0.5)[1]
    seen = model.out_of_fold()
    right = (seen.probabilities.argmax(axis=1) == seen.codes).mean()
    assert right > 0.5
    missed = [int((one.set_scores() < 1).sum()) for one in (seen, model.out_of_half())]
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
