"""Rows ``layer source target [weight]`` separated by white space: the fast lane first, name by name otherwise."""

from __future__ import annotations

import codecs
import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.errors import FileFormatError

from .parsed import EdgeRows, RowCollector
from .source import AUTO, decode, numbered_lines, read_bytes
from .text import fields

Columns = list[NDArray[Any]]


def integer_table(
    data: bytes, *, separators: bytes = b" \t", columns: tuple[int, ...] = (3, 4), weight: int = 3
) -> Columns | None:
    r"""The columns of a table of plain whole numbers, parsed by pandas; None if it is not as plain as that.

    Blanks between numbers may be any run; another separator stands exactly once. ``weight`` is the column that may hold
    decimal numbers.
    """
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    count = len(data[: data.find(b"\n") + 1 or len(data)].translate(bytes.maketrans(b",", b" ")).split())
    decimal = count > weight >= 0
    kinds = (b"\n" + data).translate(
        bytes.maketrans(b"23456789E\n" + separators, b"11111111e " + b" " * len(separators))
    )
    if count not in columns or data.translate(None, b"0123456789\n" + separators + (b".eE+-" if decimal else b"")):
        return None
    # 07 and +7 are other names than 7; a sign belongs to an exponent alone
    signs = kinds.replace(b"e+", b"e").replace(b"e-", b"e") if decimal else b""
    if b" 00" in kinds or b" 01" in kinds or b"+" in signs or b"-" in signs:
        return None
    types = {column_index: str if column_index == weight else np.int64 for column_index in range(count)}
    # any run of blanks takes twice as long, so a single one comes first
    for mark in [separators.decode()] if len(separators) == 1 else ["\t" if b"\t" in data else " ", r"\s+"]:
        try:
            table = pd.read_csv(io.BytesIO(data), sep=mark, header=None, dtype=types, na_filter=False)
            number_columns: Columns = [table[column_index].to_numpy() for column_index in range(count)]
            if decimal:
                number_columns[weight] = number_columns[weight].astype(object).astype(np.float64)
        except (ValueError, OverflowError):  # rows of different lengths, numbers without digits or too large
            continue
        if table.shape[1] == count:
            # where a weight is none, the caller finds the line and says what is wrong
            return (
                None
                if decimal and not ((number_columns[weight] > 0) & (number_columns[weight] < np.inf)).all()
                else number_columns
            )
    return None


def read_edge_rows(
    path: Path,
    encoding: str = AUTO,
    *,
    columns: tuple[int, ...] = (3, 4),
    order: tuple[int, ...] = (0, 1, 2, 3),
    expected: str,
) -> EdgeRows:
    """The rows of a file without a header; ``order`` is that of :func:`fast_rows`."""
    file_bytes = read_bytes(path)
    table_rows = fast_rows(file_bytes, columns=columns, order=order)
    if table_rows is not None:
        return table_rows
    collector = RowCollector(path)
    layer, source, target, edge_weight = order
    column_count = 0
    for line_number, file_text in numbered_lines(decode(file_bytes, path, encoding)):
        line_fields = fields(file_text)
        if len(line_fields) not in columns or (column_count and len(line_fields) != column_count):
            wanted_fields = f"{column_count} as in the lines before" if column_count else expected
            error_text = f"there are {len(line_fields)} fields, but {wanted_fields} are needed: {file_text[:80]!r}"
            raise FileFormatError(error_text, file=path, line=line_number)
        column_count = len(line_fields)
        weight_text = line_fields[edge_weight] if 0 <= edge_weight < column_count else None
        collector.add(
            "" if layer < 0 else line_fields[layer], line_fields[source], line_fields[target], weight_text, line_number
        )
    edge_rows = collector.finish()
    return edge_rows if layer >= 0 else replace(edge_rows, layers=[])


def fast_rows(
    data: bytes,
    *,
    columns: tuple[int, ...] = (3, 4),
    separators: bytes = b" \t",
    order: tuple[int, ...] = (0, 1, 2, 3),
    first_line: int = 1,
) -> EdgeRows | None:
    """The rows of a table of plain numbers; None if it is not one.

    ``order`` says in which column layer, source, target and weight stand, -1 for none.
    """
    body = data.removeprefix(codecs.BOM_UTF8)
    facts_table = integer_table(body, columns=columns, separators=separators, weight=order[3])
    if facts_table is None:
        return None

    def line_of(row: int) -> int | None:
        filled = (
            line_number for line_number, line_text in enumerate(body.split(b"\n"), first_line) if line_text.strip()
        )
        return next((line_number for position, line_number in enumerate(filled) if position == row), None)

    where_layer, where_source, where_target, where_weight = order
    source, target = facts_table[where_source], facts_table[where_target]
    ids, source, target = _numbered(source, target)
    layer_codes, layer_names = (
        (np.zeros(source.size, dtype=np.int8), np.zeros(0, dtype=np.int64))
        if where_layer < 0
        else _layer_codes(facts_table[where_layer])
    )
    edge_weight = facts_table[where_weight] if 0 <= where_weight < len(facts_table) else None
    names, node_names = (list(map(str, numbers.tolist())) for numbers in (layer_names, ids))
    return EdgeRows(names, node_names, layer_codes, source, target, edge_weight, line_of, whole=True)


def _layer_codes(layer: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Each row's layer as a number from 0, and the ids of the layers as they first appear."""
    changes = np.flatnonzero(layer[1:] != layer[:-1]) + 1
    if changes.size < 1000:
        ids = layer[np.concatenate([[0], changes])]
        if np.unique(ids).size == ids.size:  # one layer after the other, as usual
            lengths = np.diff(np.concatenate([[0], changes, [layer.size]]))
            return np.repeat(np.arange(ids.size, dtype=np.int16), lengths), ids
    layer_codes, ids = pd.factorize(layer)
    return (layer_codes.astype(np.int16) if ids.size < 1 << 15 else layer_codes), ids


def _numbered(source: NDArray[Any], target: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """The distinct ids in order, and both ends as positions among them."""
    smallest = int(min(source.min(), target.min()))
    spread = int(max(source.max(), target.max())) - smallest + 1
    if spread <= 4 * source.size + 1024:
        if smallest:
            source, target = source - smallest, target - smallest
        seen = np.zeros(spread, dtype=bool)
        seen[source] = True
        seen[target] = True
        ids = np.flatnonzero(seen)
        if ids.size < spread:
            new_index = np.cumsum(seen) - 1
            source, target = new_index[source], new_index[target]
        return ids + smallest, source, target
    node_codes, met = pd.factorize(np.concatenate([source, target]))
    node_order = np.argsort(met)
    new_index = np.empty(node_order.size, dtype=np.int64)
    new_index[node_order] = np.arange(node_order.size)
    node_codes = new_index[node_codes]
    return met[node_order], node_codes[: source.size], node_codes[source.size :]
