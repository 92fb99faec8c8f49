"""The number columns of a table as features of its rows: the numbers themselves, beside the groups they are cut into.

What is learned from the first table, the median that fills gaps and whether a gap is worth a column of its own, serves
every later table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.graph.columns import as_numbers

MAX_NUMBER = 1e100
"""The largest number, whatever its sign, that is kept as a feature; squares of larger ones overflow."""
YEAR_NANOSECONDS = 365.2425 * 86_400e9


@dataclass(frozen=True)
class NumberColumn:
    """How a number column becomes a feature."""

    fill: float  # stands where a value is missing: the median of the first table
    gaps: bool  # whether the first table had gaps; then a further feature says where

    def is_whole(self) -> bool:
        """Whether both parts are of the kinds they should be; a record from a file may hold anything."""
        fill: Any = self.fill
        number = isinstance(fill, (int, float)) and not isinstance(fill, bool)
        return number and bool(np.isfinite(fill)) and isinstance(self.gaps, bool)


def number_columns(table: pd.DataFrame, columns: Iterable[Any]) -> dict[Any, NumberColumn]:
    """The columns that are numbers or dates, with more than two different values: two say no more than two groups."""
    found = {}
    for column in columns:
        numbers = _numbers(table[column])
        if numbers is None:
            continue
        known = numbers[~np.isnan(numbers)]
        if pd.unique(known).size > 2 and np.abs(known).max() <= MAX_NUMBER:
            found[column] = NumberColumn(float(np.median(known)), known.size < numbers.size)
    return found


def number_features(
    table: pd.DataFrame, columns: Mapping[Any, NumberColumn]
) -> tuple[NDArray[np.float64] | None, tuple[str, ...] | None]:
    """The features of a table's rows and their names; None where there are no number columns."""
    parts: dict[str, NDArray[np.float64]] = {}
    for column, plan in columns.items():
        numbers = _numbers(table[column])
        if numbers is None:
            if table[column].notna().any():
                raise DataError(f"column {column!r}: these are no numbers, as they were in the fit")
            numbers = np.full(len(table), np.nan)
        missing = np.isnan(numbers)
        filled = np.where(missing, plan.fill, numbers)
        parts[str(column)] = np.clip(filled, -MAX_NUMBER, MAX_NUMBER)
        if plan.gaps:
            parts.setdefault(f"{column} is missing", missing.astype(np.float64))
    if not parts:
        return None, None
    return np.column_stack(list(parts.values())), tuple(parts)


def _numbers(column: pd.Series) -> NDArray[np.float64] | None:
    """The numbers of a column, dates in years; None for anything else."""
    numbers, show = as_numbers(column, required=False)
    if numbers is None or pd.api.types.is_complex_dtype(column.dtype):
        return None
    return numbers if show is None else 1970 + numbers / YEAR_NANOSECONDS
