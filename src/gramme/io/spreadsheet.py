"""Tables in files that are no text, Excel's sheets and Parquet, with bounds on what a small file may unfold to."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gramme._text import plural
from gramme.errors import FileFormatError, import_extra

from .source import MAX_DECLARED_BEYOND_FILE, read_bytes, tell
from .text import check_width
from .values import format_number

_SPARE_BYTES = 20_000_000

# A cell with a formula whose value nobody has computed, as openpyxl writes it; the value of text may be empty.
_UNCOMPUTED = re.compile(rb'<c (?![^>]*t="str")[^>]*><f[^>]*(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v></v>)?</c>')


def read_sheets(path: Path) -> dict[str, list[list[str]]]:
    """The rows of every sheet that is not empty, all of equal length, without blank rows and columns at the edges."""
    rows_by_sheet: dict[str, list[list[str]]] = {}
    for title, sheet_rows in sheet_values(path):
        texts = _trimmed([[cell_text(cell_value) for cell_value in row_cells] for row_cells in sheet_rows])
        if texts:
            rows_by_sheet[title] = texts
    if not rows_by_sheet:
        raise FileFormatError("all sheets are empty", file=path)
    return rows_by_sheet


def sheet_values(path: Path) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    """The name and the rows of each sheet, with the values as they are; rows may differ in length."""
    openpyxl = import_extra("openpyxl", "excel", "reading an Excel file")
    file_bytes = read_bytes(path)
    size = _unpacked_size(file_bytes, path)
    cells = 0
    try:
        book = openpyxl.load_workbook(io.BytesIO(file_bytes), read_only=True, data_only=True)
        for sheet in book.worksheets:
            sheet_rows: list[tuple[Any, ...]] = []
            sheet.reset_dimensions()  # a file may state any; what is there counts
            for row_number, row_cells in enumerate(sheet.iter_rows(values_only=True), start=1):
                cells += len(row_cells) + 1
                # of the unpacked file, where a cell takes some ten
                if cells > MAX_DECLARED_BEYOND_FILE + size:
                    raise FileFormatError(
                        "it has far more cells than it spells out; delete those far from the others", file=path
                    )
                # whole numbers that Excel has rounded: ids so long may have become one another's
                numbers = [cell_value for cell_value in row_cells if isinstance(cell_value, (int, float))]
                # the first whole number with a neighbour that a spreadsheet cannot tell from it
                # no program numbers anything so; a measure that large loses nothing that counts
                rounded = next((one for one in numbers if 2**53 <= abs(one) < 2**64), None)
                if rounded is not None:
                    raise FileFormatError(
                        f"sheet {sheet.title!r}, row {row_number}: the number {rounded:.0f} is too long for Excel, "
                        "which "
                        "keeps 15 digits, so that different ids may have become the same; write ids as text, or in a "
                        "CSV file",
                        file=path,
                    )
                sheet_rows.append(row_cells)
            yield str(sheet.title), sheet_rows
    except (MemoryError, FileFormatError):
        raise
    except Exception as error:  # openpyxl raises many kinds for damaged files
        raise FileFormatError(f"no Excel file that can be read: {error}", file=path) from None


def _unpacked_size(data: bytes, path: Path) -> int:
    """The bytes of all parts, which a small file must not have too many of, nor too many tags."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            byte_size = sum(member.file_size for member in archive.infolist())
            # of unpacked to packed bytes; sheets of equal cells reach about 50
            if byte_size > _SPARE_BYTES + 100 * len(data):
                raise FileFormatError(f"{len(data)} bytes would unfold to {byte_size}", file=path)
            tags = uncomputed = 0
            for member in archive.infolist():
                part = archive.read(member)
                tags += part.count(b"<")
                uncomputed += len(_UNCOMPUTED.findall(part))
    except FileFormatError:
        raise
    except Exception as error:  # zipfile raises many kinds too
        raise FileFormatError(f"no Excel file that can be read: {error}", file=path) from None
    # of the packed file: each costs the reader time, a cell format of five letters as much as a cell
    if tags > 500_000 + 10 * len(data):
        raise FileFormatError(f"{len(data)} bytes would unfold to {tags:,} elements", file=path)
    if uncomputed:
        tell(
            f"{path.name}: {plural(uncomputed, 'formula')} without a value read as empty cells; open the file in a "
            "spreadsheet program and save it, which computes them",
            doubt=True,
        )
    return byte_size


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
    rows = [row_cells for row_cells in rows if any(cell_content.strip() for cell_content in row_cells)]
    if not rows:
        return []
    column_count = max(
        max(column_index + 1 for column_index, cell_content in enumerate(row_cells) if cell_content.strip())
        for row_cells in rows
    )
    if column_count * len(rows) > MAX_DECLARED_BEYOND_FILE + 50 * sum(map(len, rows)):
        column_count = max(len(rows[0]), 1)
    return [(row_cells + [""] * column_count)[:column_count] for row_cells in rows]


# Arrow tables from Parquet files, with bounds on what a small file may unfold to, and their columns as text.

PARQUET = (".parquet", ".pq")
# A column of equal values takes next to no space, so rows cannot be bounded by bytes alone.
_ARROW_SPARE_CELLS, _ARROW_CELLS_PER_BYTE = 10_000_000, 16
_ARROW_SPARE_BYTES, _ARROW_UNPACK_RATIO = 500_000_000, 200  # of what is read to the file
_BATCH_ROWS = 256, 65_536  # fewer where single values may be large


def read_arrow(path: Path) -> Any:
    """The whole file as an Arrow table, once it is known to be sound."""
    arrow = import_extra("pyarrow", "parquet", "reading Parquet")
    parquet = import_extra("pyarrow.parquet", "parquet", "reading Parquet")
    file_bytes = read_bytes(path)
    try:
        file = parquet.ParquetFile(arrow.BufferReader(file_bytes))
        sheet_rows, table_columns = file.metadata.num_rows, file.metadata.num_columns
        if not 0 <= sheet_rows <= MAX_DECLARED_BEYOND_FILE + 100 * len(file_bytes) or table_columns > len(file_bytes):
            raise FileFormatError(f"{sheet_rows} rows are declared in {len(file_bytes)} bytes", file=path)
        if sheet_rows * table_columns > _ARROW_SPARE_CELLS + _ARROW_CELLS_PER_BYTE * len(file_bytes):
            raise FileFormatError(f"{sheet_rows * table_columns} cells in {len(file_bytes)} bytes", file=path)
        check_width(table_columns, path)
        arrow_table = _bounded(arrow, file, len(file_bytes), path)
        arrow_table.validate(full=True)
    except (MemoryError, FileFormatError):
        raise
    except Exception as error:  # pyarrow raises many kinds for damaged files
        raise FileFormatError(f"no Parquet file that can be read: {error}", file=path) from None
    if len(set(arrow_table.column_names)) != len(arrow_table.column_names):
        raise FileFormatError("two columns have the same name", file=path)
    return arrow_table


def _bounded(arrow: Any, file: Any, size: int, path: Path) -> Any:
    """The table, read part by part: a long text that repeats takes no space in the file, but much in memory."""
    facts = file.metadata
    largest = max(
        (
            facts.row_group(group).column(column).total_uncompressed_size
            for group in range(facts.num_row_groups)
            for column in range(facts.num_columns)
        ),
        default=0,
    )
    fewest, most = _BATCH_ROWS
    batches, read = [], 0
    sheet_rows = min(max(200_000_000 // max(largest, 1), fewest), most)
    for batch in file.iter_batches(batch_size=sheet_rows, use_threads=False):
        read += sum(
            column.dictionary_decode().nbytes if hasattr(column, "dictionary") else column.nbytes
            for column in batch.columns
        )
        if read > _ARROW_SPARE_BYTES + _ARROW_UNPACK_RATIO * size:
            raise FileFormatError(f"{size} bytes would unfold to more than {read}", file=path)
        batches.append(batch)
    return arrow.Table.from_batches(batches, schema=file.schema_arrow)


def column_texts(table: Any, column: str, path: Path, *, empty: bool = False) -> list[str]:
    """A column of names as text."""
    try:
        column_values = table.column(column).to_pylist()
    except Exception as error:
        raise FileFormatError(f"the column {column!r} cannot be read: {error}", file=path) from None
    cell_texts = []
    for row_index, cell_value in enumerate(column_values):
        if isinstance(cell_value, str):
            text = cell_value
        elif cell_value is None:
            text = ""
        elif isinstance(cell_value, int) and not isinstance(cell_value, bool):
            text = str(cell_value)
        elif isinstance(cell_value, float) and empty:
            text = (
                ""
                if np.isnan(cell_value)
                else format_number(cell_value)
                if np.isfinite(cell_value)
                else str(cell_value)
            )
        else:
            error_text = (
                f"the column {column!r} holds {cell_value!r} in row {row_index}; names are text or whole numbers"
            )
            raise FileFormatError(error_text, file=path)
        if not text and not empty:
            raise FileFormatError(f"the column {column!r} is empty in row {row_index}", file=path)
        cell_texts.append(text)
    return cell_texts
