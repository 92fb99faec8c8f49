import pytest

from gramme.io.dates import read_dates
from gramme.io.notes import gathered


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
    "cells",
    [["2020-12-31", "31/12/2020"], ["13/13/2020"], ["30/02/2020"], ["1.5", "2.5"], ["soon"]],
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
