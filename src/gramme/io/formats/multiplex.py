"""The form of many published multiplex networks: ``*_multiplex.edges`` with tables of layers and nodes beside it.

Rows ``layer source target [weight]`` of ids. ``*_layers.txt`` has the header ``layerID layerLabel``, ``*_nodes.txt``
the header ``nodeID [nodeLabel] ...`` with further attributes. A weight of 1 on every edge of a layer means none.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from gramme._text import plural, setting
from gramme.errors import FileFormatError, GrammeWarning
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.io.atomic import Content
from gramme.io.attribute_graph import take_attributes
from gramme.io.edge_rows import read_edge_rows
from gramme.io.lossy import TextGraph, as_text, edges_of, lossy
from gramme.io.node_table import AttributeTable, read_attributes
from gramme.io.parsed import EdgeRows, Parsed, ReadOptions, ends_of, renamed_ends
from gramme.io.source import beside, tell
from gramme.io.tables import Table, node_facts
from gramme.io.text import quote
from gramme.io.values import format_number

NAME = "multiplex"
_LABEL_OF_NODE = "nodeLabel"


def read(path: Path, options: ReadOptions) -> Parsed:
    """The edges, with the tables of layers and nodes beside it."""
    as_text_file = setting("format", "text", option="from")
    expected = f"3 or 4 (layer, source, target and perhaps weight; for source, target and weight, {as_text_file})"
    table_rows = read_edge_rows(path, options.encoding, expected=expected)
    parsed = Parsed([path], table_rows, id_start=1, ones_mean_unweighted=True)
    layers_path, nodes_path = _beside(path, "_layers.txt"), _beside(path, "_nodes.txt")
    if layers_path is None and nodes_path is None and not path.name.endswith("_multiplex.edges"):
        tell(
            f"{path.name}: read as rows of layer, source and target, in {plural(len(table_rows.layers), 'layer')}; "
            "if they "
            f"are source, target and weight, say {as_text_file}",
            doubt=True,
        )
    if layers_path is not None:
        take_layers(parsed, read_attributes(layers_path, options.encoding, " "))
    if nodes_path is not None:
        take_nodes(parsed, read_attributes(nodes_path, options.encoding, " "), options)
    return parsed


def stem_of(path: Path) -> str:
    """The name without what marks the file of edges."""
    stem = path.name.removesuffix(".edges").removesuffix(".txt")
    return stem.removesuffix("_multiplex")


def _beside(path: Path, ending: str) -> Path | None:
    return beside(path, stem_of(path) + ending)


def take_layers(parsed: Parsed, table: AttributeTable) -> None:
    """Name the layers by the table's second column, and add those without edges."""
    ids = table.names()
    node_labels = table.names(table.header[1]) if len(table.header) > 1 else ids
    label_of = dict(zip(ids, node_labels, strict=True))
    for code, layer_name in enumerate(parsed.rows.layers):
        stray = next((end for end in ends_of(layer_name) if end not in label_of), None)
        if stray is not None:
            row = int((parsed.rows.layer == code).argmax())
            raise FileFormatError(
                f"the layer {stray!r} is not in {table.path}, which lists all layers",
                file=parsed.rows_file,
                line=parsed.rows.line_of(row),
            )
    parsed.rows.layers = [renamed_ends(layer, label_of) for layer in parsed.rows.layers]
    parsed.layers = node_labels
    parsed.files.append(table.path)


def take_nodes(parsed: Parsed, table: AttributeTable, options: ReadOptions) -> None:
    """All nodes in the table's order, named by its column nodeLabel where that tells them apart."""
    ids = table.names()
    node_names = ids
    if table.has(_LABEL_OF_NODE) and options.label != _LABEL_OF_NODE:
        node_labels = table.column(_LABEL_OF_NODE)
        if len(set(node_labels)) == len(node_labels) and all(node_labels):
            node_names = node_labels
        else:
            warnings.warn(
                f"{table.path}: the column {_LABEL_OF_NODE} does not tell the nodes apart, so they keep "
                "their nodeID as name",
                GrammeWarning,
                stacklevel=2,
            )
    name_of = dict(zip(ids, node_names, strict=True))
    parsed.nodes, parsed.nodes_file = ids, table.path
    _rename(parsed.rows, name_of, parsed)
    parsed.nodes = node_names
    node_label = {_LABEL_OF_NODE} if options.label == _LABEL_OF_NODE else set()
    take_attributes(parsed, table, options, {table.header[0], _LABEL_OF_NODE} - node_label)
    parsed.files.append(table.path)


def _rename(rows: EdgeRows, name_of: dict[str, str], parsed: Parsed) -> None:
    for code, node in enumerate(rows.nodes):
        if node not in name_of:
            row = int(((rows.source == code) | (rows.target == code)).argmax())
            raise FileFormatError(
                f"the node {node!r} is not in {parsed.nodes_file}, which lists all nodes",
                file=parsed.rows_file,
                line=rows.line_of(row),
            )
    rows.nodes = [name_of[node] for node in rows.nodes]


def write(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The files of a graph; in the edges, layers and nodes are numbered from 1."""
    text_graph = as_text(graph, NAME, directions=False)
    warn_of_ones(text_graph, NAME)
    weighted = any(layer.weighted for layer in text_graph.layers.values())
    file_lines = [
        f"{layer} {a} {b}{edge_weight}\n" for layer, a, _, b, edge_weight in numbered_rows(text_graph, weighted)
    ]
    stem = stem_of(path)
    return {
        path: "".join(file_lines) or "\n",
        path.with_name(stem + "_layers.txt"): layer_table(list(text_graph.layers)),
        path.with_name(stem + "_nodes.txt"): node_table(text_graph),
    }


def warn_of_ones(text: TextGraph, format_name: str) -> None:
    """Warn where weights of 1 everywhere, which mean no weights here, were meant as weights."""
    for first_layer, second_layer, part in text.parts():
        if part.weight is not None and bool((part.weight == 1).all()):
            shown = (
                f"layer {first_layer!r}"
                if first_layer == second_layer
                else f"coupling of {first_layer!r} and {second_layer!r}"
            )
            lossy(format_name, f"that the {shown} is weighted, as all its weights are 1")


def numbered_rows(text: TextGraph, weighted: bool) -> Iterator[tuple[int, int, int, int, str]]:
    """Layer, node, layer, node and weight of each edge and coupling, numbered from 1; the weight may be blank."""
    number = {layer_name: layer_number for layer_number, layer_name in enumerate(text.layers, start=1)}
    for first_layer, second_layer, part in text.parts():
        for source, target, edge_weight in edges_of(part):
            shown = f" {format_number(1.0 if edge_weight is None else edge_weight)}" if weighted else ""
            yield number[first_layer], source + 1, number[second_layer], target + 1, shown


def numbered_edges(layer: EdgeLayer) -> Iterator[str]:
    """Lines of two nodes, numbered from 1, and the weight where the layer has weights."""
    for source, target, edge_weight in edges_of(layer):
        yield f"{source + 1} {target + 1}{'' if edge_weight is None else ' ' + format_number(edge_weight)}\n"


def layer_table(layers: Sequence[str]) -> str:
    """The table of layers, numbered from 1."""
    table_rows = [f"{layer_number} {quote(layer_name)}\n" for layer_number, layer_name in enumerate(layers, start=1)]
    return "layerID layerLabel\n" + "".join(table_rows)


def node_table(text: TextGraph) -> str:
    """The table of nodes, numbered from 1, with labels and features."""
    numbers = [str(node_number) for node_number in range(1, len(text.nodes) + 1)]
    table_columns: Table = {"nodeID": numbers, _LABEL_OF_NODE: text.nodes} | node_facts(text)
    table_rows = zip(*table_columns.values(), strict=True)
    return " ".join(table_columns) + "\n" + "".join(" ".join(map(quote, row_cells)) + "\n" for row_cells in table_rows)
