"""The formats ``csv`` and ``tsv``: edges as a table with a header, everything else in tables beside it."""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from gramme._text import setting
from gramme.errors import FileFormatError
from gramme.graph import MultilayerGraph
from gramme.io.atomic import Content
from gramme.io.attribute_graph import parse_attribute_graph
from gramme.io.edge_rows import fast_rows
from gramme.io.edge_table import edges_of_table, looks_like_edges, no_edges
from gramme.io.headers import edge_header
from gramme.io.matrix_rows import find_matrix, matrix_layer
from gramme.io.parsed import Parsed, ReadOptions, RowCollector
from gramme.io.source import check_declared, decode, numbered_lines, read_bytes, read_text, tell
from gramme.io.tables import Table, companion, read_companions, take_tables, to_tables
from gramme.io.text import fields, format_row, quote_cell, separator_of, text_rows, without_comments
from gramme.io.values import format_number, is_whole

# Neo4j's export of a whole database as one table: rows of nodes with ``_id``, then rows of relations between them.
_NEO4J_COLUMNS = ("_id", "_start", "_end", "_type")
Rows = Sequence[tuple[int, Sequence[str]]]


def parse_neo4j_export(rows: Rows, path: Path, options: ReadOptions) -> Parsed | None:
    """The graph of ``apoc.export.csv``; None where the header is no such table's."""
    header_cells = [name.strip() for name in rows[0][1]]
    if not set(_NEO4J_COLUMNS) <= set(header_cells) or len(set(header_cells)) < len(header_cells):
        return None
    number, start, end, _ = (header_cells.index(name) for name in _NEO4J_COLUMNS)
    facts_by_node: dict[str, dict[str, str]] = {}
    edge_list: list[tuple[str, str, dict[str, str]]] = []
    for line_number, row_cells in rows[1:]:
        if len(row_cells) != len(header_cells):
            error_text = f"there are {len(row_cells)} cells, but the header names {len(header_cells)} columns"
            raise FileFormatError(error_text, file=path, line=line_number)
        facts = {
            name: cell_content
            for name, cell_content in zip(header_cells, row_cells, strict=True)
            if cell_content and name not in ("_id", "_start", "_end")
        }
        if row_cells[start] and row_cells[end]:
            edge_list.append((row_cells[start], row_cells[end], facts))
        elif row_cells[number] and not row_cells[start] and not row_cells[end]:
            if row_cells[number] in facts_by_node:
                raise FileFormatError(f"a second node {row_cells[number]!r}", file=path, line=line_number)
            facts_by_node[row_cells[number]] = facts
        else:
            raise FileFormatError("a row has an _id, or both _start and _end", file=path, line=line_number)
    for source, target, _ in edge_list:
        for name in (source, target):
            facts_by_node.setdefault(name, {})
    tell(f"{path.name}: read as Neo4j's export of {len(facts_by_node)} nodes and {len(edge_list)} relations")
    return parse_attribute_graph(path, facts_by_node, edge_list, options, directed=None, named_by_label=True)


_COLUMNS = ("layer", "source", "target", "weight")


def reader(separator: str) -> Callable[[Path, ReadOptions], Parsed]:
    """How to read a graph whose tables use this separator."""

    def read(path: Path, options: ReadOptions) -> Parsed:
        parsed, separator_mark = _read_rows(path, separator, options)
        take_tables(parsed, read_companions(path, options, separator_mark), options)
        return parsed

    return read


def writer(separator: str, format_name: str) -> Callable[[MultilayerGraph, Path], dict[Path, Content]]:
    """How to write a graph as tables with this separator."""

    def write(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
        files: dict[Path, Content] = {}
        for name, table in to_tables(graph, format_name).items():
            file_path = path if name == "edges" else companion(path, name)
            files[file_path] = None if table is None else _text(table, separator)
        return files

    return write


def _text(table: Table, separator: str) -> str:
    quoted: dict[str, str] = {}
    table_columns = []
    for column_cells in table.values():
        if column_cells and isinstance(column_cells[0], float):
            table_columns.append(["" if math.isnan(value) else format_number(value) for value in column_cells])
        else:
            for cell_value in set(column_cells) - quoted.keys():
                quoted[cell_value] = quote_cell(cell_value)
            table_columns.append([quoted[value] for value in column_cells])
    lines = map(separator.join, zip(*table_columns, strict=True))
    return format_row(table, separator) + "".join(line_text + "\n" for line_text in lines)


def _read_rows(path: Path, usual: str, options: ReadOptions) -> tuple[Parsed, str]:
    """The edges, and the separator that was found."""
    file_bytes = read_bytes(path)
    body = file_bytes.removeprefix(codecs.BOM_UTF8)
    head, _, rest = body.partition(b"\n")
    plain = options.header is not False and not options.named_columns
    order = _plain_order(head, usual) if plain else None
    if order is not None and rest:
        column_count = sum(column_index >= 0 for column_index in order)
        table_rows = fast_rows(rest, columns=(column_count,), separators=usual.encode(), order=order, first_line=2)
        if table_rows is not None:
            return Parsed([path], table_rows), usual
    file_text = without_comments(decode(file_bytes, path, options.encoding), path)
    separator = separator_of(path, file_text)
    if separator == " ":
        separator = usual
    return parse_table(text_rows(file_text, separator, path), path, options, separator), separator


def parse_table(rows: list[tuple[int, list[str]]], path: Path, options: ReadOptions, separator: str = ",") -> Parsed:
    """The edges, or the matrix, that rows of text are."""
    if not rows:
        raise FileFormatError("the file is blank; its first line must be a header", file=path)
    export = None if options.header is False else parse_neo4j_export(rows, path, options)
    parsed_edges = export or edges_of_table(rows, path, options, comma=separator != ",")
    if parsed_edges is not None:
        return parsed_edges
    if path.suffix.lower() == ".csv" or not looks_like_edges(rows):
        raise no_edges(rows[0][1], path, rows[0][0])
    tell(
        f"{path.name}: read without a header, since its first line looks like an edge; say {setting('source')} and "
        f"{setting('target_column')} if it names columns",
        doubt=True,
    )
    return parse_table(rows, path, replace(options, header=False), separator)


def _plain_order(head: bytes, separator: str) -> tuple[int, ...] | None:
    """Where the four columns stand, if the header names them and no others."""
    header_cells = head.rstrip(b"\r").decode("latin-1").split(separator)
    if not {"source", "target"} <= set(header_cells) <= set(_COLUMNS) or len(set(header_cells)) != len(header_cells):
        return None
    return tuple(header_cells.index(name) if name in header_cells else -1 for name in _COLUMNS)


# The format `text`: edges or a matrix in a plain text file, by any separator, as R, igraph and networkx write them.

# The format ``matrix``: one adjacency or incidence matrix in a text file, with or without names.
MATRIX_NAME = "matrix"


def read_matrix(path: Path, options: ReadOptions) -> Parsed:
    """The layer of a matrix."""
    file_text = without_comments(read_text(path, options.encoding), path)
    table_rows = text_rows(file_text, separator_of(path, file_text), path)
    matrix = find_matrix(table_rows, path, insist=True)
    assert matrix is not None
    return matrix_layer(matrix)


TEXT_NAME = "text"
HEADERLESS = (".edgelist", ".ncol")
# What networkx writes behind an edge: {'weight': 2.0}
_FACTS = re.compile(r"[ \t]*\{([^{}]*)\}[ \t]*(?=\r?$)", re.MULTILINE)
_KEY = re.compile(r"""['"]([^'"]*)['"]\s*:""")
_WEIGHT = re.compile(r"""['"]weight['"]\s*:\s*([^,\s]+)""")


def read_text_file(path: Path, options: ReadOptions) -> Parsed:
    """The edges or the matrix of a text file."""
    file_bytes = read_bytes(path)
    bare = path.suffix.lower() in HEADERLESS
    if options.header is False or bare:
        body = file_bytes.removeprefix(codecs.BOM_UTF8)
        fast_edges = fast_rows(body, columns=(2, 3), order=(-1, 0, 1, 2))
        if fast_edges is not None:
            return Parsed([path], fast_edges)
    file_text = decode(file_bytes, path, options.encoding)
    if file_text.startswith("%%MatrixMarket"):
        return _matrix_market(file_text, path, options)
    file_text = without_comments(file_text, path)
    if "\n" not in file_text:
        file_text = file_text.replace("\r", "\n")
    if "{" in file_text:
        others = {attribute_name for facts in _FACTS.findall(file_text) for attribute_name in _KEY.findall(facts)} - {
            "weight"
        }
        if others:
            tell(f"{path.name}: attributes of edges not used: {', '.join(sorted(others))[:200]}", doubt=True)
        file_text = _FACTS.sub(lambda facts: " ".join(["", *_WEIGHT.findall(facts[1])[:1]]), file_text)
    separator = separator_of(path, file_text)
    table_rows = text_rows(file_text, separator, path)
    if bare and options.header is None and table_rows and edge_header(table_rows[0][1]) is None:
        options = replace(options, header=False)
    return parse_table(table_rows, path, options, separator)


def _matrix_market(text: str, path: Path, options: ReadOptions) -> Parsed:
    """The edges of a sparse matrix, as scipy and SuiteSparse keep it; an entry i j is an edge from i to j."""
    kind = text.partition("\n")[0].lower().split()
    table_rows = [
        (line, fields(row_cells)) for line, row_cells in numbered_lines(text) if not row_cells.startswith("%")
    ]
    line_number, size = table_rows[0] if table_rows else (1, [])
    if "coordinate" not in kind or len(size) != 3 or size[0] != size[1] or not all(map(is_whole, size)):
        raise FileFormatError(
            "of Matrix Market's files, square ones with coordinates are read: 'n n entries' first",
            file=path,
            line=line_number,
        )
    check_declared(int(size[0]), "nodes", len(text), path, line_number)
    if len(table_rows) - 1 != int(size[2]):
        raise FileFormatError(
            f"there are {len(table_rows) - 1} entries where {size[2]} are stated", file=path, line=line_number
        )
    collector = RowCollector(path)
    for line_number, entry in table_rows[1:]:
        if len(entry) not in (2, 3) or not all(is_whole(end) and 0 < int(end) <= int(size[0]) for end in entry[:2]):
            raise FileFormatError(
                f"an entry has two numbers up to {size[0]}, and perhaps a value", file=path, line=line_number
            )
        collector.add("", entry[0], entry[1], entry[2] if len(entry) > 2 else None, line_number)
    parsed = Parsed([path], replace(collector.finish(), layers=[]), directed=kind[-1] == "general")
    parsed.nodes, parsed.nodes_file = [str(node_number) for node_number in range(1, int(size[0]) + 1)], path
    return parsed
