"""Arrow tables from Parquet files, with bounds on what a small file may unfold to, and their columns as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gramme.errors import FileFormatError, import_extra

from .source import MAX_DECLARED_BEYOND_FILE, read_bytes
from .text import check_width
from .values import format_number

PARQUET = (".parquet", ".pq")
# A column of equal values takes next to no space, so rows cannot be bounded by bytes alone.
_MAX_ROWS_PER_BYTE = 100
_SPARE_CELLS, _MAX_CELLS_PER_BYTE = 10_000_000, 16
_SPARE_BYTES, _MAX_UNPACK_RATIO = 500_000_000, 200  # of what is read to the file
_BATCH_BYTES = 200_000_000
_BATCH_ROWS = 256, 65_536  # fewer where single values may be large


def read_arrow(path: Path) -> Any:
    """The whole file as an Arrow table, once it is known to be sound."""
    arrow = import_extra("pyarrow", "parquet", "reading Parquet")
    parquet = import_extra("pyarrow.parquet", "parquet", "reading Parquet")
    data = read_bytes(path)
    try:
        file = parquet.ParquetFile(arrow.BufferReader(data))
        rows, columns = file.metadata.num_rows, file.metadata.num_columns
        if not 0 <= rows <= MAX_DECLARED_BEYOND_FILE + _MAX_ROWS_PER_BYTE * len(data) or columns > len(data):
            raise FileFormatError(f"{rows} rows are declared in {len(data)} bytes", file=path)
        if rows * columns > _SPARE_CELLS + _MAX_CELLS_PER_BYTE * len(data):
            raise FileFormatError(f"{rows * columns} cells in {len(data)} bytes", file=path)
        check_width(columns, path)
        table = _bounded(arrow, file, len(data), path)
        table.validate(full=True)
    except (MemoryError, FileFormatError):
        raise
    except Exception as error:  # pyarrow raises many kinds for damaged files
        raise FileFormatError(f"no Parquet file that can be read: {error}", file=path) from None
    if len(set(table.column_names)) != len(table.column_names):
        raise FileFormatError("two columns have the same name", file=path)
    return table


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
    rows = min(max(_BATCH_BYTES // max(largest, 1), fewest), most)
    for batch in file.iter_batches(batch_size=rows, use_threads=False):
        read += sum(
            column.dictionary_decode().nbytes if hasattr(column, "dictionary") else column.nbytes
            for column in batch.columns
        )
        if read > _SPARE_BYTES + _MAX_UNPACK_RATIO * size:
            raise FileFormatError(f"{size} bytes would unfold to more than {read}", file=path)
        batches.append(batch)
    return arrow.Table.from_batches(batches, schema=file.schema_arrow)


def column_texts(table: Any, column: str, path: Path, *, empty: bool = False) -> list[str]:
    """A column of names as text."""
    try:
        values = table.column(column).to_pylist()
    except Exception as error:
        raise FileFormatError(f"the column {column!r} cannot be read: {error}", file=path) from None
    found = []
    for row, value in enumerate(values):
        if isinstance(value, str):
            text = value
        elif value is None:
            text = ""
        elif isinstance(value, int) and not isinstance(value, bool):
            text = str(value)
        elif isinstance(value, float) and empty:
            text = "" if np.isnan(value) else format_number(value) if np.isfinite(value) else str(value)
        else:
            problem = f"the column {column!r} holds {value!r} in row {row}; names are text or whole numbers"
            raise FileFormatError(problem, file=path)
        if not text and not empty:
            raise FileFormatError(f"the column {column!r} is empty in row {row}", file=path)
        found.append(text)
    return found
