"""GML through networkx: nodes called by their label, edges with any attributes."""

from __future__ import annotations

from pathlib import Path

from gramme.errors import FileFormatError, import_extra
from gramme.io.attribute_graph import parse_attribute_graph
from gramme.io.parsed import Parsed, ReadOptions
from gramme.io.source import read_text

NAME = "gml"
_MAX_NESTING = 50


def read(path: Path, options: ReadOptions) -> Parsed:
    """The graph of a GML file."""
    networkx = import_extra("networkx", "networkx", "reading GML")
    text = read_text(path, options.encoding)
    depth = deepest = 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        deepest = max(deepest, depth)
    if deepest > _MAX_NESTING:
        raise FileFormatError("brackets are nested too deeply", file=path)
    try:
        graph = networkx.parse_gml(text.split("\n"), label=None)
    except MemoryError:
        raise
    except Exception as error:  # networkx raises whatever its parsing meets
        raise FileFormatError(f"no GML that can be read: {error}", file=path) from None
    edges = ((str(a), str(b), facts) for a, b, facts in graph.edges(data=True))
    nodes = {str(node): facts for node, facts in graph.nodes(data=True)}
    if len(nodes) < graph.number_of_nodes():
        raise FileFormatError("two nodes have the same id when written as text", file=path)
    return parse_attribute_graph(path, nodes, edges, options, directed=bool(graph.is_directed()), named_by_label=True)
