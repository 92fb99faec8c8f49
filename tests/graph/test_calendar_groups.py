import numpy as np
import pandas as pd
import pytest

from gramme.errors import DataError
from gramme.graph.calendar_groups import calendar_groups, usual_unit


def moments(*texts):
    dates = pd.to_datetime(list(texts)).as_unit("ns")
    return np.where(dates.isna(), np.nan, dates.asi8.astype(float))


@pytest.mark.parametrize(
    ("unit", "names", "codes"),
    [
        ("decade", ["2010s", "2020s"], [1, 0, -1, 1]),
        ("year", ["2019", "2020"], [1, 0, -1, 1]),
        ("month", ["2019-01", "2020-01", "2020-12"], [2, 0, -1, 1]),
        ("weekday", ["Tuesday", "Wednesday", "Thursday"], [2, 0, -1, 1]),
    ],
)
def test_groups_of_the_calendar(unit, names, codes):
    found = calendar_groups(moments("2020-12-31", "2019-01-01", None, "2020-01-01"), unit)
    assert found[1] == names
    assert found[0].tolist() == codes


def test_an_unknown_unit():
    with pytest.raises(DataError, match="did you mean 'month'"):
        calendar_groups(moments("2020-01-01"), "moth")


def test_the_unit_that_makes_some_groups():
    assert usual_unit(moments("2018-01-01", "2019-01-01", "2020-01-01")) == "year"
    assert usual_unit(moments(*(f"{1970 + n}-05-01" for n in range(32)))) == "decade"
    assert usual_unit(moments("2020-01-01", "2020-02-01", "2020-03-01")) == "month"
    assert usual_unit(moments("2020-01-01", "2020-01-02", "2020-01-03")) is None
