"""The sheets of an Excel file as rows of text, with bounds on what a small file may unfold to."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gramme.errors import FileFormatError, import_extra

from .source import MAX_DECLARED_BEYOND_FILE, read_bytes

_MAX_UNPACK_RATIO = 100  # of unpacked to packed bytes; sheets of equal cells reach about 50
_SPARE_BYTES = 20_000_000
_MAX_CELLS_PER_BYTE = 1  # of the unpacked file, where a cell takes some ten

_FIRST_ROUNDED = (
    2**53
)  # the first whole number with a neighbour that a spreadsheet cannot tell from it
_FIRST_BEYOND_IDS = (
    2**64
)  # no program numbers anything so; a measure that large loses nothing that counts

_SHEET = re.compile(r"sheet[^/]*\.xml\Z", re.IGNORECASE)
_FILLED_CELL = re.compile(rb'<c\s(?:[^>/]*\s)?r="([A-Z]{1,3})(\d{1,7})"[^>/]*>')


def read_sheets(path: Path) -> dict[str, list[list[str]]]:
    """The rows of every sheet that is not empty, all of equal length, without blank rows and columns at the edges."""
    openpyxl = import_extra("openpyxl", "excel", "reading an Excel file")
    data = read_bytes(path)
    size = _unpacked_size(data, path)
    found: dict[str, list[list[str]]] = {}
    cells = 0
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        for sheet in book.worksheets:
            rows: list[list[str]] = []
            sheet.reset_dimensions()  # a file may state any; what is there counts
            for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
                cells += len(row) + 1
                if cells > MAX_DECLARED_BEYOND_FILE + _MAX_CELLS_PER_BYTE * size:
                    raise FileFormatError("it has far more cells than it spells out", file=path)
                check_digits(row, f"sheet {sheet.title!r}, row {number}", path)
                rows.append([cell_text(value) for value in row])
            rows = _trimmed(rows)
            if rows:
                found[str(sheet.title)] = rows
    except (MemoryError, FileFormatError):
        raise
    except Exception as error:  # openpyxl raises many kinds for damaged files
        raise FileFormatError(f"no Excel file that can be read: {error}", file=path) from None
    if not found:
        raise FileFormatError("all sheets are empty", file=path)
    return found


def check_digits(row: Sequence[Any], where: str, path: Path) -> None:
    """Refuse whole numbers that Excel has rounded: ids so long may have become one another's."""
    for value in row:
        if isinstance(value, (int, float)) and _FIRST_ROUNDED <= abs(value) < _FIRST_BEYOND_IDS:
            raise FileFormatError(
                f"{where}: the number {value:.0f} is too long for Excel, which keeps 15 digits, so that different ids "
                "may have become the same; write ids as text, or in a CSV file",
                file=path,
            )


def check_extent(data: bytes, path: Path) -> None:
    """Refuse a sheet whose cells lie so far apart that the table between them would fill the memory."""
    size = _unpacked_size(data, path)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            sheets = [archive.read(name) for name in archive.namelist() if _SHEET.search(name)]
    except Exception as error:  # zipfile raises many kinds
        raise FileFormatError(f"no Excel file that can be read: {error}", file=path) from None
    for sheet in sheets:
        width = height = 0
        for column, row in set(_FILLED_CELL.findall(sheet)):
            width, height = max(width, _column_number(column)), max(height, int(row))
        if width * height > MAX_DECLARED_BEYOND_FILE + _MAX_CELLS_PER_BYTE * size:
            raise FileFormatError(
                f"a sheet of {height:,} rows and {width:,} columns that is nearly empty; delete the cells far from the "
                "others",
                file=path,
            )


def _column_number(letters: bytes) -> int:
    """A is 1, Z 26, AA 27."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _unpacked_size(data: bytes, path: Path) -> int:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except Exception as error:  # zipfile raises many kinds too
        raise FileFormatError(f"no Excel file that can be read: {error}", file=path) from None
    if size > _SPARE_BYTES + _MAX_UNPACK_RATIO * len(data):
        raise FileFormatError(f"{len(data)} bytes would unfold to {size}", file=path)
    return size


def cell_text(value: Any) -> str:
    """A cell as a person would write it.

    >>> cell_text(3.0), cell_text(None), cell_text(datetime.datetime(2020, 12, 31))
    ('3', '', '2020-12-31')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime.datetime):
        return str(value.date() if value.time() == datetime.time() else value)
    return str(value)


def _trimmed(rows: list[list[str]]) -> list[list[str]]:
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    if not rows:
        return []
    width = max(max(place + 1 for place, cell in enumerate(row) if cell.strip()) for row in rows)
    if width * len(rows) > MAX_DECLARED_BEYOND_FILE + 50 * sum(map(len, rows)):
        width = max(len(rows[0]), 1)
    return [(row + [""] * width)[:width] for row in rows]
