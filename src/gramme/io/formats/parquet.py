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
    table = read_arrow(path)
    header = find_header(table.column_names, path, options)
    if header is None:
        raise no_edges(table.column_names, path, None)
    if header.direction is None and header.between is None:
        kept = take_features(header, table.column_names, options.edge_columns)
        tell_columns(header, table.column_names, lambda place: _texts(table, place, path), len(table), path.name)
        parsed = Parsed([path], _edge_rows(table, header, path))
        parsed.rows.facts = {name: _texts(table, place, path) for name, place in kept.items()}
    else:
        columns = [_texts(table, place, path) for place in range(table.num_columns)]
        rows = list(enumerate(zip(*columns, strict=True)))
        parsed = parse_edges(table.column_names, header, rows, path, features=options.edge_columns)
    take_tables(parsed, read_companions(path, options), options)
    return parsed


def _texts(table: Any, place: int, path: Path) -> list[str]:
    return column_texts(table, table.column_names[place], path, empty=True)


def _edge_rows(table: Any, header: EdgeHeader, path: Path) -> EdgeRows:
    names = table.column_names
    interleaved = np.empty(2 * len(table), dtype=object)
    for first, place in enumerate((header.source, header.target)):
        interleaved[first::2] = column_texts(table, names[place], path)
    codes, met = pd.factorize(interleaved)
    nodes = in_order(met)
    if nodes:
        codes = pd.Index(np.array(nodes, dtype=object)).get_indexer(pd.Index(met))[codes]
    layer, layers = np.zeros(len(table), dtype=np.int64), np.zeros(0, dtype=object)
    if header.layer is not None:
        layer, layers = pd.factorize(np.array(column_texts(table, names[header.layer], path), dtype=object))
    weight = None if header.weight is None else _weights(table, names[header.weight], path)
    return EdgeRows([str(name) for name in layers], nodes, layer, codes[0::2], codes[1::2], weight, lambda row: None)


def _weights(table: Any, name: str, path: Path) -> Any:
    column = table.column(name).to_pandas()
    if column.dtype == np.float64:
        weights = column.to_numpy()
        if ((weights > 0) & np.isfinite(weights) | np.isnan(weights)).all():
            return None if np.isnan(weights).all() and weights.size else weights
    weights = np.empty(table.num_rows)
    for row, text in enumerate(column_texts(table, name, path, empty=True)):
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
    for name, values in table.items():
        if name == "weight" or name.startswith("feature_"):
            numbers = [float(value) for value in values]
            columns[name] = arrow.array(numbers, type=arrow.float64(), from_pandas=True)
        else:
            try:
                columns[name] = arrow.array(list(values), type=arrow.string())
            except UnicodeEncodeError as error:
                problem = f"{error.object!r} is not valid Unicode text; the format 'npz' can hold it"
                raise DataError(problem) from None
    buffer = io.BytesIO()
    parquet.write_table(arrow.table(columns), buffer)
    return buffer.getvalue()
