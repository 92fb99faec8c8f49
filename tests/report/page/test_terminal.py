"""What commands print, with small and with large numbers: singular and plural, and one style of numbers."""

import re

import pytest

from gramme.report.page.html import class_text, macro, sentences, span

ESTIMATE = {
    "kind": "cross-validation",
    "nodes": 1,
    "accuracy": 1.0,
    "accuracy_ci95": [0.025, 1.0],
    "unequal_classes": False,
    "guess": {"class": "a", "accuracy": 0.5},
    "against_guess": "better",
    "note": "each label was predicted out of fold",
}
SETS = {
    "coverage": 0.9,
    "expected": 1.0,
    "alone": True,
    "by_class": False,
    "tested": 1,
    "needed": 9,
    "enough": True,
    "unsettled": ["3"],
    "sizes": {"1": 1},
    "undecided": [{"classes": ["1", "2"], "nodes": 1}],
}
SEEDS = {"names": [["a"]], "reach": {"reach": 1.0, "reach_low": 1.0, "reach_high": 1.0}, "easy": ""}


def fit(count: int) -> dict:
    return {
        "method": "a method",
        "data": "d",
        "nodes": count,
        "training_labels": count,
        "seconds": 0.1,
        "estimate": ESTIMATE | {"nodes": count},
        "sets": SETS | {"tested": count, "sizes": {"1": count}},
    }


SAID = {
    "read": lambda n: sentences("read", n, n, n, n, False) + sentences("read", n, n, 0, n, True),
    "fit": lambda n: sentences("fit", fit(n)),
    "few": lambda n: sentences("sets", SETS | {"enough": False, "tested": n}),
    "untested": lambda n: sentences(
        "accuracy", ESTIMATE | {"recall": {"a": {"nodes": n, "found": n}}}, ["a", *map(str, range(n))]
    ),
    "seeds": lambda n: sentences("seeds", SEEDS | {"names": [["a"]] * n}),
    "label sets": lambda n: sentences(
        "label_sets", {"labels": ["a"] * n, "training_labels": n, "nodes": n, "estimate": {"nodes": 0, "kind": "none"}}
    ),
}


@pytest.mark.parametrize("what", SAID)
def test_one_is_singular_and_many_are_plural(what: str) -> None:
    one, many = " ".join(SAID[what](1)), " ".join(SAID[what](1200))
    assert not re.search(r"\b1 (nodes|rows|layers|labels|classes have|labelled nodes)\b", one), one
    assert not re.search(r"\b1,200 (node|row|layer|label|class)\b", many), many
    assert not re.search(r"(?<![\d,])1200(?!\d)", many), "thousands are separated"
    assert not re.search(r"\d%|% to \d", one + many), "one style of percentages"


def test_none_at_all() -> None:
    assert sentences("read", 0, 0, 0, 0, False) == ["0 nodes, 0 layers; 0 nodes have a label (0 classes), 0 do not"]
    assert sentences("seeds", None) == sentences("ask", None) == sentences("left_out", None) == []


def test_classes_that_are_numbers_are_marked() -> None:
    text = " ".join(sentences("sets", SETS | {"tested": 50, "sizes": {"1": 3, "2": 4}}))
    assert "undecided: class 1 or class 2 1" in text
    assert "in class 3: every set holds that" in text
    assert class_text("7", "node") == "node 7"


def test_intervals_and_changes_have_one_style() -> None:
    assert span((0.72, 0.834)) == "72 to 83 %"
    found = {
        "balanced": False,
        "accuracy": 0.9,
        "layers": [{"layer": "a", "accuracy": 0.8, "change": -0.1, "low": -0.15, "high": 0.0001}],
    }
    assert sentences("left_out", found)[1] == "  a: 80.0 % (−10.0 points, 95 % interval −15.0 to 0.0)"
    page = macro("fit", "left_out", found)
    assert "−15.0 to 0.0" in page
    assert "where it holds 0" in page
