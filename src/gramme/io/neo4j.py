"""Neo4j's export of a whole database as one table: rows of nodes with ``_id``, then rows of relations between them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gramme.errors import FileFormatError
from gramme.io.attribute_graph import parse_attribute_graph
from gramme.io.notes import tell
from gramme.io.parsed import Parsed, ReadOptions

_COLUMNS = ("_id", "_start", "_end", "_type")
Rows = Sequence[tuple[int, Sequence[str]]]


def parse_neo4j_export(rows: Rows, path: Path, options: ReadOptions) -> Parsed | None:
    """The graph of ``apoc.export.csv``; None where the header is no such table's."""
    header = [name.strip() for name in rows[0][1]]
    if not set(_COLUMNS) <= set(header) or len(set(header)) < len(header):
        return None
    number, start, end, _ = (header.index(name) for name in _COLUMNS)
    nodes: dict[str, dict[str, str]] = {}
    edges: list[tuple[str, str, dict[str, str]]] = []
    for line, row in rows[1:]:
        if len(row) != len(header):
            problem = f"there are {len(row)} cells, but the header names {len(header)} columns"
            raise FileFormatError(problem, file=path, line=line)
        facts = {
            name: cell
            for name, cell in zip(header, row, strict=True)
            if cell and name not in ("_id", "_start", "_end")
        }
        if row[start] and row[end]:
            edges.append((row[start], row[end], facts))
        elif row[number] and not row[start] and not row[end]:
            if row[number] in nodes:
                raise FileFormatError(f"a second node {row[number]!r}", file=path, line=line)
            nodes[row[number]] = facts
        else:
            raise FileFormatError("a row has an _id, or both _start and _end", file=path, line=line)
    for source, target, _ in edges:
        for name in (source, target):
            nodes.setdefault(name, {})
    tell(f"{path.name}: read as Neo4j's export of {len(nodes)} nodes and {len(edges)} relations")
    return parse_attribute_graph(path, nodes, edges, options, directed=None, named_by_label=True)
