"""What a column of text cells holds: numbers in the ways people write them, dates, codes, or words.

Only distinct cells are looked at, so a million rows of answers cost little. What is not beyond doubt is told to the
report of the reading, with the option that settles it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme._text import setting

from .source import tell

# Dates as people write them: 2020-12-31, 31/12/2020, 31.12.20, 12/31/2020, with or without a time.
_ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?Z?\Z")
_TIME = r"(?:[T ,]+\d{1,2}:\d\d(?::\d\d)?)?"
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([./-])(\d{{1,2}})\2(\d{{4}}|\d\d){_TIME}\Z")
_YEAR_FIRST = re.compile(rf"(\d{{4}})([./])(\d{{1,2}})\2(\d{{1,2}}){_TIME}\Z")


def read_dates(cells: Sequence[str], name: str) -> NDArray[np.datetime64] | None:
    """The cells as moments; None where one of them is not a date, or they are not all written in one way."""
    if all(map(_ISO.match, cells)):
        moments = pd.to_datetime(list(cells), format="ISO8601", errors="coerce", utc=True)
        plain = in_nanoseconds(moments.tz_localize(None), name)
        return None if plain is None or moments.isna().any() else plain.to_numpy()
    parts = _parts(cells, name)
    if parts is None:
        return None
    years, months, days = parts
    parsed_dates = pd.to_datetime(pd.DataFrame({"year": years, "month": months, "day": days}), errors="coerce")
    exact = in_nanoseconds(parsed_dates.dt, name)
    return None if exact is None or parsed_dates.isna().any() else exact.to_numpy()


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
    first = [_YEAR_FIRST.match(cell_content) for cell_content in cells]
    if all(first):
        numbers = [(int(one[1]), int(one[3]), int(one[4])) for one in first if one]
        return [n[0] for n in numbers], [n[1] for n in numbers], [n[2] for n in numbers]
    last = [one for cell_content in cells if (one := _YEAR_LAST.match(cell_content))]
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
        # two-digit years below it are of this century
        year += 2000 if year < 30 else 1900
    return year


_CODE = re.compile(r"[+-]?0\d")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z")
_GAP = "[ '\u2019\u00a0\u202f\u2009]"
# 1.234.567,50 or 1 234 567,50 as most of Europe writes it; 1,234,567.50 as English does.
_COMMA_DECIMALS = re.compile(rf"[+-]?(\d{{1,3}}(?:(?:{_GAP}|\.)\d{{3}})+|\d+)(,\d+)?\Z")
_POINT_DECIMALS = re.compile(rf"[+-]?(\d{{1,3}}(?:(?:{_GAP}|,)\d{{3}})+|\d+)(\.\d+)?\Z")
_UNIT = re.compile(r"\A(?:[$€£]\s*)?(.*?)(?:\s*[%$€£])?\Z", re.DOTALL)
MAX_NUMBER_LENGTH = 100
"""Characters up to which a cell may be a number; longer text is not looked at."""


def typed_column(
    column: pd.Series, name: str, marks: Collection[str], *, as_text: bool = False, decimal_comma: bool = False
) -> pd.Series:
    """Numbers, dates or categories from cells of text."""
    cell_codes, distinct_cells = pd.factorize(column)
    raw = [str(cell_content) for cell_content in distinct_cells]
    cells = [cell_content.strip() for cell_content in raw]
    gaps = np.array([not cell_content or cell_content in marks for cell_content in cells] + [True])
    filled = [cell_content for cell_content, gap in zip(cells, gaps, strict=False) if not gap]
    if not as_text and filled:
        numbers: NDArray[Any] | None = _numbers(filled, name, decimal_comma=decimal_comma)
        column_values: NDArray[Any] | None = None
        if numbers is not None:
            column_values = np.full(gaps.size, np.nan)
        else:
            numbers = read_dates(filled, name)
            if numbers is not None:
                column_values = np.full(gaps.size, np.datetime64("NaT"), dtype="datetime64[ns]")
        if column_values is not None:
            column_values[~gaps] = numbers
            return pd.Series(column_values[cell_codes], index=column.index)
        _tell_of_odd_cells(cells, gaps, cell_codes, name)
    _tell_of_spaces(raw, gaps, name)
    merged, category_names = pd.factorize(np.array(cells, dtype=object))
    renumbered = np.append(merged, -1)
    renumbered[gaps] = -1
    return pd.Series(pd.Categorical.from_codes(renumbered[cell_codes], pd.Index(category_names)), index=column.index)


def _numbers(filled: Sequence[str], name: str, *, decimal_comma: bool) -> NDArray[np.float64] | None:
    """The cells as numbers; None where one of them is none, or a code with a zero in front."""
    if max(map(len, filled)) > MAX_NUMBER_LENGTH or any(map(_CODE.match, filled)):
        return None
    if all(map(_NUMBER.match, filled)):
        pointed = [cell_content for cell_content in filled if "." in cell_content] if decimal_comma else []
        if pointed and all(
            _COMMA_DECIMALS.match(cell_content) and not cell_content.startswith("0") for cell_content in pointed
        ):
            # where numbers have decimal commas a point may part thousands
            meant = pointed[0].replace(".", "")
            tell(
                f"{name!r}: cells like {pointed[0]!r} are read with a decimal point; if that is {meant}, write it so",
                doubt=True,
            )
        return _finite(filled)
    if decimal_comma:
        pointed = [cell_content.replace(",", ".") for cell_content in filled]
        if all(map(_NUMBER.match, pointed)):
            tell("numbers are read with decimal commas: 3,5 is 3.5")  # once for all columns
            return _finite(pointed)
    bare = [(_UNIT.match(cell_content) or ["", cell_content])[1] for cell_content in filled]
    for comma in (True, False) if decimal_comma else (False, True):
        pattern = _COMMA_DECIMALS if comma else _POINT_DECIMALS
        if not all(map(pattern.match, bare)):
            continue
        thousands = _GAP + (r"|\." if comma else "|,")
        plain = [re.sub(thousands, "", cell_content).replace(",", ".") for cell_content in bare]
        example_cell = max(filled, key=lambda cell: len(re.sub(r"[\d+-]", "", cell)))
        read_as = plain[list(filled).index(example_cell)]
        tell(f"{name!r}: cells like {example_cell!r} are numbers ({read_as})", doubt=comma != decimal_comma)
        return _finite(plain)
    return None


def _finite(cells: Sequence[str]) -> NDArray[np.float64] | None:
    numbers = np.array([float(cell_content) for cell_content in cells])
    return numbers if np.isfinite(numbers).all() else None


def _tell_of_odd_cells(cells: Sequence[str], gaps: NDArray[np.bool_], codes: NDArray[Any], name: str) -> None:
    """A column of numbers with a few words in it: the words may mean "not known"."""
    cell_counts = np.bincount(codes[codes >= 0], minlength=len(cells))
    number = np.array([_looks_like_number(cell_content) for cell_content in cells])
    filled = ~gaps[: len(cells)]
    total, share = cell_counts[filled].sum(), 0.0
    if total:
        share = cell_counts[filled & number].sum() / total
    odd = [cells[column_index] for column_index in np.flatnonzero(filled & ~number).tolist()]
    # The share of numbers from which on the rest of a column looks like marks for "not known".
    if 0.8 <= share < 1 and len(odd) <= 5:
        tell(
            f"{int(100 * share)} % of {name!r} are numbers, so its values are taken for categories; "
            f"if the others mean 'not known', add {setting('missing', odd)}",
            doubt=True,
        )


def _looks_like_number(cell: str) -> bool:
    if len(cell) > MAX_NUMBER_LENGTH or _CODE.match(cell):
        return False
    bare = (_UNIT.match(cell) or ["", cell])[1]
    patterns = (_NUMBER, _COMMA_DECIMALS, _POINT_DECIMALS)
    return any(pattern.match(bare) for pattern in patterns)


def _tell_of_spaces(raw: Sequence[str], gaps: NDArray[np.bool_], name: str) -> None:
    """Cells that are the same but for spaces around them are one value; that is worth a word."""
    filled_cells = {cell for cell, gap in zip(raw, gaps, strict=False) if not gap}
    spaced = [cell for cell in filled_cells if cell != cell.strip() and cell.strip() in filled_cells]
    if spaced:
        first = min(spaced)
        tell(f"{name!r}: {first!r} and {first.strip()!r} are taken for the same")
    lower: dict[str, str] = {}
    for cell_content in sorted(cell.strip() for cell in filled_cells):
        other = lower.setdefault(cell_content.casefold(), cell_content)
        if other != cell_content:
            tell(f"{name!r}: {other!r} and {cell_content!r} differ in capitals alone and stay two values")
            break
