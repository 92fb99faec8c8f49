from gramme.report.page.fit_accuracy import accuracy_section
from gramme.report.page.fit_promise import sets_told

HOSTILE = "<script>alert(1)</script>"
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
    "undecided": [{"classes": ["left", HOSTILE], "nodes": 25}],
}
TABLE = {
    "probability": [0.6, 0.9],
    "right": [0.4, 0.95],
    "low": [0.2, 0.8],
    "high": [0.6, 1.0],
    "nodes": [20, 20],
}


def test_the_promise_the_sizes_and_what_stays_undecided():
    text = sets_told(FACTS)
    assert "<strong>90 %</strong>" in text
    assert "40 labels that were predicted without having been learned from" in text
    assert '<th scope="row">1 class</th>' in text
    assert '<th scope="row">2 classes</th>' in text
    assert "left</bdi> or " in text
    assert HOSTILE not in text
    assert "in every class by itself" in sets_told(FACTS | {"by_class": True})
    assert "too few labels to promise it in " in sets_told(FACTS | {"unsettled": ["rare"]})


def test_where_one_class_is_right_more_often_than_asked_the_page_says_how_often():
    text = sets_told(
        FACTS | {"expected": 0.963, "alone": True, "sizes": {"1": 100}, "undecided": []}
    )
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
    assert "taken at their word" in text
    assert "Sets of classes" in text
    none = accuracy_section({"estimate": {"kind": "none"}, "config": {"sets": FACTS}})
    assert "Sets of classes" in none


def test_all_labels_right_is_said_of_these_labels_alone():
    told = sets_told(FACTS | {"expected": 1.0, "alone": True, "halved": True})
    assert "it was right for all <strong>" in told
    assert "about" not in told
    assert "how much less this one misses was judged by models of half of the labels" in told
    assert "half of the labels" not in sets_told(FACTS)
