"""Whether a row of a ledger holds what it should: any program can write into an sqlite file."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gramme.errors import GrammeWarning

MAX_NAMED = 3
"""Rows left out that are named one by one; of the others only the number is said."""


def sound_rows(
    rows: Iterable[tuple[Any, ...]], columns: Mapping[str, str], path: Path
) -> list[tuple[Any, ...]]:
    """The rows whose values are of their columns' kinds; others are left out with a warning that names them.

    Parameters
    ----------
    rows : iterable of tuple
        The row's id, then a value for each column.
    columns : mapping of str to str
        What sqlite was told about each column: ``"REAL"``, ``"TEXT NOT NULL"`` and so on.
    path : Path
        The file, for the warning.
    """
    sound, problems = [], []
    for number, *values in rows:
        problem = _problem(dict(zip(columns, values, strict=True)), columns)
        if problem is None:
            sound.append(tuple(values))
        else:
            problems.append(f"row {number} ({problem})")
    if problems:
        more = len(problems) - MAX_NAMED
        named = ", ".join(problems[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
        warnings.warn(
            f"{path}: left out, as not written by gramme: {named}", GrammeWarning, stacklevel=3
        )
    return sound


def _problem(row: Mapping[str, Any], columns: Mapping[str, str]) -> str | None:
    for name, value in row.items():
        kind = columns[name].split()[0]
        if value is None:
            if "NOT NULL" in columns[name]:
                return f"no {name}"
            if row["status"] == "done" and name in ("accuracy", "macro_f1"):
                return f"no {name}"
        elif not _FITS[kind](value) or (name in _SHARES and not 0 <= value <= 1):
            return f"{name} is {str(value)[:40]!r}"
    return None


_SHARES = ("accuracy", "peak_accuracy", "macro_f1")
_FITS = {
    "TEXT": lambda value: isinstance(value, str),
    "INTEGER": lambda value: isinstance(value, int) and abs(value) < 2**53,
    "REAL": lambda value: isinstance(value, (int, float)) and math.isfinite(value),
}
