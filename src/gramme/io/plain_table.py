"""A plain table from a file, one row per person or thing: CSV in its many dialects, TSV, Parquet or Excel.

Cells are text first; ``column_text.py`` finds out whether a column holds numbers, dates or words. Repeated cells are
stored once, so that a million rows of answers stay small.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gramme.errors import DataError, FileFormatError

from .cells import in_nanoseconds, typed_column
from .source import AUTO, MAX_DECLARED_BEYOND_FILE, checked_file, decode, numbered_lines, read_bytes, tell
from .spreadsheet import PARQUET, cell_text, read_arrow, sheet_values
from .text import SEPARATORS, cells, check_width, quoted_fields, tell_separator, without_comments
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
        start_bytes = file.read(1 << 16).rpartition(b"\n")[0]
    return plain_rows(decode(start_bytes or read_bytes(path), path, encoding), path)[1]


def _delimited(
    path: Path, encoding: str, marks: frozenset[str], text: Collection[str], label: str | None
) -> pd.DataFrame:
    content = without_comments(decode(read_bytes(path), path, encoding), path)
    if "\0" in content:
        raise FileFormatError("this is not a text file: it has bytes of zero", file=path)
    separator, column_names, lines = plain_rows(content, path)
    if len(column_names) > 1:
        tell_separator(path, separator)
    numbered_rows = list(lines)
    if not numbered_rows:
        raise FileFormatError("there is a header but no row below it", file=path)
    widths = {len(row_cells) for _, row_cells in numbered_rows}
    distinct_starts = {row_cells[0] for _, row_cells in numbered_rows}
    named = len(distinct_starts) == len(numbered_rows) and len(column_names) > 1 and "row" not in column_names
    if widths == {len(column_names) + 1} and named:  # names of rows, as R writes them
        tell(f"{path.name}: the first column has no name in the header; called 'row'")
        column_names = ["row", *column_names]
    for line_number, row_cells in numbered_rows if widths != {len(column_names)} else ():
        if len(row_cells) > len(column_names):
            error_text = f"there are {len(row_cells)} cells, but the header names {len(column_names)} columns"
            raise FileFormatError(error_text, file=path, line=line_number)
        if len(row_cells) < len(column_names):
            tell(f"{path.name}: rows with fewer cells than the header lack the last ones", doubt=True)
            row_cells += [""] * (len(column_names) - len(row_cells))
    columns = dict(zip(column_names, zip(*(row_cells for _, row_cells in numbered_rows), strict=True), strict=True))
    if label in columns:
        tell_of_labels(Counter(columns[label]), marks)
    return pd.DataFrame(
        {
            column_name: typed_column(
                pd.Series(column_cells, dtype=object),
                column_name,
                marks,
                as_text=column_name in text,
                decimal_comma=separator == ";",
            )
            for column_name, column_cells in columns.items()
        }
    )


def plain_rows(content: str, path: Path) -> tuple[str, list[str], Iterator[tuple[int, list[str]]]]:
    """The separator, the names of the columns, and the rows below with their lines."""
    outside = re.sub(r'"[^"]*"', "", content).lstrip("\r\n \t").partition("\n")[0]
    separator = max(SEPARATORS, key=outside.count)
    if separator not in outside:  # R's write.table puts spaces between cells
        head, *below = [quoted_fields(line_text) for _, line_text in islice(numbered_lines(content), 10)] or [[]]
        widths = {len(row_cells) for row_cells in below}
        if len(head) > 1 and widths in ({len(head)}, {len(head) + 1}):
            separator = " "
    rows = cells(content, separator, path)
    if separator == " ":
        rows = ((line_number, quoted_fields(line_text)) for line_number, line_text in numbered_lines(content))
    header = next(rows, None)
    if header is None:
        raise FileFormatError("the file is blank; its first line must be a header", file=path)
    return separator, _column_names(header[1], path), rows


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
