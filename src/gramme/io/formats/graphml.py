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
    data = read_bytes(path)
    networkx = import_extra("networkx", "networkx", "reading GraphML")
    check_xml(data, path)
    stated_both_ways = b"source_layer" in data and _UNDIRECTED.search(data) is not None
    if stated_both_ways:
        # networkx turns undirected edges round, and their ends are in different layers
        data = _UNDIRECTED.sub(rb"\1directed\2", data)
    graph = _parsed(lambda: networkx.read_graphml(AtOnce(data), force_multigraph=True), "GraphML", path)
    attributes = {str(node): values for node, values in graph.nodes(data=True)}
    names = {} if _LAYERS in graph.graph else _names(attributes, options, path)
    edges = ((str(source), str(target), values) for source, target, values in graph.edges(data=True))
    directed = bool(graph.is_directed()) and not stated_both_ways
    parsed = parse_attribute_graph(path, attributes, edges, options, directed=directed, names=names)
    _take_layers(parsed, graph, path)
    if parsed.labels is not None:  # of the kinds that the file states
        label = options.label or LABEL_COLUMN
        parsed.labels = {names.get(node, node): values.get(label) for node, values in attributes.items()}
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
        problem = f"not readable as XML: {expat.errors.messages.get(error.code, 'a fault')}"
        raise FileFormatError(problem, file=path, line=error.lineno) from None
    except (LookupError, ValueError) as error:
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"not readable as XML: {error}", file=path) from None


def _names(attributes: dict[str, Any], options: ReadOptions, path: Path) -> dict[str, str]:
    """The nodes' attribute ``name`` where it tells them apart, as igraph writes it beside ids n0, n1, ..."""
    found = {node: str(values.get("name", "")) for node, values in attributes.items()}
    if options.label == "name" or not all(found.values()) or len(set(found.values())) < len(found):
        return {}
    if any(node != name for node, name in found.items()):
        tell(f"{path.name}: nodes are called by their attribute 'name'")
    return found


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
        for start, end, weight in text.named_edges(layer):
            made.add_edge(start, end, layer=name, **({} if weight is None else {"weight": weight}))
    for first, second, coupling in text.couplings():
        here, there = xml_text(first), xml_text(second)
        for source, target, weight in edges_of(coupling):
            ends_in: dict[str, Any] = {"source_layer": here, "target_layer": there}
            if source > target and not directed:  # networkx would turn it round without its layers
                source, target = target, source
                ends_in = {"source_layer": there, "target_layer": here}
            if weight is not None:
                ends_in["weight"] = weight
            made.add_edge(text.nodes[source], text.nodes[target], **ends_in)
    buffer = io.BytesIO()
    networkx.readwrite.graphml.write_graphml_xml(made, buffer, named_key_ids=True)
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
    text = read_text(path, options.encoding)
    depth = deepest = 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        deepest = max(deepest, depth)
    if deepest > _MAX_NESTING:
        raise FileFormatError("brackets are nested too deeply", file=path)
    graph = _parsed(lambda: networkx.parse_gml(text.split("\n"), label=None), "GML", path)
    edges = ((str(a), str(b), facts) for a, b, facts in graph.edges(data=True))
    nodes = {str(node): facts for node, facts in graph.nodes(data=True)}
    if len(nodes) < graph.number_of_nodes():
        raise FileFormatError("two nodes have the same id when written as text", file=path)
    return parse_attribute_graph(path, nodes, edges, options, directed=bool(graph.is_directed()), named_by_label=True)


# GEXF, the format of Gephi. What networkx leaves out is read beside it: the `kind` by which Gephi tells parallel edges
# apart, and a `type` that is not a direction, which networkx writes for edges with such an attribute.
GEXF_NAME = "gexf"


def read_gexf(path: Path, options: ReadOptions) -> Parsed:
    """The graph of a GEXF file; a node is called by its label where these tell the nodes apart."""
    data = read_bytes(path)
    networkx = import_extra("networkx", "networkx", "reading GEXF")
    check_xml(data, path)
    graph = _parsed(lambda: networkx.read_gexf(AtOnce(data), node_type=str), "GEXF", path)
    kinds = _kinds(data)
    edges = ((str(a), str(b), facts | kinds.get(str(facts.get("id")), {})) for a, b, facts in graph.edges(data=True))
    nodes = {str(node): facts for node, facts in graph.nodes(data=True)}
    return parse_attribute_graph(path, nodes, edges, options, directed=bool(graph.is_directed()), named_by_label=True)


def write_gexf(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The graph as GEXF, for Gephi: the layer of an edge is its kind, which keeps parallel edges apart there.

    Not among the formats to write, since it holds no features, couplings or layers without edges.
    """
    text = as_text(graph, GEXF_NAME, features=False)
    for name in [*text.nodes, *text.layers, *(text.labels or [])]:
        xml_text(name, GEXF_NAME)
    directed = any(layer.directed for _, layer in text.edges())
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<gexf xmlns="http://gexf.net/1.3" version="1.3">',
        f'<graph defaultedgetype="{"directed" if directed else "undirected"}" mode="static">',
        '<attributes class="node"><attribute id="0" title="class" type="string"/></attributes>',
        '<attributes class="edge"><attribute id="0" title="layer" type="string"/></attributes>',
        "<nodes>",
    ]
    for place, node in enumerate(text.nodes):
        known = text.labels is not None and text.labels[place]
        values = f"<attvalues>{_value(text.labels[place])}</attvalues>" if text.labels is not None and known else ""
        lines.append(f'<node id="{place}" label={quoteattr(node)}>{values}</node>')
    lines.append("</nodes><edges>")
    number = 0
    for name, layer in text.edges():
        said, value = f"kind={quoteattr(name)}", _value(name)
        way = "directed" if layer.directed else "undirected"
        for source, target, weight in edges_of(layer):
            size = 1.0 if weight is None else weight
            ends = f'id="{number}" source="{source}" target="{target}" type="{way}" weight="{size!r}"'
            lines.append(f"<edge {ends} {said}><attvalues>{value}</attvalues></edge>")
            number += 1
    lines.append("</edges></graph></gexf>\n")
    return {path: "\n".join(lines)}


def _value(text: str) -> str:
    return f'<attvalue for="0" value={quoteattr(text)}/>'


def _kinds(data: bytes) -> dict[str, dict[str, str]]:
    """For the id of each edge its kind, and its type where that is no direction; data that were checked before."""
    found: dict[str, dict[str, str]] = {}

    def start(tag: str, attributes: dict[str, Any]) -> None:
        if tag.rpartition(":")[2] != "edge" or "id" not in attributes:
            return
        said = {key: attributes[key] for key in ("kind", "type") if attributes.get(key)}
        if said.get("type", "").lower() in DIRECTIONS:
            del said["type"]
        if said:
            found[attributes["id"]] = said

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.Parse(data, True)
    return found
