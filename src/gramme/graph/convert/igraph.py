"""From igraph: one graph per layer, or one graph whose edges have an attribute that names the layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from gramme.errors import DataError, did_you_mean
from gramme.graph.arrays import loose_index
from gramme.graph.edges import ONLY_LAYER, from_edges
from gramme.graph.multilayer import MultilayerGraph


def from_igraph(
    graphs: Any,
    *,
    layer: str = "layer",
    weight: str | None = "weight",
    edge_features: Sequence[str] | None = None,
    label: str | None = None,
    node: str = "name",
    name: str | None = None,
) -> MultilayerGraph:
    """A graph of edge layers from igraph.

    Direction: an edge u → v of a directed graph stays u → v, and u hears v, as in all of gramme.

    Parameters
    ----------
    graphs : igraph.Graph or mapping of layer name to igraph.Graph
        One graph per layer, over nodes of the same names; or one graph whose edges say their layer.
    layer : str, default="layer"
        The attribute of the edges that names the layer, for a single graph; all edges make the
        layer "edges" where they have none.
    weight : str, optional, default="weight"
        The attribute of the edges that is their weight; None for none.
    edge_features : list of str, optional
        Attributes of edges that become the ``features`` of the layers; see :func:`gramme.graph.edges.from_edges`.
    label : str, optional
        The attribute of the vertices that is the label.
    node : str, default="name"
        The attribute of the vertices that names them; their numbers where they have none.
    name : str, optional
        What to call the graph.

    Examples
    --------
    >>> import igraph
    >>> ring = igraph.Graph.Ring(3)
    >>> ring.vs["name"] = ["Ann", "Bo", "Cy"]
    >>> from_igraph({"advice": ring, "friend": igraph.Graph.Formula("Ann->Bo")})
    MultilayerGraph(3 nodes, 2 layers: advice 3 edges, friend 1 edge)
    """
    by_layer = graphs if isinstance(graphs, Mapping) else {None: graphs}
    for graph in by_layer.values():
        if not hasattr(graph, "vs") or not hasattr(graph, "get_edgelist"):
            raise DataError(f"an igraph.Graph is needed, not {type(graph).__name__}")
    frames: list[pd.DataFrame] = []
    directed_by_layer: dict[str, bool] = {}
    node_names: dict[Any, None] = {}
    nodes_by_layer: dict[str, list[Any]] = {}
    node_labels: dict[Any, Any] = {}
    for layer_key, graph in by_layer.items():
        nodes = list(graph.vs[node]) if node in graph.vs.attributes() else list(range(graph.vcount()))
        node_names.update(dict.fromkeys(nodes))
        layer_of_edge = np.full(graph.ecount(), str(layer_key) if layer_key is not None else ONLY_LAYER, dtype=object)
        if layer_key is None and layer in graph.es.attributes():
            layer_of_edge = np.array([str(one) for one in graph.es[layer]], dtype=object)
        directed_by_layer |= dict.fromkeys(
            set(layer_of_edge.tolist()) or {str(layer_key or ONLY_LAYER)}, graph.is_directed()
        )
        if layer_key is not None:
            nodes_by_layer[str(layer_key)] = nodes
        edge_ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
        node_lookup = loose_index(nodes)
        frame = pd.DataFrame(
            {
                "source_layer": layer_of_edge,
                "source": node_lookup[edge_ends[:, 0]],
                "target": node_lookup[edge_ends[:, 1]],
            }
        )
        frame["target_layer"] = layer_of_edge
        edge_attributes = graph.es.attributes()
        frame["weight"] = np.array(graph.es[weight], dtype=np.float64) if weight in edge_attributes else np.nan
        for name_of_column in edge_features or ():
            frame[name_of_column] = graph.es[name_of_column] if name_of_column in edge_attributes else None
        frames.append(frame)
        if label is not None and label not in graph.vs.attributes():
            raise DataError(f"no vertex has the attribute {label!r}; {did_you_mean(label, graph.vs.attributes())}")
        for one, value in zip(nodes, graph.vs[label], strict=True) if label is not None else ():
            if value is not None and node_labels.setdefault(one, value) != value:
                raise DataError(f"the node {one!r} has the labels {node_labels[one]!r} and {value!r}")
    return from_edges(
        pd.concat([frame for frame in frames if len(frame)] or frames[:1], ignore_index=True),
        directed=directed_by_layer,
        nodes=list(node_names),
        layers=list(directed_by_layer),
        node_sets={key: nodes for key, nodes in nodes_by_layer.items() if len(nodes) < len(node_names)},
        labels=[node_labels.get(one) for one in node_names] if label is not None else None,
        edge_features=edge_features,
        name=name,
    )
