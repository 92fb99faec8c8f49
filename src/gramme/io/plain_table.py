"""A plain table from a file, one row per person or thing: CSV in its many dialects, TSV, Parquet or Excel.

Cells are text first; ``column_text.py`` finds out whether a column holds numbers, dates or words. Repeated cells are
stored once, so that a million rows of answers stay small.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gramme.errors import DataError, FileFormatError

from .cells import in_nanoseconds, typed_column
from .source import AUTO, MAX_DECLARED_BEYOND_FILE, checked_file, decode, read_bytes, tell
from .spreadsheet import PARQUET, cell_text, read_arrow, sheet_values
from .text import SEPARATORS, check_width, tell_separator, without_comments
from .values import tell_of_labels, unknown_marks

ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".dat", *PARQUET, ".xlsx")


def read_table(
    path: Path,
    *,
    encoding: str = AUTO,
    missing: Iterable[str] = (),
    keep_na: bool = False,
    text: Collection[str] = (),
    label: str | None = None,
) -> pd.DataFrame:
    """The table in a file, its columns typed; which kind of file it is, its name tells.

    Columns of ``text``, names and labels, stay as they are, since 1 and 01 differ in them. What is doubtful about the
    column ``label`` is said.
    """
    ending = path.suffix.lower()
    marks = unknown_marks(missing, keep_na=keep_na)
    if ending in PARQUET:
        arrow_table = read_arrow(path)
        try:
            table = arrow_table.to_pandas()
        except Exception as error:  # pyarrow raises many kinds for dates and times out of range
            raise FileFormatError(f"a column cannot be read: {error}", file=path) from None
    elif ending == ".xlsx":
        table = _excel(path)
    elif ending in ENDINGS:
        return _delimited(path, encoding, marks, text, label)
    else:
        known_endings = ", ".join(ENDINGS)
        raise DataError(f"{path}: the name of a table must end in one of {known_endings}")
    table.columns = _column_names([str(column_name) for column_name in table.columns], path)
    if label in table.columns:
        tell_of_labels(table[label].astype(object).value_counts().to_dict(), marks)
    return pd.DataFrame(
        {
            column_name: _from_values(
                table[column_name], column_name, marks, column_name in text, guess=ending == ".xlsx"
            )
            for column_name in table.columns
        }
    )


def header_of(path: Path, encoding: str = AUTO) -> list[str]:
    """The names of the columns, without making a table of the rows."""
    ending = path.suffix.lower()
    if ending in (*PARQUET, ".xlsx"):
        column_names = _excel(path).columns if ending == ".xlsx" else read_arrow(path).column_names
        return _column_names([str(column_name) for column_name in column_names], path)
    with checked_file(path).open("rb") as file:
        start_text = file.read(1 << 16).rpartition(b"\n")[0]
    return _header(decode(start_text or read_bytes(path), path, encoding), path)[1]


def _delimited(
    path: Path, encoding: str, marks: frozenset[str], text: Collection[str], label: str | None
) -> pd.DataFrame:
    content = without_comments(decode(read_bytes(path), path, encoding), path)
    if "\0" in content:
        raise FileFormatError("this is not a text file: it has bytes of zero", file=path)
    separator, column_names = _header(content, path)
    if len(column_names) > 1:
        tell_separator(path, separator)
    above = _header_lines(content)
    lines = io.StringIO(content, newline="")
    for _ in range(above):
        lines.readline()
    body = lines.read()
    if _has_row_names(body, separator, len(column_names)) and "row" not in column_names:
        tell(f"{path.name}: the first column has no name in the header; called 'row'")
        column_names = ["row", *column_names]
    # marks among the labels are counted before they are left out
    absent: dict[Any, list[str]] = {
        column_index: [""] if column_name == label else ["", *marks]
        for column_index, column_name in enumerate(column_names)
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            table = pd.read_csv(
                io.StringIO(body, newline=""),
                sep=r"\s+" if separator == " " else separator,
                dtype=str,
                header=None,
                names=list(range(len(column_names))),
                index_col=False,
                keep_default_na=False,
                na_values=absent,
                skipinitialspace=True,
                low_memory=False,
            )
    except pd.errors.EmptyDataError:
        table = pd.DataFrame({column_index: [] for column_index in range(len(column_names))})
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError, OverflowError) as error:
        width_match = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if width_match:
            error_text = f"there are {width_match[3]} cells, but the header names {len(column_names)} columns"
            raise FileFormatError(error_text, file=path, line=above + int(width_match[2])) from None
        if isinstance(error, pd.errors.ParserWarning):
            error_text = f"the rows have more cells than the {len(column_names)} columns of the header"
            raise FileFormatError(error_text, file=path) from None
        raise FileFormatError(f"not readable as a table: {error}", file=path) from None
    if not len(table):
        raise FileFormatError("there is a header but no row below it", file=path)
    if label in column_names:
        tell_of_labels(table[column_names.index(label)].value_counts().to_dict(), marks)
    table_columns = {
        column_name: typed_column(
            table[column_index], column_name, marks, as_text=column_name in text, decimal_comma=separator == ";"
        )
        for column_index, column_name in enumerate(column_names)
    }
    return pd.DataFrame(table_columns)


def _has_row_names(body: str, separator: str, columns: int) -> bool:
    """Whether the first rows have one cell more than the header: names of rows, as R writes them."""
    first = _first_rows(body, separator)
    are_distinct = len({row[0] for row in first}) == len(first) > 1
    return columns > 1 and are_distinct and {len(row) for row in first} == {columns + 1}


def _first_rows(body: str, separator: str, most: int = 5) -> list[list[str]]:
    """The first rows that are not blank; with a space for the separator, any number of them stands between cells."""
    lines = (line_text.strip(" ") if separator == " " else line_text for line_text in io.StringIO(body, newline=""))
    try:
        return list(islice(filter(None, csv.reader(lines, delimiter=separator, skipinitialspace=True)), most))
    except csv.Error:
        return []


def _header_lines(content: str) -> int:
    """How many lines the header takes with what stands above it: blank lines, and line ends between quotes."""
    lines = io.StringIO(content, newline="")
    count, inside = 0, False
    for line_text in lines:
        count += 1
        inside ^= line_text.count('"') % 2 == 1
        if not inside and line_text.strip():
            break
    return count


def _header(content: str, path: Path) -> tuple[str, list[str]]:
    """The separator and the names of the columns."""
    lines = io.StringIO(content, newline="")
    start_text = "".join(line_number for _, line_number in zip(range(_header_lines(content)), lines, strict=False))
    start_text = start_text.strip("\r\n")
    if not start_text.strip():
        raise FileFormatError("the file is blank; its first line must be a header", file=path)
    outside = re.sub(r'"[^"]*"', "", start_text)
    separator_counts = {separator_mark: outside.count(separator_mark) for separator_mark in SEPARATORS}
    separator = max(SEPARATORS, key=lambda mark: separator_counts[mark])
    check_width(separator_counts[separator] + 1, path, 1)
    if not separator_counts[separator]:  # R's write.table puts spaces between cells
        head, *table_rows = _first_rows(content, " ", 10) or [[]]
        widths = {len(row_cells) for row_cells in table_rows}
        if len(head) > 1 and (widths == {len(head)} or widths == {len(head) + 1}):
            separator = " "
    try:
        column_names = next(
            csv.reader(io.StringIO(start_text.strip(" "), newline=""), delimiter=separator, skipinitialspace=True)
        )
    except (csv.Error, StopIteration) as error:
        raise FileFormatError(f"the header cannot be read: {error}", file=path, line=1) from None
    return separator, _column_names(column_names, path)


def _column_names(names: Iterable[str], path: Path) -> list[str]:
    """Names without spaces around them, all different; a column without one is called by its place."""
    column_names = [
        column_name.strip() or ("row" if column_index == 0 else f"column {column_index + 1}")
        for column_index, column_name in enumerate(names)
    ]
    check_width(len(column_names), path)
    if len(set(column_names)) < len(column_names):
        double = next(column_name for column_name, times in Counter(column_names).items() if times > 1)
        raise FileFormatError(f"two columns have the name {double!r}; names must differ", file=path)
    return column_names


def _from_values(column: pd.Series, name: str, marks: Collection[str], as_text: bool, *, guess: bool) -> pd.Series:
    """A column that came with types: kept where it is numbers or dates, else treated as text.

    In a spreadsheet text may be numbers that were typed in another way, so there it is looked at (``guess``).
    """
    if column.dtype == object and not as_text:
        inferred = column.infer_objects()
        kinds = pd.api.types.infer_dtype(column, skipna=True)
        if kinds in ("integer", "floating", "mixed-integer-float"):
            inferred = pd.to_numeric(column)
        column = inferred
    kind = column.dtype
    is_number = pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind)
    if is_number and not as_text:
        return column
    if pd.api.types.is_datetime64_any_dtype(kind) and not as_text:
        moments: pd.Series | None = in_nanoseconds(column.dt, name)
        if moments is not None:
            return moments
    texts = [_text(cell_value) for cell_value in column.astype(object)]
    cells = pd.Series(texts, dtype=object, index=column.index)
    return typed_column(cells, name, marks, as_text=as_text or not guess)


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
    """The first sheet that is not empty; the first row with a cell in it has the names."""
    for _, rows in sheet_values(path):
        filled = [row for row in rows if any(cell not in (None, "") for cell in row)]
        if not filled:
            continue
        width = max(place + 1 for row in filled for place, cell in enumerate(row) if cell not in (None, ""))
        if width * len(filled) > MAX_DECLARED_BEYOND_FILE + 50 * sum(map(len, filled)):
            raise FileFormatError("a sheet that is nearly empty; delete the cells far from the others", file=path)
        head, *body = [(*row, *[None] * (width - len(row)))[:width] for row in filled]
        # which text means "not known" is decided later, and alike for all formats
        cells = [[None if cell == "" else cell for cell in row] for row in body]
        return pd.DataFrame(cells, columns=[cell_text(name) for name in head], dtype=object)
    raise FileFormatError("all sheets are empty", file=path)
