"""GEXF, the format of Gephi, through networkx; a file that declares a document type is refused.

What networkx leaves out is read beside it: the ``kind`` by which Gephi tells parallel edges apart, and a ``type`` that
is not a direction, which networkx writes for edges with such an attribute.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.parsers import expat

from gramme.errors import FileFormatError, import_extra
from gramme.io.attribute_graph import parse_attribute_graph
from gramme.io.headers import DIRECTIONS
from gramme.io.parsed import Parsed, ReadOptions
from gramme.io.source import read_bytes

from .graphml import AtOnce, check_xml

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
    edges = (
        (str(a), str(b), facts | kinds.get(str(facts.get("id")), {}))
        for a, b, facts in graph.edges(data=True)
    )
    nodes = {str(node): facts for node, facts in graph.nodes(data=True)}
    return parse_attribute_graph(
        path, nodes, edges, options, directed=bool(graph.is_directed()), named_by_label=True
    )


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
