"""GraphML through networkx: the edge attribute ``layer`` (or ``type``, ``relation``, ...) names the layer.

An edge between two layers has ``source_layer`` and ``target_layer`` instead.

Other programs see an ordinary multigraph. What GraphML has no place for (layers without edges, one layer directed and
another not) stands in the graph attribute ``gramme_layers``. A document type or an entity in the file is refused: such
files can blow up in memory and no graph needs them.
"""

from __future__ import annotations

import io
import json
import re
import warnings
from pathlib import Path
from typing import Any
from xml.parsers import expat

from gramme.errors import DataError, FileFormatError, import_extra
from gramme.graph import MultilayerGraph
from gramme.io.assemble import ONLY_LAYER
from gramme.io.atomic import Content
from gramme.io.attribute_graph import attribute_table, layer_word, take_attributes
from gramme.io.couplings import between, own_layers
from gramme.io.headers import plain_word
from gramme.io.lossy import as_text, lossy
from gramme.io.node_table import LABEL_COLUMN
from gramme.io.parsed import Parsed, ReadOptions, RowCollector
from gramme.io.source import read_bytes, tell
from gramme.io.spreadsheet import cell_text

NAME = "graphml"
_LAYERS = "gramme_layers"
_UNDIRECTED = re.compile(rb"""(edgedefault\s*=\s*["'])undirected(["'])""")
# What XML cannot hold, or would change on the way.
_NOT_XML = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class AtOnce(io.BytesIO):
    """Bytes that are given whole, however few are asked for: a long attribute is looked through anew with each part."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read()


def read(path: Path, options: ReadOptions) -> Parsed:
    """The graph of a GraphML file."""
    data = read_bytes(path)
    networkx = import_extra("networkx", "networkx", "reading GraphML")
    check_xml(data, path)
    stated_both_ways = b"source_layer" in data and _UNDIRECTED.search(data) is not None
    if stated_both_ways:
        # networkx turns undirected edges round, and their ends are in different layers
        data = _UNDIRECTED.sub(rb"\1directed\2", data)
    try:
        with warnings.catch_warnings(record=True) as remarks:
            warnings.simplefilter("always")
            graph = networkx.read_graphml(AtOnce(data), force_multigraph=True)
    except MemoryError:
        raise
    except Exception as error:  # networkx raises whatever its parsing meets
        raise FileFormatError(f"no GraphML that can be read: {error}", file=path) from None
    for remark in dict.fromkeys(str(one.message) for one in remarks):
        tell(f"{path.name}: {remark}")
    if _LAYERS not in graph.graph:
        graph = _by_names(graph, networkx, options, path)
    rows = RowCollector(path)
    edges = list(graph.edges(data=True))
    named = "layer" if _LAYERS in graph.graph else layer_word(edges, path)
    for source, target, values in edges:
        plain = {plain_word(key): value for key, value in values.items()}
        stated = plain.get(named) if named is not None else None
        layer = ONLY_LAYER if stated is None else str(stated) or ONLY_LAYER
        if "source_layer" in values and "target_layer" in values:
            first, second = str(values["source_layer"]), str(values["target_layer"])
            if first != second and source == target:
                continue  # a pillar between the copies of a node, which is implied
            layer = between(first, second)
        weight = values.get("weight")
        described = {name: cell_text(values.get(name)) for name in options.edge_columns if name in values}
        rows.add(layer, str(source), str(target), None if weight is None else str(weight), None, described)
    directed = bool(graph.is_directed()) and not stated_both_ways
    parsed = Parsed([path], rows.finish(), directed=directed)
    _take_layers(parsed, graph, path)
    attributes = {str(node): values for node, values in graph.nodes(data=True)}
    parsed.nodes = list(attributes)
    take_attributes(parsed, attribute_table(path, parsed.nodes, attributes.values()), options, {"node"})
    if parsed.labels is not None:  # of the kinds that the file states
        parsed.labels = {node: values.get(options.label or LABEL_COLUMN) for node, values in attributes.items()}
    return parsed


def check_xml(data: bytes, path: Path) -> None:
    """Go through the document once, without building anything, to refuse what must not be expanded."""
    parser = expat.ParserCreate()

    def refuse(*_: object) -> None:
        raise FileFormatError(
            "the file declares a document type, which is not read; remove the line <!DOCTYPE ...>",
            file=path,
            line=parser.CurrentLineNumber,
        )

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        problem = f"not readable as XML: {expat.errors.messages.get(error.code, 'a fault')}"
        raise FileFormatError(problem, file=path, line=error.lineno) from None
    except (LookupError, ValueError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"not readable as XML: {error}", file=path) from None


def _by_names(graph: Any, networkx: Any, options: ReadOptions, path: Path) -> Any:
    """The graph with nodes called by their attribute ``name``, as igraph writes it beside ids n0, n1, ..."""
    found = {node: str(values.get("name", "")) for node, values in graph.nodes(data=True)}
    different = len(set(found.values())) == len(found) and all(found.values())
    if options.label == "name" or not found or not different:
        return graph
    if any(str(node) != called for node, called in found.items()):
        tell(f"{path.name}: nodes are called by their attribute 'name'")
    graph = networkx.relabel_nodes(graph, found)
    for _, values in graph.nodes(data=True):
        values.pop("name")
    return graph


def _take_layers(parsed: Parsed, graph: Any, path: Path) -> None:
    if _LAYERS not in graph.graph:
        return
    try:
        stated = {
            between(*map(str, each["between"])) if "between" in each else str(each["name"]): bool(each["directed"])
            for each in json.loads(graph.graph[_LAYERS])
        }
    except (ValueError, TypeError, KeyError, RecursionError):
        raise FileFormatError(f"the graph attribute {_LAYERS!r} is damaged", file=path) from None
    parsed.layers = own_layers(stated)
    parsed.directed = stated


def write(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The graph as GraphML."""
    networkx = import_extra("networkx", "networkx", "writing GraphML")
    text = as_text(graph, NAME, couplings=True)
    every = [*text.layers.values(), *graph.couplings.values()]
    directed = any(each.directed for each in every)
    made = networkx.MultiDiGraph() if directed else networkx.MultiGraph()
    stated: list[dict[str, Any]] = [{"name": name, "directed": layer.directed} for name, layer in text.edges()]
    stated += [
        {"between": [first, second], "directed": coupling.directed} for first, second, coupling in text.couplings()
    ]
    made.graph[_LAYERS] = json.dumps(stated)
    if text.labels is not None and not any(text.labels):
        lossy(NAME, "labels where no node has one")
    for node, facts in text.node_facts():
        values = {key: xml_text(value) if isinstance(value, str) else value for key, value in facts.items()}
        made.add_node(xml_text(node), **values)
    for name, layer in text.edges():
        xml_text(name)
        for row, (source, target) in enumerate(zip(layer.source.tolist(), layer.target.tolist(), strict=True)):
            weight = {} if layer.weight is None else {"weight": float(layer.weight[row])}
            made.add_edge(text.nodes[source], text.nodes[target], layer=name, **weight)
    for first, second, coupling in text.couplings():
        here, there = xml_text(first), xml_text(second)
        for row, (source, target) in enumerate(zip(coupling.source.tolist(), coupling.target.tolist(), strict=True)):
            ends_in: dict[str, Any] = {"source_layer": here, "target_layer": there}
            if source > target and not directed:  # networkx would turn it round without its layers
                source, target = target, source
                ends_in = {"source_layer": there, "target_layer": here}
            if coupling.weight is not None:
                ends_in["weight"] = float(coupling.weight[row])
            made.add_edge(text.nodes[source], text.nodes[target], **ends_in)
    buffer = io.BytesIO()
    writer = networkx.readwrite.graphml.write_graphml_xml
    writer(made, buffer, named_key_ids=True)
    return {path: buffer.getvalue()}


def xml_text(text: str, format_name: str = NAME) -> str:
    """The text, unless it has a character that XML cannot hold."""
    if _NOT_XML.search(text):
        raise DataError(f"the format {format_name!r} cannot hold the character in {text!r}; 'csv' and 'npz' can")
    return text
