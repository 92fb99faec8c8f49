"""Pajek networks (``.net``) with any number of relations, each a layer, and a ``.clu`` partition beside as labels.

``*Arcs`` are directed, ``*Edges`` undirected; an edge in a relation that also has arcs counts as two arcs. A vertex is
named by its label where the labels tell all vertices apart, else by its number. A value of 1 on every line of a
relation means no weights.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path

from gramme.errors import DataError, FileFormatError, GrammeWarning
from gramme.graph import MultilayerGraph
from gramme.graph.edges import ONLY_LAYER
from gramme.io.atomic import Content
from gramme.io.lossy import TextGraph, as_text, lossy
from gramme.io.parsed import Parsed, ReadOptions, RowCollector
from gramme.io.source import beside, check_declared, numbered_lines, read_text, tell
from gramme.io.values import is_whole

from .multiplex import numbered_edges, warn_of_ones

NAME = "pajek"
#: Pajek's own sign for "no class".
MISSING_CLASS = "9999998"

_HEADING = re.compile(r"\*([A-Za-z]+)[ \t]*(?::[ \t]*([0-9]{1,18}))?[ \t]*(.*)\Z", re.DOTALL)
_TOKEN = re.compile(r'"([^"]*)"|([^ \t"]+)')
_NUMBER = re.compile(r"[0-9]{1,18}\Z")
_RELATION = re.compile(r"[ \t]*([0-9]{1,18}):[ \t]+")
_LINES = {"arcs": True, "edges": False, "arcslist": True, "edgeslist": False}


@dataclass
class _Network:
    path: Path
    size: int
    vertices: int | None = None
    labels: dict[int, str] = field(default_factory=dict)
    layer_of: dict[str, str] = field(default_factory=dict)
    directed: dict[str, bool] = field(default_factory=dict)
    edges: list[tuple[str, str, str, str, int]] = field(default_factory=list)
    arcs: list[tuple[str, str, str, str, int]] = field(default_factory=list)

    def error(self, problem: str, line: int) -> FileFormatError:
        return FileFormatError(problem, file=self.path, line=line)

    def vertex(self, text: str, line: int) -> str:
        """The number of a vertex, checked against the number declared."""
        if not _NUMBER.match(text) or not 1 <= int(text) <= (self.vertices or 0):
            error_text = f"{text[:40]!r} is not a vertex; they are numbered from 1 to {self.vertices or 0}"
            raise self.error(error_text, line)
        return str(int(text))

    def layer(self, number: str | None, name: str, line: int) -> str:
        """The layer of a relation, by its number; its name is the one given first."""
        key = number or ""
        if key not in self.layer_of:
            layer_name = name or number or ONLY_LAYER
            if layer_name in self.layer_of.values():
                raise self.error(f"a second relation has the name {layer_name!r}", line)
            self.layer_of[key] = layer_name
        return self.layer_of[key]


def read(path: Path, options: ReadOptions) -> Parsed:
    """The network, with the partition beside it as labels."""
    file_text = read_text(path, options.encoding)
    network = _Network(path, len(file_text))
    _parse(network, file_text)
    row_collector = RowCollector(path)
    for layer_name, source, target, edge_weight, line_number in network.arcs:
        row_collector.add(layer_name, source, target, edge_weight, line_number)
    for layer_name, source, target, edge_weight, line_number in network.edges:
        row_collector.add(layer_name, source, target, edge_weight, line_number)
        if network.directed[layer_name]:
            row_collector.add(layer_name, target, source, edge_weight, line_number)
    parsed = Parsed([path], row_collector.finish(), ones_mean_unweighted=True)
    node_names = _names(network)
    parsed.nodes, parsed.nodes_file = node_names, path
    parsed.rows.nodes = [node_names[int(node) - 1] for node in parsed.rows.nodes]
    parsed.layers = list(network.directed)
    parsed.directed = network.directed
    partition = beside(path, path.stem + ".clu")
    if partition is not None and options.labels is None:
        parsed.labels = _read_partition(partition, node_names, options.encoding)
        parsed.files.append(partition)
    return parsed


def _parse(network: _Network, text: str) -> None:
    section, layer = "", ""
    for line_number, row_cells in numbered_lines(text):
        row_cells = row_cells.strip(" \t")
        if row_cells.startswith("%"):
            continue
        if row_cells.startswith("*"):
            section, layer = _heading(network, row_cells, line_number)
        elif section == "vertices":
            tokens = [quoted or bare for quoted, bare in _TOKEN.findall(row_cells)]
            number = int(network.vertex(tokens[0] if row_cells[:1] != '"' else "", line_number))
            if number in network.labels:
                raise network.error(f"the vertex {number} is here for the second time", line_number)
            network.labels[number] = (tokens[1] if len(tokens) > 1 else "") or str(number)
        elif section in _LINES:
            _edge_line(network, section, layer, row_cells, line_number)
        elif section != "network":
            raise network.error("the first line must be *Vertices and their number", line_number)
    if network.vertices is None:
        raise FileFormatError("there is no line *Vertices and their number", file=network.path)


def _heading(network: _Network, row: str, line: int) -> tuple[str, str]:
    match = _HEADING.match(row)
    section = match[1].lower() if match else ""
    if match is None or section not in (*_LINES, "vertices", "network"):
        error_text = f"the section {row[:60]!r} cannot be read; known: *Vertices, *Arcs, *Edges, *Arcslist, *Edgeslist"
        raise network.error(error_text, line)
    if section == "network":
        return section, ""
    if section == "vertices":
        if network.vertices is not None:
            raise network.error("a second *Vertices: only one network per file can be read", line)
        declared_counts = match[3].split()
        if not declared_counts or not _NUMBER.match(declared_counts[0]):
            raise network.error("*Vertices needs their number", line)
        check_declared(int(declared_counts[0]), "vertices", network.size, network.path, line)
        network.vertices = int(declared_counts[0])
        if len(declared_counts) > 1 and _NUMBER.match(
            declared_counts[1]
        ):  # rows and columns of a matrix of persons and events, say
            tell(
                f"{network.path.name}: a network of two modes, of which both are nodes here: {declared_counts[1]} of "
                "the first "
                "kind, then the others",
                doubt=True,
            )
        return section, ""
    if network.vertices is None:
        raise network.error("*Vertices and their number must come first", line)
    named = _TOKEN.match(match[3])
    layer_name = (named[1] if named[1] is not None else match[3].strip()) if named else match[3].strip()
    if not match[2] and not layer_name:
        return section, ""  # lines may name their relations, so there is no layer yet
    return section, _layer(network, section, match[2], layer_name, line)


def _layer(network: _Network, section: str, number: str | None, name: str, line: int) -> str:
    layer = network.layer(number, name, line)
    network.directed[layer] = network.directed.get(layer, False) or _LINES[section]
    return layer


def _edge_line(network: _Network, section: str, layer: str, row: str, line: int) -> None:
    relation = _RELATION.match(row)
    if relation:
        layer = _layer(network, section, relation[1], "", line)
        row = row[relation.end() :]
    elif not layer:
        layer = _layer(network, section, None, "", line)
    tokens = row.split()
    if len(tokens) < 2:
        raise network.error(f"two vertices are needed here, not {row[:60]!r}", line)
    lines = network.arcs if _LINES[section] else network.edges
    if section.endswith("list"):
        source = network.vertex(tokens[0], line)
        for token in tokens[1:]:
            lines.append((layer, source, network.vertex(token, line), "1", line))
        return
    source, target = network.vertex(tokens[0], line), network.vertex(tokens[1], line)
    # A value that is left out is 1; a list of neighbours never has one.
    lines.append((layer, source, target, tokens[2] if len(tokens) > 2 else "1", line))


def _names(network: _Network) -> list[str]:
    numbers = range(1, (network.vertices or 0) + 1)
    node_names = [network.labels.get(number, str(number)) for number in numbers]
    if len(set(node_names)) == len(node_names):
        return node_names
    warnings.warn(
        f"{network.path}: the labels do not tell the vertices apart, so they are named by their numbers",
        GrammeWarning,
        stacklevel=3,
    )
    return [str(number) for number in numbers]


def _read_partition(path: Path, names: list[str], encoding: str) -> dict[str, str]:
    node_labels: list[str] = []
    for line_number, row_cells in numbered_lines(read_text(path, encoding)):
        row_cells = row_cells.strip(" \t")
        if row_cells.startswith(("*", "%")):
            continue
        if not is_whole(row_cells):
            raise FileFormatError(f"{row_cells[:40]!r} is not a class number", file=path, line=line_number)
        node_labels.append(row_cells)
    if len(node_labels) != len(names):
        raise FileFormatError(f"there are {len(node_labels)} classes for {len(names)} vertices", file=path)
    return {
        node_name: node_label
        for node_name, node_label in zip(names, node_labels, strict=True)
        if node_label != MISSING_CLASS
    }


def write(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The network, and the labels as a partition beside it."""
    text_graph = as_text(graph, NAME, features=False)
    warn_of_ones(text_graph, NAME)
    lines = [f"*Vertices {len(text_graph.nodes)}\n"]
    lines += [f"{number} {_quoted(name)}\n" for number, name in enumerate(text_graph.nodes, start=1)]
    for node_number, (node_name, layer) in enumerate(text_graph.edges(), start=1):
        lines.append(f"*{'Arcs' if layer.directed else 'Edges'} :{node_number} {_quoted(node_name)}\n")
        lines += numbered_edges(layer)
    return {path: "".join(lines), path.with_suffix(".clu"): _partition(text_graph)}


def _quoted(name: str) -> str:
    if '"' in name or "\n" in name or "\r" in name:
        raise DataError(f"the format {NAME!r} cannot hold the quote or line end in {name!r}; 'csv' and 'npz' can")
    return f'"{name}"'


def _partition(text: TextGraph) -> str | None:
    if text.labels is None:
        return None
    classes = text.labels
    if not all(is_whole(node_label) and node_label != MISSING_CLASS for node_label in classes if node_label):
        lossy(NAME, "labels that are not whole numbers; the classes are numbered from 1")
        number = {node_label: str(n) for n, node_label in enumerate(sorted(set(classes) - {""}), start=1)}
        classes = [number.get(node_label, "") for node_label in classes]
    table_rows = "".join(f"{node_label or MISSING_CLASS}\n" for node_label in classes)
    return f"*Vertices {len(classes)}\n{table_rows}"
