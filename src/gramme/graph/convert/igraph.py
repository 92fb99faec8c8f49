"""From igraph: one graph per layer, or one graph whose edges have an attribute that names the layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.errors import DataError, did_you_mean
from gramme.graph.arrays import loose_index
from gramme.graph.edge_layer import EdgeLayer
from gramme.graph.edges import ONLY_LAYER, from_edges
from gramme.graph.layer import Layer
from gramme.graph.multilayer import MultilayerGraph


def from_igraph(
    graphs: Any,
    *,
    layer: str = "layer",
    weight: str | None = "weight",
    label: str | None = None,
    node: str = "name",
    name: str | None = None,
) -> MultilayerGraph:
    """A graph of edge layers from igraph.

    Parameters
    ----------
    graphs : igraph.Graph or mapping of layer name to igraph.Graph
        One graph per layer, over nodes of the same names; or one graph whose edges say their layer.
    layer : str, default="layer"
        The attribute of the edges that names the layer, for a single graph; all edges make the
        layer "edges" where they have none.
    weight : str, optional, default="weight"
        The attribute of the edges that is their weight; None for none.
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
    directed: dict[str, bool] = {}
    names: dict[Any, None] = {}
    held: dict[str, list[Any]] = {}
    labels: dict[Any, Any] = {}
    weighted: set[str] = set()
    for key, graph in by_layer.items():
        nodes = (
            list(graph.vs[node]) if node in graph.vs.attributes() else list(range(graph.vcount()))
        )
        names.update(dict.fromkeys(nodes))
        stated = _layers(graph, key, layer)
        directed |= dict.fromkeys(
            set(stated.tolist()) or {str(key or ONLY_LAYER)}, graph.is_directed()
        )
        if key is not None:
            held[str(key)] = nodes
        ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
        index = loose_index(nodes)
        frame = pd.DataFrame(
            {"layer": stated, "source": index[ends[:, 0]], "target": index[ends[:, 1]]}
        )
        frame["weight"] = 1.0
        if weight is not None and weight in graph.es.attributes():
            frame["weight"] = np.array(graph.es[weight], dtype=np.float64)
            weighted.update(frame["layer"])
        frames.append(frame)
        if label is not None:
            _take_labels(labels, graph, nodes, label)
    edges = pd.concat([frame for frame in frames if len(frame)] or frames[:1], ignore_index=True)
    order = list(directed)
    made = from_edges(
        edges if weighted else edges[["layer", "source", "target"]],
        directed=directed,
        nodes=list(names),
        layers=order,
        node_sets={key: nodes for key, nodes in held.items() if len(nodes) < len(names)},
        labels=[labels.get(one) for one in names] if label is not None else None,
        name=name,
    )
    if not weighted or weighted >= set(order):
        return made
    return made.replace(layers={key: _plain(made, key, weighted) for key in order})


def _plain(graph: MultilayerGraph, key: str, weighted: set[str]) -> Layer:
    """A layer without the weights of 1 that it was given beside weighted ones."""
    layer = graph.layers[key]
    assert isinstance(layer, EdgeLayer)
    if key in weighted:
        return layer
    return EdgeLayer(
        graph.num_nodes,
        layer.source,
        layer.target,
        directed=layer.directed,
        nodes=np.flatnonzero(layer.present),
    )


def _layers(graph: Any, key: Any, layer: str) -> NDArray[np.object_]:
    """The layer of each edge."""
    if key is None and layer in graph.es.attributes():
        return np.array([str(one) for one in graph.es[layer]], dtype=object)
    return np.full(graph.ecount(), str(key) if key is not None else ONLY_LAYER, dtype=object)


def _take_labels(labels: dict[Any, Any], graph: Any, nodes: list[Any], label: str) -> None:
    if label not in graph.vs.attributes():
        known = graph.vs.attributes()
        raise DataError(f"no vertex has the attribute {label!r}; {did_you_mean(label, known)}")
    for one, value in zip(nodes, graph.vs[label], strict=True):
        if value is not None and labels.setdefault(one, value) != value:
            raise DataError(f"the node {one!r} has the labels {labels[one]!r} and {value!r}")
