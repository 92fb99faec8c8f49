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
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from gramme.errors import DataError, FileFormatError, import_extra
from gramme.graph import MultilayerGraph
from gramme.io.atomic import Content
from gramme.io.attribute_graph import parse_attribute_graph
from gramme.io.headers import DIRECTIONS
from gramme.io.lossy import as_text, edges_of, lossy
from gramme.io.node_table import LABEL_COLUMN
from gramme.io.parsed import Parsed, ReadOptions, between, own_layers
from gramme.io.source import read_bytes, read_text, tell

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
    file_bytes = read_bytes(path)
    networkx = import_extra("networkx", "networkx", "reading GraphML")
    check_xml(file_bytes, path)
    stated_both_ways = b"source_layer" in file_bytes and _UNDIRECTED.search(file_bytes) is not None
    if stated_both_ways:
        # networkx turns undirected edges round, and their ends are in different layers
        file_bytes = _UNDIRECTED.sub(rb"\1directed\2", file_bytes)
    graph = _parsed(lambda: networkx.read_graphml(AtOnce(file_bytes), force_multigraph=True), "GraphML", path)
    attributes = {str(node): attribute_values for node, attribute_values in graph.nodes(data=True)}
    name_of_node = {} if _LAYERS in graph.graph else _names(attributes, options, path)
    edge_list = (
        (str(source), str(target), attribute_values) for source, target, attribute_values in graph.edges(data=True)
    )
    is_directed = bool(graph.is_directed()) and not stated_both_ways
    parsed = parse_attribute_graph(path, attributes, edge_list, options, directed=is_directed, names=name_of_node)
    _take_layers(parsed, graph, path)
    if parsed.labels is not None:  # of the kinds that the file states
        label_name = options.label or LABEL_COLUMN
        parsed.labels = {
            name_of_node.get(node, node): attribute_values.get(label_name)
            for node, attribute_values in attributes.items()
        }
    return parsed


def _parsed(parse: Callable[[], Any], kind: str, path: Path) -> Any:
    """What networkx makes of a file; its remarks go to the report."""
    try:
        with warnings.catch_warnings(record=True) as remarks:
            warnings.simplefilter("always")
            graph = parse()
    except MemoryError:
        raise
    except Exception as error:  # networkx raises whatever its parsing meets
        raise FileFormatError(f"no {kind} that can be read: {error}", file=path) from None
    for remark in dict.fromkeys(str(one.message) for one in remarks):
        tell(f"{path.name}: {remark}")
    return graph


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
        error_text = f"not readable as XML: {expat.errors.messages.get(error.code, 'a fault')}"
        raise FileFormatError(error_text, file=path, line=error.lineno) from None
    except (LookupError, ValueError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"not readable as XML: {error}", file=path) from None


def _names(attributes: dict[str, Any], options: ReadOptions, path: Path) -> dict[str, str]:
    """The nodes' attribute ``name`` where it tells them apart, as igraph writes it beside ids n0, n1, ..."""
    name_of_node = {node: str(attribute_values.get("name", "")) for node, attribute_values in attributes.items()}
    if options.label == "name" or not all(name_of_node.values()) or len(set(name_of_node.values())) < len(name_of_node):
        return {}
    if any(node != node_name for node, node_name in name_of_node.items()):
        tell(f"{path.name}: nodes are called by their attribute 'name'")
    return name_of_node


def _take_layers(parsed: Parsed, graph: Any, path: Path) -> None:
    if _LAYERS not in graph.graph:
        return
    try:
        stated_layers = {
            between(*map(str, each["between"])) if "between" in each else str(each["name"]): bool(each["directed"])
            for each in json.loads(graph.graph[_LAYERS])
        }
    except (ValueError, TypeError, KeyError, RecursionError):
        raise FileFormatError(f"the graph attribute {_LAYERS!r} is damaged", file=path) from None
    parsed.layers = own_layers(stated_layers)
    parsed.directed = stated_layers


def write(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The graph as GraphML."""
    networkx = import_extra("networkx", "networkx", "writing GraphML")
    text_graph = as_text(graph, NAME, couplings=True)
    every = [*text_graph.layers.values(), *graph.couplings.values()]
    is_directed = any(each.directed for each in every)
    networkx_graph = networkx.MultiDiGraph() if is_directed else networkx.MultiGraph()
    stated_layers: list[dict[str, Any]] = [
        {"name": name, "directed": layer.directed} for name, layer in text_graph.edges()
    ]
    stated_layers += [
        {"between": [first, second], "directed": coupling.directed}
        for first, second, coupling in text_graph.couplings()
    ]
    networkx_graph.graph[_LAYERS] = json.dumps(stated_layers)
    if text_graph.labels is not None and not any(text_graph.labels):
        lossy(NAME, "labels where no node has one")
    for node, attributes_of_node in text_graph.node_facts():
        attribute_values = {
            attribute_name: xml_text(attribute_value) if isinstance(attribute_value, str) else attribute_value
            for attribute_name, attribute_value in attributes_of_node.items()
        }
        networkx_graph.add_node(xml_text(node), **attribute_values)
    for layer_name, layer in text_graph.edges():
        xml_text(layer_name)
        for start, end, edge_weight in text_graph.named_edges(layer):
            networkx_graph.add_edge(
                start, end, layer=layer_name, **({} if edge_weight is None else {"weight": edge_weight})
            )
    for first_layer, second_layer, coupling in text_graph.couplings():
        here, there = xml_text(first_layer), xml_text(second_layer)
        for source, target, edge_weight in edges_of(coupling):
            ends_in: dict[str, Any] = {"source_layer": here, "target_layer": there}
            if source > target and not is_directed:  # networkx would turn it round without its layers
                source, target = target, source
                ends_in = {"source_layer": there, "target_layer": here}
            if edge_weight is not None:
                ends_in["weight"] = edge_weight
            networkx_graph.add_edge(text_graph.nodes[source], text_graph.nodes[target], **ends_in)
    buffer = io.BytesIO()
    networkx.readwrite.graphml.write_graphml_xml(networkx_graph, buffer, named_key_ids=True)
    return {path: buffer.getvalue()}


def xml_text(text: str, format_name: str = NAME) -> str:
    """The text, unless it has a character that XML cannot hold."""
    if _NOT_XML.search(text):
        raise DataError(f"the format {format_name!r} cannot hold the character in {text!r}; 'csv' and 'npz' can")
    return text


# GML: nodes called by their label, edges with any attributes.

_MAX_NESTING = 50


def read_gml(path: Path, options: ReadOptions) -> Parsed:
    """The graph of a GML file."""
    networkx = import_extra("networkx", "networkx", "reading GML")
    file_text = read_text(path, options.encoding)
    depth = deepest = 0
    for letter in file_text:
        depth += (letter == "[") - (letter == "]")
        deepest = max(deepest, depth)
    if deepest > _MAX_NESTING:
        raise FileFormatError("brackets are nested too deeply", file=path)
    graph = _parsed(lambda: networkx.parse_gml(file_text.split("\n"), label=None), "GML", path)
    edge_list = ((str(a), str(b), facts) for a, b, facts in graph.edges(data=True))
    facts_by_node = {str(node): facts for node, facts in graph.nodes(data=True)}
    if len(facts_by_node) < graph.number_of_nodes():
        raise FileFormatError("two nodes have the same id when written as text", file=path)
    return parse_attribute_graph(
        path, facts_by_node, edge_list, options, directed=bool(graph.is_directed()), named_by_label=True
    )


# GEXF, the format of Gephi. What networkx leaves out is read beside it: the `kind` by which Gephi tells parallel edges
# apart, and a `type` that is not a direction, which networkx writes for edges with such an attribute.
GEXF_NAME = "gexf"


def read_gexf(path: Path, options: ReadOptions) -> Parsed:
    """The graph of a GEXF file; a node is called by its label where these tell the nodes apart."""
    file_bytes = read_bytes(path)
    networkx = import_extra("networkx", "networkx", "reading GEXF")
    check_xml(file_bytes, path)
    graph = _parsed(lambda: networkx.read_gexf(AtOnce(file_bytes), node_type=str), "GEXF", path)
    kinds = _kinds(file_bytes)
    edge_list = (
        (str(a), str(b), facts | kinds.get(str(facts.get("id")), {})) for a, b, facts in graph.edges(data=True)
    )
    facts_by_node = {str(node): facts for node, facts in graph.nodes(data=True)}
    return parse_attribute_graph(
        path, facts_by_node, edge_list, options, directed=bool(graph.is_directed()), named_by_label=True
    )


def write_gexf(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The graph as GEXF, for Gephi: the layer of an edge is its kind, which keeps parallel edges apart there.

    Not among the formats to write, since it holds no features, couplings or layers without edges.
    """
    text_graph = as_text(graph, GEXF_NAME, features=False)
    for any_name in [*text_graph.nodes, *text_graph.layers, *(text_graph.labels or [])]:
        xml_text(any_name, GEXF_NAME)
    is_directed = any(layer.directed for _, layer in text_graph.edges())
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<gexf xmlns="http://gexf.net/1.3" version="1.3">',
        f'<graph defaultedgetype="{"directed" if is_directed else "undirected"}" mode="static">',
        '<attributes class="node"><attribute id="0" title="class" type="string"/></attributes>',
        '<attributes class="edge"><attribute id="0" title="layer" type="string"/></attributes>',
        "<nodes>",
    ]
    for node_number, node in enumerate(text_graph.nodes):
        is_labelled = text_graph.labels is not None and text_graph.labels[node_number]
        attribute_values = (
            f"<attvalues>{_value(text_graph.labels[node_number])}</attvalues>"
            if text_graph.labels is not None and is_labelled
            else ""
        )
        lines.append(f'<node id="{node_number}" label={quoteattr(node)}>{attribute_values}</node>')
    lines.append("</nodes><edges>")
    number = 0
    for any_name, layer in text_graph.edges():
        said, attribute_value = f"kind={quoteattr(any_name)}", _value(any_name)
        way = "directed" if layer.directed else "undirected"
        for source, target, edge_weight in edges_of(layer):
            size = 1.0 if edge_weight is None else edge_weight
            edge_attributes = f'id="{number}" source="{source}" target="{target}" type="{way}" weight="{size!r}"'
            lines.append(f"<edge {edge_attributes} {said}><attvalues>{attribute_value}</attvalues></edge>")
            number += 1
    lines.append("</edges></graph></gexf>\n")
    return {path: "\n".join(lines)}


def _value(text: str) -> str:
    return f'<attvalue for="0" value={quoteattr(text)}/>'


def _kinds(data: bytes) -> dict[str, dict[str, str]]:
    """For the id of each edge its kind, and its type where that is no direction; data that were checked before."""
    kinds_by_edge: dict[str, dict[str, str]] = {}

    def start(tag: str, attributes: dict[str, Any]) -> None:
        if tag.rpartition(":")[2] != "edge" or "id" not in attributes:
            return
        said = {
            attribute_name: attributes[attribute_name]
            for attribute_name in ("kind", "type")
            if attributes.get(attribute_name)
        }
        if said.get("type", "").lower() in DIRECTIONS:
            del said["type"]
        if said:
            kinds_by_edge[attributes["id"]] = said

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.Parse(data, True)
    return kinds_by_edge
