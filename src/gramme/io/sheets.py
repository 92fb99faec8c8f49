"""Several tables in one file, as in a workbook or a database: lists of edges, matrices, and tables of nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from gramme.errors import DataError, FileFormatError, NoEdgesError
from gramme.io.attributes import tabled
from gramme.io.edge_table import no_edges, parse_edges, without_header
from gramme.io.headers import edge_header
from gramme.io.joining import joined
from gramme.io.labels import node_column, table_facts
from gramme.io.matrix_rows import find_matrix, matrix_layer
from gramme.io.notes import tell
from gramme.io.parsed import Parsed, ReadOptions

Rows = Sequence[Sequence[str]]


def parse_sheets(
    sheets: Mapping[str, Rows], path: Path, options: ReadOptions, *, database: bool = False
) -> Parsed:
    """One graph of all tables: a layer per list of edges or matrix, and attributes from the tables of their nodes."""
    layers: dict[str, Parsed] = {}
    others: dict[str, Rows] = {}
    for name, rows in sheets.items():
        found = _layer(name, rows, path, options)
        if found is None:
            others[name] = rows
        else:
            layers[name] = found
    if not layers:
        first = next(iter(sheets.values()))
        if len(sheets) == 1:
            raise no_edges(first[0], path, 1, database=database)
        raise NoEdgesError(
            f"none of its tables is a list of edges or a matrix: {', '.join(sheets)[:200]}",
            file=path,
        )
    parsed = joined(layers) if len(layers) > 1 else next(iter(layers.values()))
    parsed.files = [path]
    for name, rows in others.items():
        if _take_nodes(parsed, rows, path, options):
            tell(f"{path.name}: {name!r} tells about the nodes")
        else:
            tell(
                f"{path.name}: {name!r} is not used; it is not a list of edges, a matrix or a table of their nodes"
            )
    return parsed


def _layer(name: str, rows: Rows, path: Path, options: ReadOptions) -> Parsed | None:
    numbered = list(enumerate(rows, start=1))
    if options.header is False:
        names, header = without_header(numbered, path)
        return parse_edges(names, header, numbered, path, sheet=name)
    found = edge_header(rows[0])
    if found is not None:
        return parse_edges(rows[0], found, numbered[1:], path, sheet=name)
    matrix = find_matrix(numbered, path)
    return None if matrix is None else matrix_layer(matrix, name)


def _take_nodes(parsed: Parsed, rows: Rows, path: Path, options: ReadOptions) -> bool:
    """Labels, features and layers from a table of nodes; whether it is one."""
    if parsed.labels is not None or options.labels is not None or options.nodes is not None:
        return False
    nodes = parsed.nodes or parsed.rows.nodes
    try:
        table = tabled([(line, list(row)) for line, row in enumerate(rows, start=1)], path)
    except FileFormatError:
        return False
    if len(table.header) < 2 or node_column(table, set(nodes)) is None:
        return False
    try:
        facts = table_facts(table, list(nodes), options, complete=False)
    except DataError as error:
        raise FileFormatError(str(error), file=path) from error
    parsed.nodes, parsed.nodes_file = facts.nodes, path
    parsed.labels, parsed.features, parsed.node_groups = facts.labels, facts.features, facts.groups
    return True
