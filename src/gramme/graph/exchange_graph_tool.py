"""From graph-tool: one graph per layer, or one graph whose edges have a property that names the layer.

graph-tool is installed from its own channels and not by pip, so nothing here imports it: its objects say all that is
needed. They are looked at as igraph's are, by ``exchange_igraph.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gramme.errors import DataError
from gramme.graph.exchange_igraph import from_igraph
from gramme.graph.multilayer import MultilayerGraph


def from_graph_tool(
    graphs: Any,
    *,
    layer: str = "layer",
    weight: str | None = "weight",
    label: str | None = None,
    node: str = "name",
    name: str | None = None,
) -> MultilayerGraph:
    """A graph of edge layers from graph-tool; filtered views are read as they are filtered.

    Parameters
    ----------
    graphs : graph_tool.Graph or mapping of layer name to graph_tool.Graph
        One graph per layer, over nodes of the same names; or one graph whose edges say their layer.
    layer : str, default="layer"
        The internal property of the edges that names the layer, for a single graph; all edges make the layer "edges"
        where they have none.
    weight : str, optional, default="weight"
        The internal property of the edges that is their weight; None for none.
    label : str, optional
        The internal property of the vertices that is the label; empty text means unknown.
    node : str, default="name"
        The internal property of the vertices that names them; their numbers where they have none.
    name : str, optional
        What to call the graph.
    """
    given = graphs if isinstance(graphs, Mapping) else {None: graphs}
    for graph in given.values():
        if not hasattr(graph, "vertex_properties") or not hasattr(graph, "edge_properties"):
            raise DataError(f"a graph_tool.Graph is needed, not {type(graph).__name__}")
    views = {key: _LikeIgraph(graph) for key, graph in given.items()}
    return from_igraph(
        views if isinstance(graphs, Mapping) else views[None],
        layer=layer,
        weight=weight,
        label=label,
        node=node,
        name=name,
    )


class _Properties:
    """The internal properties of vertices or edges, a list each."""

    def __init__(self, properties: Any, keys: list[Any]) -> None:
        self._properties, self._keys = properties, keys

    def attributes(self) -> list[str]:
        return [str(name) for name in self._properties]

    def __getitem__(self, name: str) -> list[Any]:
        values = self._properties[name]
        found = [values[key] for key in self._keys]
        return [None if isinstance(one, str) and not one else one for one in found]


class _LikeIgraph:
    """A graph of graph-tool with the names that igraph has for its parts."""

    def __init__(self, graph: Any) -> None:
        vertices, edges = list(graph.vertices()), list(graph.edges())
        number = {int(vertex): place for place, vertex in enumerate(vertices)}
        self._ends = [(number[int(one.source())], number[int(one.target())]) for one in edges]
        self._directed = bool(graph.is_directed())
        self._count = len(vertices)
        self.vs = _Properties(graph.vertex_properties, vertices)
        self.es = _Properties(graph.edge_properties, edges)

    def get_edgelist(self) -> list[tuple[int, int]]:
        return self._ends

    def vcount(self) -> int:
        return self._count

    def ecount(self) -> int:
        return len(self._ends)

    def is_directed(self) -> bool:
        return self._directed
