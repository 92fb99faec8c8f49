import re

import numpy as np
import pytest
from tests.report.page.graphs import HOSTILE, section

from gramme.evaluation.estimate import UnseenPredictions, joined_estimate
from gramme.report.page.fit_facts import leading

accuracy_section, headline = section("fit", "accuracy"), section("fit", "headline")
reliability_told, sets_told = section("fit", "reliability"), section("fit", "sets_told")
verdict_told = section("fit", "verdict")

FIT_PROMISE_HOSTILE = "<script>alert(1)</script>"
FACTS = {
    "coverage": 0.9,
    "expected": 0.9,
    "alone": False,
    "by_class": False,
    "tested": 40,
    "needed": 9,
    "enough": True,
    "unsettled": [],
    "sizes": {"1": 75, "2": 25},
    "undecided": [{"classes": ["left", FIT_PROMISE_HOSTILE], "nodes": 25}],
}
TABLE = {"probability": [0.6, 0.9], "right": [0.4, 0.95], "low": [0.2, 0.8], "high": [0.6, 1.0], "nodes": [20, 20]}


def test_the_promise_the_sizes_and_what_stays_undecided():
    text = sets_told(FACTS)
    assert "<strong>90 %</strong>" in text
    assert "40 labels predicted without having been learned from" in text
    assert '<th scope="row">1 class</th>' in text
    assert '<th scope="row">2 classes</th>' in text
    assert "left</bdi> or " in text
    assert FIT_PROMISE_HOSTILE not in text
    assert "in every class by itself" in sets_told(FACTS | {"by_class": True})
    assert "too few labels to guarantee it in " in sets_told(FACTS | {"unsettled": ["rare"]})


def test_where_one_class_is_right_more_often_than_asked_the_page_says_how_often():
    text = sets_told(FACTS | {"expected": 0.963, "alone": True, "sizes": {"1": 100}, "undecided": []})
    assert "<strong>96 %</strong>, so no set holds a second one" in text
    assert "among them for 90 % of nodes" in text
    assert "does better" not in sets_told(FACTS)


def test_too_few_labels_are_said_and_without_the_wish_there_is_nothing():
    few = sets_told(FACTS | {"enough": False, "tested": 5})
    assert "5 labels are too few" in few
    assert "9 are needed" in few
    assert sets_told(None) == ""
    assert "has a label already" in sets_told(FACTS | {"sizes": {}, "undecided": []})


def test_many_sizes_are_joined():
    text = sets_told(FACTS | {"sizes": {str(size): 10 for size in range(1, 12)}})
    assert '<th scope="row">more</th>' in text
    assert '<td class="number">50</td>' in text


def test_both_stand_in_how_sure():
    estimate = {"kind": "holdout", "accuracy": 0.9, "reliability": TABLE}
    text = accuracy_section({"estimate": estimate, "config": {"sets": FACTS}})
    assert "Can you trust the probabilities?" in text
    assert "Sets of classes" in text
    none = accuracy_section({"estimate": {"kind": "none"}, "config": {"sets": FACTS}})
    assert "Sets of classes" in none


def test_all_labels_right_is_said_of_these_labels_alone():
    told = sets_told(FACTS | {"expected": 1.0, "alone": True, "halved": True})
    assert "it was right for all <strong>" in told
    assert "about" not in told
    assert "how much less this one misses was judged by models of half of the labels" in told
    assert "half of the labels" not in sets_told(FACTS)


def told_of(share: float, right: int, count: int = 60, kind: str = "holdout") -> str:
    """The text of a page whose predictions were all made with one probability."""
    labels = np.where(np.arange(count) % 2, "right", "left").astype(object)
    wrong = np.arange(count) >= right
    sure = np.where((labels == "left") ^ wrong, share, 1 - share)
    shares = np.column_stack([sure, 1 - sure])
    part = UnseenPredictions(np.arange(count), labels.tolist(), ["left", "right"], shares)
    return accuracy_section({"estimate": joined_estimate(kind, "", [part]).record()})


def test_probabilities_that_hold_are_said_to() -> None:
    text = told_of(0.8, 48)
    assert "this model was 80.0 % sure of its predictions on average" in text
    assert "right for 80.0 % of 60 nodes" in text
    assert "no more than chance explains" in text
    assert text.count('class="chart"') == 1


@pytest.mark.parametrize(
    ("share", "right", "verdict", "take"), [(0.95, 40, "too sure", "lower"), (0.6, 58, "not sure enough", "higher")]
)
def test_probabilities_that_do_not_hold_are_said_not_to(share: float, right: int, verdict: str, take: str) -> None:
    text = told_of(share, right, kind="cross-validation")
    off = abs(share - right / 60)
    assert f"<strong>{verdict}</strong>, by {100 * off:.1f} points" in text
    assert f"somewhat {take} than they are" in text
    assert "Models that had not learned from a node’s label" in text


def test_the_point_farthest_from_the_line_is_named_and_the_line_has_no_points() -> None:
    text = reliability_told({"kind": "holdout", "reliability": TABLE})
    assert "given 60 % on average and 40 % were right (20 nodes)" in text
    assert 'class="line c0 dashed"' in text
    assert text.count("<circle") == 2
    assert "80 %</text>" in text, "both axes are in percent"


def test_points_on_the_line_are_not_called_far_from_it() -> None:
    table = {**TABLE, "probability": [0.9999, 1.0], "right": [1.0, 1.0]}
    assert "Farthest" not in reliability_told({"kind": "holdout", "reliability": table})


def test_few_nodes_are_said_to_tell_little_and_one_point_is_not_drawn() -> None:
    text = told_of(0.8, 16, count=20)
    assert "So few nodes say little about single probabilities." in text
    assert 'class="chart"' not in text
    assert "So few nodes" not in reliability_told({"kind": "holdout", "reliability": TABLE | {"nodes": [200, 200]}})


def test_nothing_is_said_without_tested_labels() -> None:
    assert reliability_told({"kind": "none"}) == ""
    empty: dict[str, list[float]] = {name: [] for name in TABLE}
    assert reliability_told({"kind": "holdout", "reliability": empty}) == ""


def test_a_part_that_is_far_off_is_not_hidden_by_a_mean_that_fits() -> None:
    table = {
        "probability": [0.52, 0.56],
        "right": [1.0, 0.07],
        "low": [0.8, 0.01],
        "high": [1.0, 0.3],
        "nodes": [15, 15],
    }
    told = reliability_told({"kind": "holdout", "reliability": table})
    assert "no more than chance explains, but <strong>not everywhere</strong>" in told
    assert "given 56 % on average and 7 % were right (15 nodes, more than chance explains)" in told
    assert "as if all were equally frequent" not in told
    weighed = reliability_told({"kind": "holdout", "reliability": table}, True)
    assert "as if all were equally frequent" in weighed


def told(**estimate):
    return accuracy_section({"estimate": estimate})


def measured(**changes):
    counts = [[20, 4], [1, 25]]
    return {
        "kind": "holdout",
        "accuracy": 0.9,
        "accuracy_ci95": [0.8, 0.95],
        "nodes": 50,
        "confusion": {"classes": ["left", "right"], "counts": counts},
    } | changes


def test_the_number_its_interval_and_what_it_means():
    text = told(**measured())
    assert "<strong>90.0 %</strong> right" in text
    assert "80.0 to 95.0 %" in text
    assert "expect about 90 (80 to 95) to be predicted right; 50 nodes were tested." in text


def test_a_rare_class_makes_the_balanced_accuracy_lead():
    recall = {"common": {"found": 9, "nodes": 10, "recall": 0.9}, "rare": {"found": 0, "nodes": 1, "recall": 0.0}}
    unequal = measured(unequal_classes=True, balanced_accuracy=0.45, recall=recall)
    assert leading(unequal)["value"] == 0.45
    assert leading(unequal)["guess"] == 0.5  # what a guess reaches with two classes
    assert "<strong>45.0 %</strong> balanced accuracy" in headline(unequal)
    assert "rare</bdi>: 0 of 1 (0 %)" in told(**unequal)
    assert leading(measured())["value"] == 0.9


def test_a_model_that_does_not_beat_a_guess_is_told():
    guess = {"class": "<left>", "accuracy": 0.88}
    text = headline(measured(guess=guess, against_guess="unclear"))
    assert "not clearly better than always saying “&lt;left&gt;”" in text
    assert verdict_told(measured(guess=guess, against_guess="better")) == ""
    assert "not measured" in headline({"kind": "none"})


def test_how_it_was_measured():
    assert "set aside before learning" in told(**measured())
    folds = told(**measured(kind="cross-validation", note="5 fits, <b>each</b>"))
    assert "cross-validated estimate from 50 labelled nodes" in folds
    assert "5 fits, &lt;b&gt;each&lt;/b&gt;" in folds
    assert "cross-fitted estimate from 50" in told(**measured(kind="cross-fitting", note="n"))


def test_without_an_estimate_the_reason_and_the_way_out_stand_there():
    text = told(kind="none", note="the training was interrupted")
    assert "No accuracy was measured for this fit (the training was interrupted)" in text
    assert "--holdout 20%" in text


def test_the_confusion_has_a_row_per_class_and_says_how_many_were_found():
    text = told(**measured())
    assert '<td class="right heat7" data-share="83 %">20</td><td class="wrong heat2" data-share="17 %">4</td>' in text
    assert '<td class="number">83 %</td>' in text


def test_many_classes_are_a_list_with_the_worst_first_and_the_ten_worst_confusions():
    many = 40
    counts = [[10 if row == column else 0 for column in range(many)] for row in range(many)]
    counts[7][3], counts[9][3], counts[11] = 4, 2, [0] * many
    classes = [f"class {number}" for number in range(many)]
    text = told(**measured(confusion={"classes": classes, "counts": counts}))
    assert 'class="confusion"' not in text
    assert "All 40 classes" in text
    worst, listed = text.split("All 40 classes")
    rows = re.findall(r"<bdi>class (\d+)</bdi></th><td><bdi>class (\d+)</bdi>", worst)
    assert rows == [("7", "3"), ("9", "3")], "the most frequent confusion first"
    order = re.findall(r'<th scope="row"><bdi>class (\d+)</bdi>', listed)
    assert order[:2] == ["7", "9"]
    assert order[-1] == "11", "last what was not tested"
    assert len(order) == many


def test_classes_that_no_label_tested_are_named():
    recall = {"a": {"found": 4, "nodes": 4, "recall": 1.0}}
    text = accuracy_section({"estimate": measured(recall=recall), "labels": {"classes": ["a", "b", "7"]}})
    assert "2 of 3 classes could not be tested, for lack of labels: <bdi>b</bdi>, <bdi>class 7</bdi>." in text
    assert "could not be tested" not in told(**measured(recall=recall))


def test_hostile_classes_are_text():
    confusion = {"classes": HOSTILE[:2], "counts": [[1, 0], [0, 1]]}
    assert "<script" not in told(**measured(confusion=confusion))
