"""The format ``parquet``: the same tables as ``csv``, stored by column; names may be text or whole numbers."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gramme.errors import DataError, FileFormatError, import_extra
from gramme.graph import MultilayerGraph
from gramme.io.atomic import Content
from gramme.io.couplings import between
from gramme.io.headers import find_header
from gramme.io.node_table import AttributeTable
from gramme.io.parsed import EdgeRows, Parsed, ReadOptions
from gramme.io.source import MAX_DECLARED_BEYOND_FILE, read_bytes
from gramme.io.tables import COMPANIONS, Table, companion, take_tables, to_tables
from gramme.io.text import check_width
from gramme.io.values import format_number, in_order, parse_weight

NAME = "parquet"
# A column of equal values takes next to no space, so rows cannot be bounded by bytes alone.
_MAX_ROWS_PER_BYTE = 100
_SPARE_CELLS, _MAX_CELLS_PER_BYTE = 10_000_000, 16
_SPARE_BYTES, _MAX_UNPACK_RATIO = 500_000_000, 200  # of what is read to the file
_BATCH_BYTES = 200_000_000
_BATCH_ROWS = 256, 65_536  # fewer where single values may be large


def read(path: Path, options: ReadOptions) -> Parsed:
    """The edges, with the tables beside it."""
    table = read_arrow(path)
    if options.named_columns:
        header = find_header(table.column_names, path, options)
        assert header is not None
        places = {
            "source": header.source,
            "target": header.target,
            "layer": header.layer,
            "weight": header.weight,
        }
        chosen = {part: place for part, place in places.items() if place is not None}
        table = table.select(list(chosen.values())).rename_columns(list(chosen))
    parsed = Parsed([path], _edge_rows(table, path))
    tables = {}
    for name in COMPANIONS:
        place = companion(path, name)
        if place.is_file() and not (name == "nodes" and options.nodes is not None):
            tables[name] = parquet_attributes(place)
    take_tables(parsed, tables, options)
    return parsed


def read_arrow(path: Path) -> Any:
    """The whole file as an Arrow table, once it is known to be sound."""
    arrow = import_extra("pyarrow", "parquet", "reading Parquet")
    parquet = import_extra("pyarrow.parquet", "parquet", "reading Parquet")
    data = read_bytes(path)
    try:
        file = parquet.ParquetFile(arrow.BufferReader(data))
        rows, columns = file.metadata.num_rows, file.metadata.num_columns
        if not 0 <= rows <= MAX_DECLARED_BEYOND_FILE + _MAX_ROWS_PER_BYTE * len(
            data
        ) or columns > len(data):
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


def _texts(table: Any, column: str, path: Path, *, empty: bool = False) -> list[str]:
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
            text = (
                ""
                if np.isnan(value)
                else format_number(value)
                if np.isfinite(value)
                else str(value)
            )
        else:
            problem = f"the column {column!r} holds {value!r} in row {row}; names are text or whole numbers"
            raise FileFormatError(problem, file=path)
        if not text and not empty:
            raise FileFormatError(f"the column {column!r} is empty in row {row}", file=path)
        found.append(text)
    return found


def parquet_attributes(path: Path) -> AttributeTable:
    """A table of attributes with everything as text."""
    table = read_arrow(path)
    header = list(table.column_names)
    if not header:
        raise FileFormatError("the table has no columns", file=path)
    columns = [_texts(table, name, path, empty=True) for name in header]
    rows = [list(row) for row in zip(*columns, strict=True)]
    return AttributeTable(path, header, rows, list(range(1, len(rows) + 1)))


def _edge_rows(table: Any, path: Path) -> EdgeRows:
    for needed in ("source", "target"):
        if needed not in table.column_names:
            problem = f"there is no column {needed!r}, but {', '.join(table.column_names)[:100]!r}"
            raise FileFormatError(problem, file=path)
    source, target = _texts(table, "source", path), _texts(table, "target", path)
    interleaved = np.empty(2 * len(source), dtype=object)
    interleaved[0::2], interleaved[1::2] = source, target
    codes, met = pd.factorize(interleaved)
    nodes = in_order(met)
    place = pd.Index(np.array(nodes, dtype=object)).get_indexer(pd.Index(met)) if nodes else codes
    codes = place[codes] if len(nodes) else codes
    layer, layers = np.zeros(len(source), dtype=np.int64), np.zeros(0, dtype=object)
    if {"source_layer", "target_layer"} <= set(table.column_names):
        ends = (_texts(table, name, path) for name in ("source_layer", "target_layer"))
        joined = [between(first, second) for first, second in zip(*ends, strict=True)]
        layer, layers = pd.factorize(np.array([*joined, ""], dtype=object)[:-1])
    elif "layer" in table.column_names:
        layer, layers = pd.factorize(np.array(_texts(table, "layer", path), dtype=object))
    return EdgeRows(
        [str(name) for name in layers],
        nodes,
        layer,
        codes[0::2],
        codes[1::2],
        _weights(table, path) if "weight" in table.column_names else None,
        lambda row: None,
    )


def _weights(table: Any, path: Path) -> Any:
    column = table.column("weight").to_pandas()
    if column.dtype == np.float64:
        weights = column.to_numpy()
        if ((weights > 0) & np.isfinite(weights) | np.isnan(weights)).all():
            return None if np.isnan(weights).all() and weights.size else weights
    weights = np.empty(table.num_rows)
    for row, text in enumerate(_texts(table, "weight", path, empty=True)):
        try:
            weights[row] = parse_weight(text) if text else np.nan
        except ValueError as error:
            raise FileFormatError(f"row {row}: {error}", file=path) from None
    return None if np.isnan(weights).all() and weights.size else weights


def write(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The tables of the graph; those that are not needed are removed."""
    files: dict[Path, Content] = {}
    for name, table in to_tables(graph, NAME).items():
        place = path if name == "edges" else companion(path, name)
        files[place] = None if table is None else _bytes(table)
    return files


def _bytes(table: Table) -> bytes:
    arrow = import_extra("pyarrow", "parquet", "writing Parquet")
    parquet = import_extra("pyarrow.parquet", "parquet", "writing Parquet")
    columns = {}
    for name, values in zip(table.header, table.columns, strict=True):
        if name == "weight" or name.startswith("feature_"):
            numbers = [float(value) for value in values]
            columns[name] = arrow.array(numbers, type=arrow.float64(), from_pandas=True)
        else:
            try:
                columns[name] = arrow.array(list(values), type=arrow.string())
            except UnicodeEncodeError as error:
                problem = (
                    f"{error.object!r} is not valid Unicode text; the format 'npz' can hold it"
                )
                raise DataError(problem) from None
    buffer = io.BytesIO()
    parquet.write_table(arrow.table(columns), buffer)
    return buffer.getvalue()
