"""Dates as people write them: 2020-12-31, 31/12/2020, 31.12.20, 12/31/2020, with or without a time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme._wording import setting
from gramme.io.notes import tell

_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?Z?\Z")
_TIME = r"(?:[T ,]+\d{1,2}:\d\d(?::\d\d)?)?"
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([./-])(\d{{1,2}})\2(\d{{4}}|\d\d){_TIME}\Z")
_YEAR_FIRST = re.compile(rf"(\d{{4}})([./])(\d{{1,2}})\2(\d{{1,2}}){_TIME}\Z")
_CENTURY_PIVOT = 30  # two-digit years below it are of this century


def read_dates(cells: Sequence[str], name: str) -> NDArray[np.datetime64] | None:
    """The cells as moments; None where one of them is not a date, or they are not all written in one way.

    >>> read_dates(["31/12/2020", "01/02/2021"], "joined").astype(str).tolist()[1][:10]
    '2021-02-01'
    """
    if all(map(_ISO.match, cells)):
        moments = pd.to_datetime(list(cells), format="ISO8601", errors="coerce", utc=True)
        plain = in_nanoseconds(moments.tz_localize(None), name)
        return None if plain is None or moments.isna().any() else plain.to_numpy()
    parts = _parts(cells, name)
    if parts is None:
        return None
    years, months, days = parts
    found = pd.to_datetime(
        pd.DataFrame({"year": years, "month": months, "day": days}), errors="coerce"
    )
    exact = in_nanoseconds(found.dt, name)
    return None if exact is None or found.isna().any() else exact.to_numpy()


def in_nanoseconds(moments: Any, name: str) -> Any:
    """Moments in the unit that all of them share; None, with a word, where some are beyond what it can count.

    ``moments`` is an index of dates, or what ``.dt`` gives of a column. Such dates mostly mean "never" or "not known".
    """
    try:
        return moments.as_unit("ns")
    except pd.errors.OutOfBoundsDatetime:
        tell(
            f"{name!r}: some dates are before 1678 or after 2261, so its values are taken for categories; if such a "
            f"date means 'not known', add {setting('missing', ['9999-12-31'])}",
            doubt=True,
        )
        return None


def _parts(cells: Sequence[str], name: str) -> tuple[list[int], list[int], list[int]] | None:
    """Years, months and days."""
    first = [_YEAR_FIRST.match(cell) for cell in cells]
    if all(first):
        numbers = [(int(one[1]), int(one[3]), int(one[4])) for one in first if one]
        return [n[0] for n in numbers], [n[1] for n in numbers], [n[2] for n in numbers]
    last = [one for cell in cells if (one := _YEAR_LAST.match(cell))]
    if len(last) < len(cells):
        return None
    left, right = [int(one[1]) for one in last], [int(one[3]) for one in last]
    years = [_year(one[4]) for one in last]
    if max(left) > 12 and max(right) > 12:
        return None
    if max(right) > 12:
        return years, left, right
    if max(left) <= 12 and last[0][2] == "/":
        tell(
            f"{name!r}: {cells[0]!r} is read as day/month; if it is month/day, write the dates like 2020-12-31",
            doubt=True,
        )
    return years, right, left


def _year(text: str) -> int:
    year = int(text)
    if len(text) == 2:
        year += 2000 if year < _CENTURY_PIVOT else 1900
    return year
