from tests.report.page.graphs import HOSTILE

from gramme.report.page.fit_accuracy import accuracy_section, headline, leading, verdict_told


def section(**estimate):
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
    text = section(**measured())
    assert "<strong>90.0%</strong> right" in text
    assert "80.0% to 95.0%" in text
    assert "expect about 90 to be predicted right" in text
    assert "anything from 80 to 95 is possible" in text


def test_a_rare_class_makes_the_balanced_accuracy_lead():
    recall = {
        "common": {"found": 9, "nodes": 10, "recall": 0.9},
        "rare": {"found": 0, "nodes": 1, "recall": 0.0},
    }
    unequal = measured(unequal_classes=True, balanced_accuracy=0.45, recall=recall)
    assert leading(unequal)[0] == 0.45
    assert leading(unequal)[2] == 0.5  # what a guess reaches with two classes
    assert "<strong>45.0%</strong> balanced accuracy" in headline(unequal)
    assert "rare</bdi> 0 of 1 (0%)" in section(**unequal)
    assert leading(measured())[0] == 0.9


def test_a_model_that_does_not_beat_a_guess_is_told():
    guess = {"class": "<left>", "accuracy": 0.88}
    text = headline(measured(guess=guess, against_guess="unclear"))
    assert "not clearly better than always saying “&lt;left&gt;”" in text
    assert verdict_told(measured(guess=guess, against_guess="better")) == ""
    assert "not measured" in headline({"kind": "none"})


def test_how_it_was_measured():
    assert "set aside before learning" in section(**measured())
    folds = section(**measured(kind="cross-validation", note="5 fits, <b>each</b>"))
    assert "cross-validated estimate from 50 labelled nodes" in folds
    assert "5 fits, &lt;b&gt;each&lt;/b&gt;" in folds
    assert "cross-fitted estimate from 50" in section(**measured(kind="cross-fitting", note="n"))


def test_without_an_estimate_the_reason_and_the_way_out_stand_there():
    text = section(kind="none", note="the training was interrupted")
    assert "No accuracy was measured for this fit (the training was interrupted)" in text
    assert "--holdout 20%" in text


def test_the_confusion_has_a_row_per_class_and_says_how_many_were_found():
    text = section(**measured())
    assert '<td class="right heat7">20</td><td class="wrong heat2">4</td>' in text
    assert '<td class="number">83%</td>' in text


def test_only_the_most_frequent_classes_are_shown():
    many = 40
    counts = [[row if row == column else 0 for column in range(many)] for row in range(many)]
    classes = [f"class {number}" for number in range(many)]
    text = section(**measured(confusion={"classes": classes, "counts": counts}))
    assert "the 25 most frequent of 40 classes" in text
    assert ">class 39<" in text
    assert ">class 3<" not in text


def test_hostile_classes_are_text():
    confusion = {"classes": HOSTILE[:2], "counts": [[1, 0], [0, 1]]}
    assert "<script" not in section(**measured(confusion=confusion))
