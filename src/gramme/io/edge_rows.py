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
    types = {place: str if place == weight else np.int64 for place in range(count)}
    # any run of blanks takes twice as long, so a single one comes first
    for mark in [separators.decode()] if len(separators) == 1 else ["\t" if b"\t" in data else " ", r"\s+"]:
        try:
            table = pd.read_csv(io.BytesIO(data), sep=mark, header=None, dtype=types, na_filter=False)
            found: Columns = [table[place].to_numpy() for place in range(count)]
            if decimal:
                found[weight] = found[weight].astype(object).astype(np.float64)
        except (ValueError, OverflowError):  # rows of different lengths, numbers without digits or too large
            continue
        if table.shape[1] == count:
            # where a weight is none, the caller finds the line and says what is wrong
            return None if decimal and not ((found[weight] > 0) & (found[weight] < np.inf)).all() else found
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
    data = read_bytes(path)
    rows = fast_rows(data, columns=columns, order=order)
    if rows is not None:
        return rows
    collector = RowCollector(path)
    layer, source, target, weight = order
    width = 0
    for line, text in numbered_lines(decode(data, path, encoding)):
        parts = fields(text)
        if len(parts) not in columns or (width and len(parts) != width):
            wanted = f"{width} as in the lines before" if width else expected
            problem = f"there are {len(parts)} fields, but {wanted} are needed: {text[:80]!r}"
            raise FileFormatError(problem, file=path, line=line)
        width = len(parts)
        stated = parts[weight] if 0 <= weight < width else None
        collector.add("" if layer < 0 else parts[layer], parts[source], parts[target], stated, line)
    found = collector.finish()
    return found if layer >= 0 else replace(found, layers=[])


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
    table = integer_table(body, columns=columns, separators=separators, weight=order[3])
    if table is None:
        return None

    def line_of(row: int) -> int | None:
        filled = (number for number, line in enumerate(body.split(b"\n"), first_line) if line.strip())
        return next((number for position, number in enumerate(filled) if position == row), None)

    where_layer, where_source, where_target, where_weight = order
    source, target = table[where_source], table[where_target]
    ids, source, target = _numbered(source, target)
    codes, layers = (
        (np.zeros(source.size, dtype=np.int8), np.zeros(0, dtype=np.int64))
        if where_layer < 0
        else _layer_codes(table[where_layer])
    )
    weight = table[where_weight] if 0 <= where_weight < len(table) else None
    names, nodes = (list(map(str, numbers.tolist())) for numbers in (layers, ids))
    return EdgeRows(names, nodes, codes, source, target, weight, line_of, whole=True)


def _layer_codes(layer: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Each row's layer as a number from 0, and the ids of the layers as they first appear."""
    changes = np.flatnonzero(layer[1:] != layer[:-1]) + 1
    if changes.size < 1000:
        ids = layer[np.concatenate([[0], changes])]
        if np.unique(ids).size == ids.size:  # one layer after the other, as usual
            lengths = np.diff(np.concatenate([[0], changes, [layer.size]]))
            return np.repeat(np.arange(ids.size, dtype=np.int16), lengths), ids
    codes, ids = pd.factorize(layer)
    return (codes.astype(np.int16) if ids.size < 1 << 15 else codes), ids


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
            place = np.cumsum(seen) - 1
            source, target = place[source], place[target]
        return ids + smallest, source, target
    codes, met = pd.factorize(np.concatenate([source, target]))
    order = np.argsort(met)
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    codes = place[codes]
    return met[order], codes[: source.size], codes[source.size :]
