"""Labels in a file of their own: one per line in node order, or rows of a node and its label.

How the two are told apart, where ``labels_format`` does not say it:

- a header that starts with the column ``node`` (or ``nodeID``, ``id``, ``name``) makes the file a table of nodes;
- one field on every line (no comma, tab or space) makes it a list in node order;
- two fields on every line make it rows of node and label, unless there are exactly as many lines as nodes and some
  first field is no node: then it may as well be a list of labels of two words, and the user must say which.

Anything else is an error that asks for ``labels_format``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gramme.errors import FileFormatError, did_you_mean
from gramme.io.attributes import AttributeTable, parse_attributes
from gramme.io.delimited import cells, separator_of
from gramme.io.names import is_whole
from gramme.io.parsed import LabelsForm, ReadOptions
from gramme.io.source import decode, numbered_lines, read_bytes
from gramme.io.tokens import fields

_HEADS = {"node", "nodeid", "node_id", "id", "name"}


@dataclass
class NodeFacts:
    """All nodes in order with what a file says of them."""

    nodes: list[str]
    labels: dict[str, str] | None
    features: NDArray[np.float64] | None = None


def read_labels(
    path: Path,
    nodes: list[str],
    options: ReadOptions,
    *,
    complete: bool,
    form: LabelsForm | None = None,
    id_start: int | None = None,
) -> NodeFacts:
    """The labels of a file for the nodes known so far.

    Parameters
    ----------
    path : Path
    nodes : list of str
        The nodes known so far, in order.
    options : ReadOptions
    complete : bool
        Whether no further nodes may come to light.
    form : "list" or "pairs", optional
    id_start : int, optional
        The first id where the format of the edges numbers nodes from 0 or from 1.
    """
    text = decode(read_bytes(path, "labels file"), path, options.encoding)
    separator = separator_of(path, text)
    known = set(nodes)
    if form != "list":
        table = _table(text, path, separator, known)
        if table is not None:
            return _from_table(table, nodes, options, complete)
        form = form or _form(text, path, nodes)
    if form == "list":
        return _from_list(text, path, nodes, complete, id_start)
    labels: dict[str, str] = {}
    for line, row in _pairs(text, path):
        node, label = row
        if node not in known:
            problem = (
                f"a label for the node {node!r}, which is not in the graph; {_hint(node, nodes)}"
            )
            raise FileFormatError(problem, file=path, line=line)
        if node in labels:
            raise FileFormatError(f"a second label for the node {node!r}", file=path, line=line)
        labels[node] = label
    return NodeFacts(nodes, {node: label for node, label in labels.items() if label})


def _hint(node: str, nodes: Sequence[str]) -> str:
    return did_you_mean(node, nodes) if len(nodes) <= 1000 else f"nodes are named {nodes[0]!r}, ..."


def _table(text: str, path: Path, separator: str, known: set[str]) -> AttributeTable | None:
    first = next(numbered_lines(text), (0, ""))[1]
    header = (
        fields(first) if separator == " " else [cell.strip('" ') for cell in first.split(separator)]
    )
    if len(header) < 2 or header[0].lower() not in _HEADS or header[0] in known:
        return None
    return parse_attributes(text, path, separator)


def _from_table(
    table: AttributeTable, nodes: list[str], options: ReadOptions, complete: bool
) -> NodeFacts:
    """A table that names all nodes of the edges may name further ones; otherwise a new name is a mistake."""
    listed = table.names()
    column = options.label
    if column is None and not table.has("label") and len(table.header) == 2:
        column = table.header[1]
    chosen = table.feature_columns(options.features, column, [table.header[0]], every=True)
    features = table.features(chosen)
    known, named = set(nodes), set(listed)
    if complete or not known <= named:
        for node, line in zip(listed, table.lines, strict=True):
            if node not in known:
                problem = f"the node {node!r} is not in the graph; {_hint(node, nodes)}"
                raise FileFormatError(problem, file=table.path, line=line)
    if features is not None and not known <= named:
        missing = next(node for node in nodes if node not in named)
        raise FileFormatError(
            f"there are features, but none for the node {missing!r}", file=table.path
        )
    labels = table.labels(listed, column)
    if complete and known == named:  # the order of the nodes is settled already
        place = {node: position for position, node in enumerate(listed)}
        order = [place[node] for node in nodes]
        return NodeFacts(nodes, labels, None if features is None else features[order])
    return NodeFacts(listed if known <= named else nodes, labels, features)


def _form(text: str, path: Path, nodes: Sequence[str]) -> LabelsForm:
    widths: dict[int, int] = {}
    for line, row in numbered_lines(text):
        widths.setdefault(max(len(fields(row)), row.count(",") + 1), line)
    if set(widths) == {1}:
        return "list"
    rows = _pairs_or_none(text, path)
    if rows is None:
        wide = max(widths)
        raise FileFormatError(
            f"{wide} fields stand here; it is not clear whether each line is a label in node order or a "
            "node and its label: say labels_format='list' or labels_format='pairs'",
            file=path,
            line=widths[wide],
        )
    known = set(nodes)
    stray = next(((line, row[0]) for line, row in rows if row[0] not in known), None)
    if stray is not None and len(rows) == len(nodes):
        raise FileFormatError(
            f"{stray[1]!r} is no node, but there are as many lines as nodes, so these may be labels of two "
            "words: say labels_format='list' or labels_format='pairs'",
            file=path,
            line=stray[0],
        )
    return "pairs"


def _pairs(text: str, path: Path) -> list[tuple[int, list[str]]]:
    rows = _pairs_or_none(text, path)
    if rows is None:
        for line, row in numbered_lines(text):
            if len(fields(row.replace(",", " "))) != 2:
                problem = f"a node and its label are needed here, not {row[:80]!r}"
                raise FileFormatError(problem, file=path, line=line)
        raise FileFormatError("the lines do not all have the same separator", file=path)
    return rows


def _pairs_or_none(text: str, path: Path) -> list[tuple[int, list[str]]] | None:
    """Rows of two fields, by the first separator that splits every line in two; None where none does."""
    lines = list(numbered_lines(text))
    for separator in (",", "\t"):
        if lines and all(separator in row for _, row in lines):
            rows = list(cells(text, separator, path))
            if all(len(row) == 2 for _, row in rows):
                return rows
    split = [(line, fields(row)) for line, row in lines]
    return split if all(len(row) == 2 for _, row in split) else None


def _from_list(
    text: str, path: Path, nodes: list[str], complete: bool, id_start: int | None
) -> NodeFacts:
    labels = [line.strip(" \t\r") for line in text.split("\n")]
    labels = labels[:-1] if labels[-1] == "" else labels
    fewest = len(nodes)
    if nodes and not complete and all(map(is_whole, nodes)):
        fewest = max(fewest, max(map(int, nodes)) + (0 if id_start == 1 else 1))
    while len(labels) > fewest and not labels[-1]:  # blank lines at the end of the file
        labels.pop()
    if len(labels) != len(nodes):
        every = None if complete else _numbered_nodes(nodes, len(labels), id_start)
        if every is None:
            extra = (
                ""
                if complete or len(labels) < len(nodes)
                else (
                    ": nodes without edges are missing here; give rows of a node and its label instead"
                )
            )
            raise FileFormatError(
                f"{len(labels)} labels stand here for {len(nodes)} nodes{extra}", file=path
            )
        nodes = every
    return NodeFacts(
        nodes, {node: label for node, label in zip(nodes, labels, strict=True) if label}
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
    return [str(number) for number in range(start, start + count)]
