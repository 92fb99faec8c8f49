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
from gramme.io.edge_table import no_edges, parse_edges, take_features, tell_columns
from gramme.io.headers import EdgeHeader, find_header
from gramme.io.parsed import EdgeRows, Parsed, ReadOptions
from gramme.io.spreadsheet import column_texts, read_arrow
from gramme.io.tables import Table, companion, read_companions, take_tables, to_tables
from gramme.io.values import in_order, parse_weight

NAME = "parquet"


def read(path: Path, options: ReadOptions) -> Parsed:
    """The edges, with the tables beside it."""
    arrow_table = read_arrow(path)
    header_cells = find_header(arrow_table.column_names, path, options)
    if header_cells is None:
        raise no_edges(arrow_table.column_names, path, None)
    if header_cells.direction is None and header_cells.between is None:
        kept = take_features(header_cells, arrow_table.column_names, options.edge_columns)
        tell_columns(
            header_cells,
            arrow_table.column_names,
            lambda place: _texts(arrow_table, place, path),
            len(arrow_table),
            path.name,
        )
        parsed = Parsed([path], _edge_rows(arrow_table, header_cells, path))
        parsed.rows.facts = {
            column_name: _texts(arrow_table, column_index, path) for column_name, column_index in kept.items()
        }
    else:
        table_columns = [_texts(arrow_table, column_index, path) for column_index in range(arrow_table.num_columns)]
        table_rows = list(enumerate(zip(*table_columns, strict=True)))
        parsed = parse_edges(arrow_table.column_names, header_cells, table_rows, path, features=options.edge_columns)
    take_tables(parsed, read_companions(path, options), options)
    return parsed


def _texts(table: Any, place: int, path: Path) -> list[str]:
    return column_texts(table, table.column_names[place], path, empty=True)


def _edge_rows(table: Any, header: EdgeHeader, path: Path) -> EdgeRows:
    column_names = table.column_names
    interleaved = np.empty(2 * len(table), dtype=object)
    for first, column_index in enumerate((header.source, header.target)):
        interleaved[first::2] = column_texts(table, column_names[column_index], path)
    node_codes, met = pd.factorize(interleaved)
    node_names = in_order(met)
    if node_names:
        node_codes = pd.Index(np.array(node_names, dtype=object)).get_indexer(pd.Index(met))[node_codes]
    layer, layer_names = np.zeros(len(table), dtype=np.int64), np.zeros(0, dtype=object)
    if header.layer is not None:
        layer, layer_names = pd.factorize(np.array(column_texts(table, column_names[header.layer], path), dtype=object))
    edge_weight = None if header.weight is None else _weights(table, column_names[header.weight], path)
    return EdgeRows(
        [str(column_name) for column_name in layer_names],
        node_names,
        layer,
        node_codes[0::2],
        node_codes[1::2],
        edge_weight,
        lambda row: None,
    )


def _weights(table: Any, name: str, path: Path) -> Any:
    column = table.column(name).to_pandas()
    if column.dtype == np.float64:
        edge_weights = column.to_numpy()
        if ((edge_weights > 0) & np.isfinite(edge_weights) | np.isnan(edge_weights)).all():
            return None if np.isnan(edge_weights).all() and edge_weights.size else edge_weights
    edge_weights = np.empty(table.num_rows)
    for row_index, text in enumerate(column_texts(table, name, path, empty=True)):
        try:
            edge_weights[row_index] = parse_weight(text) if text else np.nan
        except ValueError as error:
            raise FileFormatError(f"row {row_index}: {error}", file=path) from None
    return None if np.isnan(edge_weights).all() and edge_weights.size else edge_weights


def write(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The tables of the graph; those that are not needed are removed."""
    files: dict[Path, Content] = {}
    for table_name, table in to_tables(graph, NAME).items():
        column_index = path if table_name == "edges" else companion(path, table_name)
        files[column_index] = None if table is None else _bytes(table)
    return files


def _bytes(table: Table) -> bytes:
    arrow = import_extra("pyarrow", "parquet", "writing Parquet")
    parquet = import_extra("pyarrow.parquet", "parquet", "writing Parquet")
    table_columns = {}
    for column_name, column_values in table.items():
        if column_name == "weight" or column_name.startswith("feature_"):
            numbers = [float(cell_value) for cell_value in column_values]
            table_columns[column_name] = arrow.array(numbers, type=arrow.float64(), from_pandas=True)
        else:
            try:
                table_columns[column_name] = arrow.array(list(column_values), type=arrow.string())
            except UnicodeEncodeError as error:
                error_text = f"{error.object!r} is not valid Unicode text; the format 'npz' can hold it"
                raise DataError(error_text) from None
    buffer = io.BytesIO()
    parquet.write_table(arrow.table(table_columns), buffer)
    return buffer.getvalue()
