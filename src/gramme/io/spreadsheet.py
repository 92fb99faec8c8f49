"""The sheets of an Excel file as rows of text, with bounds on what a small file may unfold to."""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gramme.errors import FileFormatError, import_extra

from .source import MAX_DECLARED_BEYOND_FILE, read_bytes

_MAX_UNPACK_RATIO = 100  # of unpacked to packed bytes; sheets of equal cells reach about 50
_SPARE_BYTES = 20_000_000
_MAX_TAGS_PER_BYTE = (
    10  # of the packed file: each costs the reader time, a cell format of five letters as much as a cell
)
_SPARE_TAGS = 500_000
_MAX_CELLS_PER_BYTE = 1  # of the unpacked file, where a cell takes some ten

_FIRST_ROUNDED = 2**53  # the first whole number with a neighbour that a spreadsheet cannot tell from it
_FIRST_BEYOND_IDS = 2**64  # no program numbers anything so; a measure that large loses nothing that counts


def read_sheets(path: Path) -> dict[str, list[list[str]]]:
    """The rows of every sheet that is not empty, all of equal length, without blank rows and columns at the edges."""
    found: dict[str, list[list[str]]] = {}
    for title, rows in sheet_values(path):
        texts = _trimmed([[cell_text(value) for value in row] for row in rows])
        if texts:
            found[title] = texts
    if not found:
        raise FileFormatError("all sheets are empty", file=path)
    return found


def sheet_values(path: Path) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    """The name and the rows of each sheet, with the values as they are; rows may differ in length."""
    openpyxl = import_extra("openpyxl", "excel", "reading an Excel file")
    data = read_bytes(path)
    size = _unpacked_size(data, path)
    cells = 0
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        for sheet in book.worksheets:
            rows: list[tuple[Any, ...]] = []
            sheet.reset_dimensions()  # a file may state any; what is there counts
            for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
                cells += len(row) + 1
                if cells > MAX_DECLARED_BEYOND_FILE + _MAX_CELLS_PER_BYTE * size:
                    raise FileFormatError(
                        "it has far more cells than it spells out; delete those far from the others", file=path
                    )
                _check_digits(row, f"sheet {sheet.title!r}, row {number}", path)
                rows.append(row)
            yield str(sheet.title), rows
    except (MemoryError, FileFormatError):
        raise
    except Exception as error:  # openpyxl raises many kinds for damaged files
        raise FileFormatError(f"no Excel file that can be read: {error}", file=path) from None


def _check_digits(row: Sequence[Any], where: str, path: Path) -> None:
    """Refuse whole numbers that Excel has rounded: ids so long may have become one another's."""
    for value in row:
        if isinstance(value, (int, float)) and _FIRST_ROUNDED <= abs(value) < _FIRST_BEYOND_IDS:
            raise FileFormatError(
                f"{where}: the number {value:.0f} is too long for Excel, which keeps 15 digits, so that different ids "
                "may have become the same; write ids as text, or in a CSV file",
                file=path,
            )


def _unpacked_size(data: bytes, path: Path) -> int:
    """The bytes of all parts, which a small file must not have too many of, nor too many tags."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(member.file_size for member in archive.infolist())
            if size > _SPARE_BYTES + _MAX_UNPACK_RATIO * len(data):
                raise FileFormatError(f"{len(data)} bytes would unfold to {size}", file=path)
            tags = sum(archive.read(member).count(b"<") for member in archive.infolist())
    except FileFormatError:
        raise
    except Exception as error:  # zipfile raises many kinds too
        raise FileFormatError(f"no Excel file that can be read: {error}", file=path) from None
    if tags > _SPARE_TAGS + _MAX_TAGS_PER_BYTE * len(data):
        raise FileFormatError(f"{len(data)} bytes would unfold to {tags:,} elements", file=path)
    return size


def cell_text(value: Any) -> str:
    """A cell as a person would write it."""
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
