"""GEXF, the format of Gephi, through networkx; a file that declares a document type is refused.

What networkx leaves out is read beside it: the ``kind`` by which Gephi tells parallel edges apart, and a ``type`` that
is not a direction, which networkx writes for edges with such an attribute.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

import numpy as np

from gramme.errors import FileFormatError, import_extra
from gramme.graph import MultilayerGraph
from gramme.io.atomic import Content
from gramme.io.attribute_graph import parse_attribute_graph
from gramme.io.headers import DIRECTIONS
from gramme.io.lossy import as_text
from gramme.io.parsed import Parsed, ReadOptions
from gramme.io.source import read_bytes

from .graphml import AtOnce, check_xml, xml_text

NAME = "gexf"


def read(path: Path, options: ReadOptions) -> Parsed:
    """The graph of a GEXF file; a node is called by its label where these tell the nodes apart."""
    data = read_bytes(path)
    networkx = import_extra("networkx", "networkx", "reading GEXF")
    check_xml(data, path)
    try:
        graph = networkx.read_gexf(AtOnce(data), node_type=str)
    except MemoryError:
        raise
    except Exception as error:  # networkx raises whatever its parsing meets
        raise FileFormatError(f"no GEXF that can be read: {error}", file=path) from None
    kinds = _kinds(data)
    edges = ((str(a), str(b), facts | kinds.get(str(facts.get("id")), {})) for a, b, facts in graph.edges(data=True))
    nodes = {str(node): facts for node, facts in graph.nodes(data=True)}
    return parse_attribute_graph(path, nodes, edges, options, directed=bool(graph.is_directed()), named_by_label=True)


def write(graph: MultilayerGraph, path: Path) -> dict[Path, Content]:
    """The graph as GEXF, for Gephi: the layer of an edge is its kind, which keeps parallel edges apart there.

    Not among the formats to write, since it holds no features, couplings or layers without edges.
    """
    text = as_text(graph, NAME, features=False)
    for name in [*text.nodes, *text.layers, *(text.labels or [])]:
        xml_text(name, NAME)
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
        weights = np.ones(layer.num_edges) if layer.weight is None else layer.weight
        for source, target, weight in zip(layer.source.tolist(), layer.target.tolist(), weights.tolist(), strict=True):
            ends = f'id="{number}" source="{source}" target="{target}" type="{way}" weight="{weight!r}"'
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
