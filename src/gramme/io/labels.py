"""Labels in a file of their own: one per line in node order, or rows of a node and its label.

How the two are told apart, where ``labels_format`` does not say it:

- a header that starts with the column ``node`` (or ``nodeID``, ``id``, ``name``), that names the column asked for with
  ``label``, or that stands over three columns or more of which one names nodes, makes the file a table of nodes, and so
  does the ending ``.xlsx`` or ``.parquet``;
- one field on every line (no comma, tab or space) makes it a list in node order;
- two fields on every line make it rows of node and label, unless there are exactly as many lines as nodes and some
  first field is not a node: then it may as well be a list of labels of two words, and the user must say which.

Anything else is an error that asks for ``labels_format``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramme._text import setting
from gramme.errors import DataError, FileFormatError, did_you_mean
from gramme.graph import MultilayerGraph
from gramme.graph.columns import settled_labels

from .headers import plain_word
from .node_table import (
    LABEL_COLUMN,
    NODE_WORDS,
    AttributeTable,
    is_feature_name,
    name_column,
    node_column,
    node_columns,
    parse_attributes,
    read_attributes,
)
from .parsed import Groups, LabelsForm, ReadOptions
from .source import AUTO, checked_file, decode, numbered_lines, read_bytes, tell
from .spreadsheet import PARQUET
from .text import cells, fields, separator_of
from .values import is_unknown, is_whole, tell_of_labels


@dataclass
class NodeFacts:
    """All nodes in order with what a file says about them."""

    nodes: list[str]
    labels: dict[str, str] | None
    features: NDArray[np.float64] | None = None
    groups: dict[str, Groups] = field(default_factory=dict)
    masks: Mapping[str, Sequence[str]] = field(default_factory=dict)


def read_labels(
    path: Path,
    nodes: list[str],
    options: ReadOptions,
    *,
    complete: bool,
    form: LabelsForm | None = None,
    id_start: int | None = None,
) -> NodeFacts:
    """The labels of a file for the nodes known so far; ``complete`` where there can be no others.

    ``id_start`` is the first id where the format of the edges numbers nodes from 0 or from 1.
    """
    checked_file(path, "labels file")
    if complete and not nodes:
        raise FileFormatError("there is nothing to label, the graph has no nodes", file=path)
    if path.suffix.lower() in (".xlsx", *PARQUET):
        return _labelled(read_attributes(path, AUTO), nodes, options, complete)
    file_text = decode(read_bytes(path, "labels file"), path, options.encoding)
    separator = separator_of(path, file_text)
    known_nodes = set(nodes)
    if form != "list":
        facts_table = _table(file_text, path, separator, known_nodes, options)
        if facts_table is not None:
            return _labelled(facts_table, nodes, options, complete)
        form = form or _form(file_text, path, nodes)
    if form == "list":
        return _from_list(file_text, path, nodes, complete, id_start)
    node_labels: dict[str, str] = {}
    table_rows = _pairs(file_text, path)
    if table_rows is None:
        for line_number, line_words in numbered_lines(file_text):
            if len(fields(line_words.replace(",", " "))) != 2:
                error_text = f"a node and its label are needed here, not {line_words[:80]!r}"
                raise FileFormatError(error_text, file=path, line=line_number)
        raise FileFormatError("the lines do not all have the same separator", file=path)
    if table_rows and not any(node in known_nodes for _, (node, _) in table_rows):
        raise FileFormatError(
            f"none of its {len(table_rows):,} names is a node of the graph: it names {table_rows[0][1][0]!r}, ..., "
            "where nodes are "
            f"named {_some(nodes)}",
            file=path,
        )
    for line_number, row_cells in table_rows:
        node, node_label = row_cells
        if node not in known_nodes:
            error_text = f"a label for the node {node!r}, which is not in the graph; {_hint(node, nodes)}"
            raise FileFormatError(error_text, file=path, line=line_number)
        if node in node_labels:
            raise FileFormatError(f"a second label for the node {node!r}", file=path, line=line_number)
        node_labels[node] = node_label
    return NodeFacts(nodes, {node: label for node, label in node_labels.items() if label})


def settle_labels(labels: Mapping[str, Any], options: ReadOptions) -> dict[str, Any]:
    """The labels that are known, as the user wants numbers to be taken; what is doubtful about them is said."""
    numbers = options.label_kind == "number" or options.label_bins is not None or options.label_edges is not None
    tell_of_labels(Counter(labels.values()), options.marks, numbers=numbers)
    known_labels = {
        node: node_label for node, node_label in labels.items() if not is_unknown(node_label, options.marks)
    }
    return settled_labels(known_labels, options.label_kind, options.label_bins, options.label_edges)


def with_labels(graph: MultilayerGraph, path: Path, options: ReadOptions) -> MultilayerGraph:
    """A graph that was read already, with the labels of a file."""
    node_names = [str(node_name) for node_name in graph.nodes]
    if len(set(node_names)) != len(node_names):
        raise DataError("the nodes have no distinct names as text, so a file cannot label them")
    labels_and_features = read_labels(path, node_names, options, complete=True, form=options.labels_format)
    node_labels = settle_labels(labels_and_features.labels or {}, options)
    return graph.replace(labels=[node_labels.get(node_name) for node_name in node_names])


def _hint(node: str, nodes: Sequence[str]) -> str:
    said = did_you_mean(node, nodes) if len(nodes) <= 1000 else "known: "
    return f"nodes are named {_some(nodes)}" if said.startswith("known: ") else said


def _some(nodes: Sequence[str], most: int = 3) -> str:
    return ", ".join(map(repr, nodes[:most])) + (", ..." if len(nodes) > most else "")


def _table(text: str, path: Path, separator: str, known: set[str], options: ReadOptions) -> AttributeTable | None:
    first = next(numbered_lines(text), (0, ""))[1]
    header_cells = (
        fields(first) if separator == " " else [cell_content.strip('" ') for cell_content in first.split(separator)]
    )
    if len(header_cells) < 2:
        return None
    asked = any(column_name in header_cells for column_name in (options.id, options.label) if column_name is not None)
    # a node may be called "node": what was asked for, or a column "label", still makes a header
    if header_cells[0] in known and not asked and header_cells[1:2] != [LABEL_COLUMN]:
        return None
    if asked or plain_word(header_cells[0]) in NODE_WORDS or (not header_cells[0] and separator != " "):
        return parse_attributes(text, path, separator)
    if len(header_cells) < 3 or separator == " " or len(set(header_cells)) < len(header_cells):
        return None
    facts_table = parse_attributes(text, path, separator)
    return facts_table if node_column(facts_table, known) is not None else None


def _labelled(table: AttributeTable, nodes: list[str], options: ReadOptions, complete: bool) -> NodeFacts:
    attributes_of_node = table_facts(table, nodes, options, complete)
    if attributes_of_node.labels is None:
        table_columns, more = ", ".join(table.header[:8]), ", ..." if len(table.header) > 8 else ""
        raise FileFormatError(
            f"the table has no column 'label'; say with {setting('label')} which column has the labels: "
            f"{table_columns}{more}",
            file=table.path,
        )
    return attributes_of_node


def table_facts(table: AttributeTable, nodes: list[str], options: ReadOptions, complete: bool) -> NodeFacts:
    """A table that names all nodes of the edges may name further ones, and so may a table of attributes.

    In a table of labels alone a name that is not a node is a mistake, unless it names all nodes.
    """
    known_nodes = set(nodes)
    id_column = name_column(table, known_nodes, options)
    listed_names = table.names(id_column)
    column = options.label
    if column is None and not table.has(LABEL_COLUMN) and len(table.header) == 2:
        column = next(column_name for column_name in table.header if column_name != id_column)
    column_facts = node_columns(table, listed_names, {id_column, column or LABEL_COLUMN}, options)
    feature_matrix, named = column_facts.features, set(listed_names)
    shared = sum(node in known_nodes for node in listed_names)
    joined = not complete and len(table.header) > 2 and 2 * shared > len(listed_names)
    if not joined and (complete or not known_nodes <= named):
        for node, line_number in zip(listed_names, table.lines, strict=True):
            if node not in known_nodes:
                raise table.error(f"the node {node!r} is not in the graph; {_hint(node, nodes)}", line_number)
    node_labels = table.labels(listed_names, column)
    further = [] if complete else [node for node in listed_names if node not in known_nodes]
    node_order = listed_names if known_nodes <= named and not complete else nodes + further
    if further and nodes:
        several = (
            "1 of its rows becomes a node" if len(further) == 1 else (f"{len(further):,} of its rows become nodes")
        )
        tell(
            f"{table.path.name}: {several} without edges, since the edges do not name them: {_some(further)}",
            doubt=True,
        )
    absent = len(known_nodes - named)
    if joined and absent:
        several = "1 node of the edges has" if absent == 1 else f"{absent:,} nodes of the edges have"
        tell(f"{table.path.name}: {several} no row in it", doubt=True)
    return NodeFacts(
        node_order,
        node_labels,
        _spread(table, listed_names, node_order, feature_matrix),
        column_facts.groups,
        column_facts.masks,
    )


def _spread(
    table: AttributeTable, listed: list[str], order: list[str], features: NDArray[np.float64] | None
) -> NDArray[np.float64] | None:
    """The features in the order of the nodes; a node without a row takes the medians."""
    if features is None or listed is order:
        return features
    row_of_node = {node: row for row, node in enumerate(listed)}
    table_rows = np.array([row_of_node.get(node, -1) for node in order], dtype=np.int64)
    alone = int((table_rows < 0).sum())
    if alone and any(map(is_feature_name, table.header)):
        missing_name = next(node for node in order if node not in row_of_node)
        raise table.error(f"there are features, but none for the node {missing_name!r}")
    if alone:
        tell(f"{alone} nodes have no row in {table.path.name}; their features are the medians")
        features = np.vstack([features, np.median(features, axis=0)])
    spread: NDArray[np.float64] = features[table_rows]
    return spread


def _form(text: str, path: Path, nodes: Sequence[str]) -> LabelsForm:
    either_form = f"{setting('labels_format', 'list')} or {setting('labels_format', 'pairs')}"
    widths: dict[int, int] = {}
    for line_number, row_cells in numbered_lines(text):
        widths.setdefault(max(len(fields(row_cells)), row_cells.count(",") + 1), line_number)
    if set(widths) == {1}:
        return "list"
    table_rows = _pairs(text, path)
    if table_rows is None:
        wide = max(widths)
        raise FileFormatError(
            f"there are {wide} fields; it is not clear whether each line is a label in node order or a "
            f"node and its label: say {either_form}",
            file=path,
            line=widths[wide],
        )
    known_nodes = set(nodes)
    stray = next(((line, row[0]) for line, row in table_rows if row[0] not in known_nodes), None)
    if stray is not None and len(table_rows) == len(nodes):
        raise FileFormatError(
            f"{stray[1]!r} is not a node, but there are as many lines as nodes, so these may be labels of two "
            f"words: say {either_form}",
            file=path,
            line=stray[0],
        )
    return "pairs"


def _pairs(text: str, path: Path) -> list[tuple[int, list[str]]] | None:
    """Rows of two fields, by the first separator that splits every line in two; None if none does."""
    file_lines = list(numbered_lines(text))
    for separator in (",", "\t"):
        if file_lines and all(separator in row_cells for _, row_cells in file_lines):
            table_rows = list(cells(text, separator, path))
            if all(len(row_cells) == 2 for _, row_cells in table_rows):
                return table_rows
    split = [(line_number, fields(row_cells)) for line_number, row_cells in file_lines]
    return split if all(len(row_cells) == 2 for _, row_cells in split) else None


def _from_list(text: str, path: Path, nodes: list[str], complete: bool, id_start: int | None) -> NodeFacts:
    node_labels = [line_text.strip(" \t\r") for line_text in text.split("\n")]
    node_labels = node_labels[:-1] if node_labels[-1] == "" else node_labels
    fewest = len(nodes)
    if nodes and not complete and all(map(is_whole, nodes)):
        fewest = max(fewest, max(map(int, nodes)) + (0 if id_start == 1 else 1))
    while len(node_labels) > fewest and not node_labels[-1]:  # blank lines at the end of the file
        node_labels.pop()
    if len(node_labels) != len(nodes):
        every = None if complete else _numbered_nodes(nodes, len(node_labels), id_start)
        if every is None:
            extra = (
                ""
                if complete or len(node_labels) < len(nodes)
                else (": nodes without edges are missing here; give rows of a node and its label instead")
            )
            raise FileFormatError(f"there are {len(node_labels)} labels for {len(nodes)} nodes{extra}", file=path)
        nodes = every
    return NodeFacts(
        nodes, {node: node_label for node, node_label in zip(nodes, node_labels, strict=True) if node_label}
    )


def _numbered_nodes(nodes: Sequence[str], count: int, id_start: int | None) -> list[str] | None:
    """All ids of a graph of ``count`` nodes numbered from 0 or 1, if the ids met say which."""
    if count < len(nodes) or not all(map(is_whole, nodes)):
        return None
    ids = [int(node) for node in nodes] or [id_start or 0]
    fitting = [start for start in (0, 1) if min(ids) >= start and max(ids) < start + count]
    if id_start in fitting and id_start is not None:
        start = id_start
    elif len(fitting) == 1:
        start = fitting[0]
    else:
        return None
    return [str(node_number) for node_number in range(start, start + count)]
