"""A plain table from a file, one row per person or thing: CSV in its many dialects, TSV, Parquet or Excel.

Cells are text first. A column is numbers if every filled cell of it is one, dates if every cell is written like
2024-05-31, and text otherwise. Repeated cells are stored once, so that a million rows of answers stay small.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gramme.errors import DataError, FileFormatError, import_extra
from gramme.io.formats.parquet import read_arrow
from gramme.io.source import AUTO, decode, read_bytes
from gramme.io.unknown import unknown_marks

ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq", ".xlsx")
_SEPARATORS = (",", ";", "\t", "|")
_CODE = re.compile(r"[+-]?0\d")
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?)?Z?\Z")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z")


def read_table(
    path: Path,
    *,
    encoding: str = AUTO,
    missing: Iterable[str] = (),
    keep_na: bool = False,
    text: Collection[str] = (),
) -> pd.DataFrame:
    """The table in a file, its columns typed; which kind of file it is, its name tells.

    Parameters
    ----------
    path : Path
    encoding : str
        Of CSV and TSV files.
    missing : iterable of str
        Further cells that mean "not known", such as "99".
    keep_na : bool, default=False
        Whether NA and the like are values, so that only blank and named cells are not known.
    text : collection of str
        Columns to leave as text: names and labels, in which 1 and 01 differ.
    """
    ending = path.suffix.lower()
    marks = unknown_marks(missing, keep_na=keep_na)
    if ending in (".parquet", ".pq"):
        table = read_arrow(path).to_pandas()
    elif ending == ".xlsx":
        table = _excel(path)
    elif ending in ENDINGS:
        return _delimited(path, encoding, marks, text)
    else:
        known = ", ".join(ENDINGS)
        raise DataError(f"{path}: the name of a table must end in one of {known}")
    table.columns = _column_names([str(name) for name in table.columns], path)
    return pd.DataFrame(
        {name: _from_values(table[name], marks, name in text) for name in table.columns}
    )


def header_of(path: Path, encoding: str = AUTO) -> list[str]:
    """The names of the columns, without reading all of the table."""
    if path.suffix.lower() in (".parquet", ".pq", ".xlsx"):
        return list(read_table(path).columns)
    with path.open("rb") as file:
        head = decode(file.read(1 << 16).rpartition(b"\n")[0] or path.read_bytes(), path, encoding)
    return _header(head, path)[1]


def _delimited(
    path: Path, encoding: str, marks: Collection[str], text: Collection[str]
) -> pd.DataFrame:
    content = decode(read_bytes(path), path, encoding)
    if "\0" in content:
        raise FileFormatError("this is no text file: it has bytes of zero", file=path)
    separator, names = _header(content, path)
    above = _header_lines(content)
    lines = io.StringIO(content, newline="")
    for _ in range(above):
        lines.readline()
    body = lines.read()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(
                io.StringIO(body, newline=""),
                sep=separator,
                dtype=str,
                header=None,
                names=list(range(len(names))),
                index_col=False,
                keep_default_na=False,
                na_values=["", *marks],
                skipinitialspace=True,
                low_memory=False,
            )
    except pd.errors.EmptyDataError:
        table = pd.DataFrame({place: [] for place in range(len(names))})
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError, OverflowError) as error:
        found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if found:
            problem = f"{found[3]} cells stand here, but the header names {len(names)} columns"
            raise FileFormatError(problem, file=path, line=above + int(found[2])) from None
        if isinstance(error, pd.errors.ParserWarning):
            problem = f"the rows have more cells than the {len(names)} columns of the header"
            raise FileFormatError(problem, file=path) from None
        raise FileFormatError(f"not readable as a table: {error}", file=path) from None
    if not len(table):
        raise FileFormatError("there is a header but no row below it", file=path)
    columns = {
        name: _typed(table[place], marks, name in text, decimal_comma=separator == ";")
        for place, name in enumerate(names)
    }
    return pd.DataFrame(columns)


def _header_lines(content: str) -> int:
    """How many lines the header takes with what stands above it: blank lines, and line ends between quotes."""
    lines = io.StringIO(content, newline="")
    count, inside = 0, False
    for line in lines:
        count += 1
        inside ^= line.count('"') % 2 == 1
        if not inside and line.strip():
            break
    return count


def _header(content: str, path: Path) -> tuple[str, list[str]]:
    """The separator and the names of the columns."""
    lines = io.StringIO(content, newline="")
    start = "".join(line for _, line in zip(range(_header_lines(content)), lines, strict=False))
    start = start.strip("\r\n")
    if not start.strip():
        raise FileFormatError("the file is blank; its first line must be a header", file=path)
    outside = re.sub(r'"[^"]*"', "", start)
    counts = {mark: outside.count(mark) for mark in _SEPARATORS}
    separator = max(_SEPARATORS, key=lambda mark: counts[mark])
    try:
        names = next(csv.reader(io.StringIO(start, newline=""), delimiter=separator))
    except (csv.Error, StopIteration) as error:
        raise FileFormatError(f"the header cannot be read: {error}", file=path, line=1) from None
    return separator, _column_names(names, path)


def _column_names(names: Iterable[str], path: Path) -> list[str]:
    """Names without spaces around them, all different; a column without one is called by its place."""
    found = [
        name.strip() or ("row" if place == 0 else f"column {place + 1}")
        for place, name in enumerate(names)
    ]
    double = next((name for name in found if found.count(name) > 1), None)
    if double is not None:
        raise FileFormatError(f"two columns have the name {double!r}; names must differ", file=path)
    return found


def _typed(
    column: pd.Series, marks: Collection[str], as_text: bool, *, decimal_comma: bool = False
) -> pd.Series:
    """Numbers, dates or text from cells of text, by looking at the different ones alone."""
    codes, found = pd.factorize(column)
    cells = [str(cell).strip() for cell in found]
    gaps = np.array([not cell or cell in marks for cell in cells] + [True])
    filled = [cell for cell, gap in zip(cells, gaps, strict=False) if not gap]
    if not as_text and filled:
        numbers = _numbers(cells, filled, decimal_comma)
        if numbers is not None:
            values = np.where(gaps, np.nan, np.append(numbers, np.nan))[codes]
            return pd.Series(values, index=column.index)
        if all(_DATE.match(cell) for cell in filled):
            moments = pd.to_datetime(
                ["" if gap else cell for cell, gap in zip(cells, gaps, strict=False)],
                format="ISO8601",
                errors="coerce",
                utc=True,
            ).tz_localize(None)
            if int(np.asarray(moments.notna()).sum()) == len(filled):
                dates = pd.Series([*moments, pd.NaT]).astype("datetime64[ns]")
                return pd.Series(dates.to_numpy()[codes], index=column.index)
    merged, names = pd.factorize(np.array(cells, dtype=object))
    renumbered = np.append(merged, -1)
    renumbered[gaps] = -1
    return pd.Series(
        pd.Categorical.from_codes(renumbered[codes], pd.Index(names)), index=column.index
    )


def _numbers(cells: list[str], filled: list[str], decimal_comma: bool) -> Any:
    """The cells as numbers, NaN for those that are not filled; None where a filled one is no number."""
    if decimal_comma:
        cells, filled = ([cell.replace(",", ".") for cell in some] for some in (cells, filled))
    if not all(_NUMBER.match(cell) for cell in filled) or any(map(_CODE.match, filled)):
        return None
    numbers = [float(cell) if _NUMBER.match(cell) else np.nan for cell in cells]
    return numbers if np.isfinite([float(cell) for cell in filled]).all() else None


def _from_values(column: pd.Series, marks: Collection[str], as_text: bool) -> pd.Series:
    """A column that came with types: kept where it is numbers or dates, else treated as text."""
    kind = column.dtype
    number = pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind)
    if (number or pd.api.types.is_datetime64_any_dtype(kind)) and not as_text:
        return column
    texts = [_text(value) for value in column.astype(object)]
    return _typed(pd.Series(texts, dtype=object, index=column.index), marks, as_text=True)


def _text(value: Any) -> str | None:
    """A value as the text a person would write for it; None for a missing one."""
    if isinstance(value, (list, dict, np.ndarray)):
        raise DataError("a cell holds a list; a table has one value in a cell")
    if pd.isna(value):
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _excel(path: Path) -> pd.DataFrame:
    import_extra("openpyxl", "excel", "reading an Excel file")
    data = read_bytes(path)
    try:
        return pd.read_excel(io.BytesIO(data), engine="openpyxl")
    except Exception as error:  # openpyxl raises many kinds for damaged files
        raise FileFormatError(f"no Excel file that can be read: {error}", file=path) from None
