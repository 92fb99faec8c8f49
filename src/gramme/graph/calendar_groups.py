"""Dates as groups of the calendar: rows of the same decade, year, month or day of the week are alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.errors import DataError, did_you_mean

UNITS = ("decade", "year", "month", "weekday")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MAX_CALENDAR_GROUPS = 20


def calendar_groups(nanoseconds: NDArray[np.float64], unit: str) -> tuple[NDArray[Any], list[str]]:
    """The group of each moment, -1 for NaN, and the groups' names in order.

    >>> moments = pd.to_datetime(["2020-12-31", "2021-01-01"]).as_unit("ns").asi8.astype(float)
    >>> calendar_groups(moments, "month")[1], calendar_groups(moments, "weekday")[1]
    (['2020-12', '2021-01'], ['Thursday', 'Friday'])
    """
    if unit not in UNITS:
        raise DataError(
            f"dates are grouped by decade, year, month or weekday; {did_you_mean(str(unit), UNITS)}"
        )
    known = ~np.isnan(nanoseconds)
    moments = pd.DatetimeIndex(nanoseconds[known].astype(np.int64))
    number, show = _numbered(moments, unit)
    different, found = np.unique(number.to_numpy(), return_inverse=True)
    codes = np.full(nanoseconds.size, -1, dtype=np.int64)
    codes[known] = found
    return codes, [show(int(value)) for value in different]


def _numbered(moments: pd.DatetimeIndex, unit: str) -> tuple[pd.Index, Callable[[int], str]]:
    """Each moment's group as a number, and how to name one."""
    if unit == "decade":
        return moments.year // 10, lambda number: f"{number}0s"
    if unit == "year":
        return moments.year, str
    if unit == "month":
        return moments.year * 12 + moments.month - 1, _month
    return moments.day_of_week, lambda day: _WEEKDAYS[day]


def usual_unit(nanoseconds: NDArray[np.float64]) -> str | None:
    """The first of year, decade and month that makes more than two groups and not too many; None if none does."""
    for unit in ("year", "decade", "month"):
        if 2 < len(calendar_groups(nanoseconds, unit)[1]) <= MAX_CALENDAR_GROUPS:
            return unit
    return None


def _month(number: int) -> str:
    return f"{number // 12:04d}-{number % 12 + 1:02d}"
