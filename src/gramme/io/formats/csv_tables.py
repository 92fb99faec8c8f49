"""The formats ``csv`` and ``tsv``: edges as a table with a header, everything else in tables beside it."""

from __future__ import annotations

import codecs
import math
import warnings
from collections.abc import Callable
from pathlib import Path

from gramme.errors import FileFormatError, GrammeWarning, did_you_mean
from gramme.graph import MultilayerGraph
from gramme.io.atomic import Content
from gramme.io.attributes import read_attributes
from gramme.io.delimited import cells, format_row, quote_cell
from gramme.io.edge_rows import fast_rows
from gramme.io.parsed import Parsed, ReadOptions
from gramme.io.rows import EdgeRows, RowCollector
from gramme.io.source import decode, read_bytes
from gramme.io.tables import COMPANIONS, Table, companion, take_tables, to_tables
from gramme.io.weights import format_number

_COLUMNS = ("layer", "source", "target", "weight")


def reader(separator: str) -> Callable[[Path, ReadOptions], Parsed]:
    """How to read a graph whose tables use this separator."""

    def read(path: Path, options: ReadOptions) -> Parsed:
        rows = _read_rows(path, separator, options.encoding)
        parsed = Parsed([path], rows)
        tables = {}
        for name in COMPANIONS:
            place = companion(path, name)
            if name == "nodes" and options.nodes is not None:
                continue
            if place.is_file():
                tables[name] = read_attributes(place, options.encoding, separator)
        take_tables(parsed, tables, options)
        return parsed

    return read


def writer(
    separator: str, format_name: str
) -> Callable[[MultilayerGraph, Path], dict[Path, Content]]:
    """How to write a graph as tables with this separator."""

    def write(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
        files: dict[Path, Content] = {}
        for name, table in to_tables(graph, format_name).items():
            place = path if name == "edges" else companion(path, name)
            files[place] = None if table is None else _text(table, separator)
        return files

    return write


def _text(table: Table, separator: str) -> str:
    quoted: dict[str, str] = {}
    columns = []
    for column in table.columns:
        if column and isinstance(column[0], float):
            columns.append(["" if math.isnan(value) else format_number(value) for value in column])
        else:
            for value in set(column) - quoted.keys():
                quoted[value] = quote_cell(value)
            columns.append([quoted[value] for value in column])
    lines = map(separator.join, zip(*columns, strict=True))
    return format_row(table.header, separator) + "".join(line + "\n" for line in lines)


def _read_rows(path: Path, separator: str, encoding: str) -> EdgeRows:
    data = read_bytes(path)
    body = data.removeprefix(codecs.BOM_UTF8)
    head, _, rest = body.partition(b"\n")
    order = _plain_order(head, separator)
    if order is not None and rest:
        width = sum(place >= 0 for place in order)
        rows = fast_rows(
            rest, columns=(width,), separators=separator.encode(), order=order, first_line=2
        )
        if rows is not None:
            return rows
    return _slow_rows(path, decode(data, path, encoding), separator)


def _plain_order(head: bytes, separator: str) -> tuple[int, ...] | None:
    """Where the four columns stand, if the header names them and no others."""
    header = head.rstrip(b"\r").decode("latin-1").split(separator)
    if not {"source", "target"} <= set(header) <= set(_COLUMNS) or len(set(header)) != len(header):
        return None
    return tuple(header.index(name) if name in header else -1 for name in _COLUMNS)


def _slow_rows(path: Path, text: str, separator: str) -> EdgeRows:
    table = cells(text, separator, path)
    first = next(table, None)
    if first is None:
        raise FileFormatError("the file is blank; its first line must be a header", file=path)
    header = [cell.strip().lower() for cell in first[1]]
    for needed in ("source", "target"):
        if header.count(needed) != 1:
            raise FileFormatError(
                f"the header must name the columns source and target (and may name layer and weight), "
                f"but is {separator.join(first[1])[:100]!r}",
                file=path,
                line=first[0],
            )
    unknown = [name for name in header if name not in _COLUMNS]
    if unknown:
        hint = did_you_mean(unknown[0], _COLUMNS)
        warnings.warn(
            f"{path}: the column {unknown[0]!r} is not used; {hint}", GrammeWarning, stacklevel=2
        )
    where = {name: header.index(name) for name in _COLUMNS if name in header}
    layer_at, weight_at = where.get("layer"), where.get("weight")
    rows = RowCollector(path)
    for line, row in table:
        if len(row) != len(header):
            problem = f"{len(row)} cells stand here, but the header names {len(header)} columns"
            raise FileFormatError(problem, file=path, line=line)
        layer = "" if layer_at is None else row[layer_at]
        source, target = row[where["source"]], row[where["target"]]
        if not (source and target and (layer or layer_at is None)):
            empty = "source" if not source else "target" if not target else "layer"
            raise FileFormatError(f"the column {empty!r} is empty here", file=path, line=line)
        weight = None if weight_at is None else row[weight_at].strip() or None
        rows.add(layer, source, target, weight, line)
    found = rows.finish()
    if layer_at is None:
        found.layers = []
    return found
