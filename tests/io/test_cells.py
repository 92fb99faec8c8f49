"""Columns as people fill them: numbers, dates, codes and marks, each read as it was meant or told to be in doubt."""

import pandas as pd
import pytest

from gramme.io.cells import read_dates, typed_column
from gramme.io.plain_table import read_table
from gramme.io.source import gathered
from gramme.io.values import unknown_marks


@pytest.mark.parametrize(
    "cells",
    [
        ["2020-12-31", "2021-02-01"],
        ["2020-12-31T10:00:00Z", "2021-02-01T00:00:00Z"],
        ["31/12/2020", "01/02/2021"],
        ["31.12.20", "1.2.21"],
        ["12/31/2020", "02/01/2021"],
        ["2020/12/31", "2021/2/1"],
        ["31-12-2020 10:30", "01-02-2021 00:00"],
    ],
)
def test_the_same_days_in_many_ways(cells):
    found = read_dates(cells, "joined")
    assert [str(moment)[:10] for moment in found] == ["2020-12-31", "2021-02-01"]


@pytest.mark.parametrize(
    "cells", [["2020-12-31", "31/12/2020"], ["13/13/2020"], ["30/02/2020"], ["1.5", "2.5"], ["soon"]]
)
def test_what_is_no_column_of_dates(cells):
    assert read_dates(cells, "joined") is None


def test_years_of_two_digits():
    found = read_dates(["31.12.29", "31.12.30"], "born")
    assert [str(moment)[:4] for moment in found] == ["2029", "1930"]


def test_an_order_that_is_only_guessed_is_told():
    with gathered() as notes:
        read_dates(["01/02/2021"], "joined")
        read_dates(["31/01/2021"], "sure")
    assert len(notes.doubts) == 1
    assert "is read as day/month" in notes.doubts[0]


def column(cells, **options):
    with gathered() as notes:
        found = typed_column(pd.Series(cells, dtype=object), "c", unknown_marks(), **options)
    return found.tolist(), notes


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["32 776,50", "1 200", "7"], [32776.5, 1200, 7]),
        (["32\u202f776,50", "1\u00a0200"], [32776.5, 1200]),
        (["1.234.567,8", "2,5"], [1234567.8, 2.5]),
        (["1,234", "12,500"], [1234, 12500]),
        (["1,234.5", "-2"], [1234.5, -2]),
        (["1'234.5", "2"], [1234.5, 2]),
        (["12 %", "3.5%"], [12, 3.5]),
        (["€ 1.200,50", "7 €"], [1200.5, 7]),
    ],
)
def test_numbers_with_separators(cells, numbers):
    found, notes = column(cells)
    assert found == numbers
    assert "are numbers" in notes.all[0]


def test_plain_numbers_need_no_word():
    assert column(["1", "2.5", "-3e2"])[1].all == []


def test_decimal_commas_are_said():
    found, notes = column(["1,5", "2"], decimal_comma=True)
    assert found == [1.5, 2]
    assert notes.all == ["numbers are read with decimal commas: 3,5 is 3.5"]
    assert notes.doubts == []


@pytest.mark.parametrize("cells", [["01067", "99999"], ["1,23,4", "2"], ["1 23", "2"], ["1e999"]])
def test_codes_and_the_like_stay_text(cells):
    assert column(cells)[0] == cells


@pytest.mark.parametrize(
    ("cells", "first", "doubt"),
    [
        (["31/12/2020", "01/02/2021"], "2020-12-31", False),
        (["12/31/2020", "01/02/2021"], "2020-12-31", False),
        (["01/02/2021"], "2021-02-01", True),
        (["1.2.21", "3.2.99"], "2021-02-01", False),
        (["2020/12/31"], "2020-12-31", False),
        (["31.12.2020 14:30"], "2020-12-31", False),
        (["2020-12-31T14:30:00Z"], "2020-12-31", False),
    ],
)
def test_dates(cells, first, doubt):
    found, notes = column(cells)
    assert str(found[0].date()) == first
    assert bool(notes.doubts) == doubt


@pytest.mark.parametrize("cells", [["31/12/2020", "12/31/2020"], ["31/02/2020"], ["1.2.3"]])
def test_what_is_no_date(cells):
    assert column(cells)[0] == cells


def test_words_among_numbers_are_told_with_the_option_to_add():
    ages = [str(18 + row % 60) for row in range(97)] + ["NSP"] * 3
    found, notes = column(ages)
    assert found[-1] == "NSP"
    assert notes.doubts == [
        "97 % of 'c' are numbers, so its values are taken for categories; if the others mean 'not known', "
        "add missing=['NSP']"
    ]
    with gathered() as notes:
        typed = typed_column(pd.Series(ages), "c", unknown_marks(["NSP"]))
    assert typed.isna().sum() == 3
    assert typed.dtype == float
    assert notes.all == []


def test_spaces_and_capitals_are_told():
    found, notes = column(["Ulm", "Ulm ", "ulm"])
    assert found == ["Ulm", "Ulm", "ulm"]
    assert notes.all == [
        "'c': 'Ulm ' and 'Ulm' are taken for the same",
        "'c': 'Ulm' and 'ulm' differ in capitals alone and stay two values",
    ]


def test_text_codes_of_excel_stay_text(tmp_path):
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame({"plz": ["01067", "10115"], "n": [1, 2.5], "paid": ["1.200,50", "3"]})
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    table = read_table(tmp_path / "t.xlsx")
    assert table["plz"].tolist() == ["01067", "10115"]
    assert table["n"].tolist() == [1, 2.5]
    assert table["paid"].tolist() == [1200.5, 3]
