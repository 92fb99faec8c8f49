import pytest

from gramme.errors import DataError
from gramme.graph.number_labels import amounts, settled_labels

AGES = {f"person {age}": str(age) for age in range(18, 60)}


def test_what_counts_as_an_amount():
    assert amounts(range(18, 60)) == 42
    assert amounts(map(str, range(18, 60))) == 42
    assert amounts(map(str, range(18, 60)), text=False) == 0
    assert amounts([1, 2, 3]) == 0  # few numbers may be classes
    assert amounts([*range(1, 51)] * 2) == 0  # 1, 2, ..., k that repeat are codes
    assert amounts([*range(30), "x"]) == 0


def test_amounts_are_refused_unless_something_is_said():
    with pytest.raises(DataError, match="numbers with 42 different values on 42 nodes"):
        settled_labels(AGES)
    assert settled_labels(AGES, "class") == AGES
    assert settled_labels(AGES, "number")["person 18"] == 18.0


def test_amounts_are_cut():
    assert len(set(settled_labels(AGES, bins=3).values())) == 3
    cut = settled_labels(AGES, edges=[30])
    assert (cut["person 29"], cut["person 30"]) == ("below 30", "30 and above")


def test_what_cannot_be_said_or_cut():
    with pytest.raises(DataError, match="'class' or 'number', not 'clas'"):
        settled_labels(AGES, "clas")
    with pytest.raises(DataError, match="say one of"):
        settled_labels(AGES, "class", bins=3)
    with pytest.raises(DataError, match="the label 'old' of 'Ann' is not a number"):
        settled_labels({"Ann": "old"}, bins=2)
