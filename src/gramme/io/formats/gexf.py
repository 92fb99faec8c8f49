"""GEXF, the format of Gephi, through networkx; a file that declares a document type is refused."""

from __future__ import annotations

from pathlib import Path

from gramme.errors import FileFormatError, import_extra
from gramme.io.attribute_graph import parse_attribute_graph
from gramme.io.formats.graphml import AtOnce, check_xml
from gramme.io.parsed import Parsed, ReadOptions
from gramme.io.source import read_bytes

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
    edges = ((str(a), str(b), facts) for a, b, facts in graph.edges(data=True))
    nodes = {str(node): facts for node, facts in graph.nodes(data=True)}
    return parse_attribute_graph(
        path, nodes, edges, options, directed=bool(graph.is_directed()), named_by_label=True
    )
