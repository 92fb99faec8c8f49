"""To and from networkx: one graph per layer, or one multigraph whose edges name their layer."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gramme.errors import DataError, LossyFormatWarning, did_you_mean, import_extra
from gramme.graph.arrays import is_missing, name_index, positive_numbers
from gramme.graph.edge_features import encoded_columns
from gramme.graph.edge_layer import EdgeLayer
from gramme.graph.edges import ONLY_LAYER, layer_directions
from gramme.graph.layer import Layer
from gramme.graph.multilayer import MultilayerGraph
from gramme.graph.relations import from_relations

from .scipy import layer_from_both_ways

#: Source, target and attributes.
Edge = tuple[Any, Any, dict[str, Any]]

if TYPE_CHECKING:
    import networkx as nx

    NetworkxGraph = nx.Graph[Any]


def from_networkx(
    graphs: Any,
    *,
    layer: str = "layer",
    weight: str | None = "weight",
    edge_features: Sequence[str] | None = None,
    label: str | None = None,
    kind: str | None = None,
    target: str | None = None,
    paths: Iterable[Sequence[str]] | None = None,
    directed: bool | Mapping[str, bool] | None = None,
    nodes: Iterable[Any] | None = None,
    features: Any = None,
    name: str | None = None,
) -> MultilayerGraph:
    """A graph of edge layers from networkx graphs.

    Direction: an edge u → v of a DiGraph stays u → v, and u hears v, as in all of gramme. For messages that flow from u
    to v give ``graph.reverse()``.

    Parameters
    ----------
    graphs : graph, mapping or list of graphs
        Graph or DiGraph, one per layer, by layer name or in order (named as the graphs are, else
        "layer 1", "layer 2", ...); the nodes of the result are those of any graph, and a layer
        holds the nodes of its own. Or one MultiGraph or MultiDiGraph whose edges name their layer.
    layer : str, default="layer"
        The edge attribute that names the layer of a multigraph's edge.
    weight : str or None, default="weight"
        The edge attribute with the weight, 1 where an edge of a weighted layer has none; None
        leaves weights out.
    edge_features : list of str, optional
        Edge attributes that become the ``features`` of the layers; see :func:`gramme.graph.edges.from_edges`.
    label : str, optional
        The node attribute with the label.
    kind, target, paths : optional
        For one graph with nodes of several kinds: the node attribute that tells the kind, the kind
        to label, and the ways from it that are layers; the rest is as in
        :func:`gramme.graph.relations.from_relations`.
    directed : bool or mapping of layer name to bool, optional
        If not given, as the graphs are. False makes a directed graph's edges join both ways.
    nodes : iterable, optional
        Names of all nodes in order; if not given, as they first appear.
    features, name
        As for :class:`~gramme.MultilayerGraph`.

    Examples
    --------
    >>> import networkx as nx
    >>> from_networkx({"path": nx.path_graph(4), "star": nx.star_graph(2)})
    MultilayerGraph(4 nodes, 2 layers: path 3 edges, star 2 edges)
    """
    nx = import_extra("networkx", "networkx", "from_networkx")
    if kind is not None:
        if edge_features is not None:
            raise DataError("edge_features are for graphs with one kind of node; leave out edge_features or kind")
        if not hasattr(graphs, "nodes") or not hasattr(graphs, "edges"):
            raise DataError("with kind=..., give one networkx graph whose nodes have that attribute")
        if target is None:
            raise DataError("with kind=..., say which kind is to be labelled with target=...")
        of_node: dict[Any, str] = {}
        members: dict[str, list[Any]] = {}
        of_target: dict[Any, Any] = {}
        for node, values in graphs.nodes(data=True):
            if is_missing(values.get(kind)):
                raise DataError(f"the node {node!r} has no attribute {kind!r} to tell its kind")
            of_node[node] = str(values[kind])
            members.setdefault(of_node[node], []).append(node)
            if label is not None and of_node[node] == target and not is_missing(values.get(label)):
                of_target[node] = values[label]
        order = list(members)
        relations: dict[tuple[str, str], list[tuple[Any, Any, Any]]] = {}
        for source, end, values in graphs.edges(data=True):
            ends = (source, end)
            if order.index(of_node[source]) > order.index(of_node[end]):
                ends = (end, source)
            pair = (of_node[ends[0]], of_node[ends[1]])
            relations.setdefault(pair, []).append((*ends, values.get(weight) if weight else None))
        weighted: dict[tuple[str, str], list[Any]] = {}
        for pair, rows in relations.items():
            some = any(weight is not None for *_, weight in rows)
            weighted[pair] = [(a, b, 1.0 if weight is None else weight) if some else (a, b) for a, b, weight in rows]
        stated: dict[str, Iterable[Any]] = members | ({} if nodes is None else {target: nodes})
        joined = {each for pair in relations for each in pair}
        return from_relations(
            weighted,
            target=target,
            paths=paths,
            directed=bool(graphs.is_directed()) if directed is None else directed,
            nodes={each: names for each, names in stated.items() if each in joined},
            labels=None if label is None else of_target,
            features=features,
            name=name,
        )
    named = _named(graphs, nx)
    for key, graph in named.items():
        if not isinstance(graph, nx.Graph):
            raise DataError(f"layer {key!r} is not a networkx graph but {graph!r}")
    index = name_index(dict.fromkeys(node for graph in named.values() for node in graph) if nodes is None else nodes)
    frame = MultilayerGraph({}, nodes=index)
    edges: dict[str, list[Edge]] = {}
    origin: dict[str, str] = {}  # the graph that a layer's edges are from
    labels: dict[Any, Any] = {}
    for key, graph in named.items():
        split = {key: list(graph.edges(data=True))}
        if graph.is_multigraph():
            split = _layers_of_multigraph(graph, key, layer)
        edges |= split
        origin |= dict.fromkeys(split, key)
        for node, value in graph.nodes(data=label) if label is not None else ():
            if is_missing(value):
                continue
            if labels.setdefault(node, value) != value:
                raise DataError(f"node {node!r} has the label {labels[node]!r} in one graph and {value!r} in another")
    inside = {key: frame.positions(list(graph)) for key, graph in named.items()}
    one_way = layer_directions(directed, edges, otherwise=None)
    described = _edge_features(edges, edge_features)
    layers: dict[str, Layer] = {
        key: _layer(
            frame,
            key,
            found,
            weight,
            described[key],
            inside[origin[key]],
            named[origin[key]].is_directed(),
            one_way[key],
        )
        for key, found in edges.items()
    }
    return MultilayerGraph(
        layers,
        nodes=index,
        labels=None if label is None else labels,
        features=features,
        name=name,
        num_nodes=len(index),
    )


def to_networkx(graph: MultilayerGraph, *, merged: bool = False) -> dict[str, NetworkxGraph] | nx.MultiGraph[Any]:
    """One networkx graph per layer, or all layers in one multigraph.

    Nodes carry the attribute ``label`` where it is known; edges of weighted layers ``weight``, and features of edges
    under their names. A directed edge u → v, where u hears v, stays u → v.
    Membership layers are materialised. Features and couplings are not carried over; of couplings a
    :class:`gramme.LossyFormatWarning` says so (``graph.with_coupling_layers()`` makes layers of them).

    Parameters
    ----------
    graph : MultilayerGraph
    merged : bool, default=False
        False: a mapping of layer name to Graph or DiGraph with the nodes the layer holds.
        ``from_networkx(that, label="label", nodes=graph.nodes)`` is the way back.
        True: one MultiGraph, or a MultiDiGraph if any layer is directed (an undirected edge is then
        there both ways), with the edge attribute ``layer`` and all nodes; which nodes a layer holds
        and layers without edges are not in it.

    Examples
    --------
    >>> g = MultilayerGraph({"friends": EdgeLayer(3, [0], [1])}, labels=["a", None, "b"])
    >>> print(to_networkx(g)["friends"])
    Graph with 3 nodes and 1 edges
    >>> print(to_networkx(g, merged=True))
    MultiGraph with 3 nodes and 1 edges
    """
    networkx = import_extra("networkx", "networkx", "to_networkx")
    if graph.couplings:
        warnings.warn("networkx graphs cannot hold couplings", LossyFormatWarning, stacklevel=3)
    labels = [None] * graph.num_nodes if graph.labels is None else graph.labels
    nodes = [(name, {} if label is None else {"label": label}) for name, label in zip(graph.nodes, labels, strict=True)]
    if merged:
        one_way = any(layer.directed for layer in graph.layers.values())
        both: nx.MultiGraph[Any] = networkx.MultiDiGraph() if one_way else networkx.MultiGraph()
        both.add_nodes_from(nodes)
        for key, layer in graph.layers.items():
            _add_edges(both, layer.to_edges(), nodes, {"layer": key}, mirrored=one_way)
        return both
    made: dict[str, NetworkxGraph] = {}
    for key, layer in graph.layers.items():
        made[key] = networkx.DiGraph() if layer.directed else networkx.Graph()
        made[key].add_nodes_from(nodes[place] for place in np.flatnonzero(layer.present).tolist())
        _add_edges(made[key], layer.to_edges(), nodes)
    return made


def _named(graphs: Any, nx: Any) -> dict[str, Any]:
    if isinstance(graphs, nx.Graph):
        return {ONLY_LAYER: graphs}
    if isinstance(graphs, Mapping):
        listed = [(str(key), graph) for key, graph in graphs.items()]
    elif isinstance(graphs, Iterable) and not isinstance(graphs, str):
        listed = [
            (str(getattr(graph, "name", "")) or f"layer {place}", graph) for place, graph in enumerate(graphs, start=1)
        ]
    else:
        raise DataError(f"graphs must be networkx graphs by name or in a list, not {graphs!r}")
    for key, graph in listed:
        if isinstance(graph, nx.MultiGraph):
            raise DataError(
                f"layer {key!r} is a multigraph; give a multigraph alone, with an edge attribute "
                "that names the layers, or convert it to a Graph or DiGraph"
            )
    named = dict(listed)
    if len(named) != len(listed):
        keys = [key for key, _ in listed]
        double = next(key for key in keys if keys.count(key) > 1)
        raise DataError(f"two graphs have the name {double!r}; give a mapping by layer name")
    return named


def _layers_of_multigraph(graph: Any, key: str, layer: str) -> dict[str, list[Edge]]:
    split: dict[str, list[Edge]] = {}
    for source, target, attributes in graph.edges(data=True):
        if is_missing(attributes.get(layer)):
            raise DataError(
                f"the edge from {source!r} to {target!r} has no attribute {layer!r} to name its "
                "layer; say which attribute does with layer=..."
            )
        split.setdefault(str(attributes[layer]), []).append((source, target, attributes))
    return split or {key: []}


def _edge_features(edges: dict[str, list[Edge]], wanted: Sequence[str] | None) -> dict[str, dict[str, Any]]:
    """The features of each layer's edges and their names, encoded alike in all layers."""
    if wanted is None:
        return {key: {} for key in edges}
    rows = [attributes for found in edges.values() for _, _, attributes in found]
    missing = next((name for name in wanted if rows and not any(name in row for row in rows)), None)
    if missing is not None:
        raise DataError(f"no edge has the attribute {missing!r}; {did_you_mean(missing, {n for r in rows for n in r})}")
    matrix, names = encoded_columns({name: [row.get(name) for row in rows] for name in wanted}, wanted)
    ends = np.cumsum([len(found) for found in edges.values()])[:-1]
    parts = np.split(matrix, ends)
    return {key: {"features": part, "feature_names": names} for key, part in zip(edges, parts, strict=True)}


def _layer(
    frame: MultilayerGraph,
    key: str,
    edges: list[Edge],
    weight: str | None,
    described: dict[str, Any],
    inside: NDArray[np.int64] | None,
    natural: bool,
    directed: bool | None,
) -> EdgeLayer:
    start = frame.positions([source for source, _, _ in edges])
    end = frame.positions([target for _, target, _ in edges])
    stated = [None if weight is None else attributes.get(weight) for _, _, attributes in edges]
    weights = None
    if any(value is not None for value in stated):
        weights = positive_numbers(
            [1.0 if value is None else value for value in stated],
            lambda row: f"layer {key!r}: the edge from {edges[row][0]!r} to {edges[row][1]!r}",
        )
    if natural and directed is False:
        try:
            return layer_from_both_ways(frame.nodes, start, end, weights, directed=False, present=inside, **described)
        except DataError as error:
            raise DataError(f"layer {key!r}: {error}") from error
    one_way = natural if directed is None else directed
    if one_way and not natural:  # an undirected edge, made directed, points both ways
        start, end = np.concatenate([start, end]), np.concatenate([end, start])
        weights = None if weights is None else np.concatenate([weights, weights])
        if described:
            described = described | {"features": np.concatenate([described["features"]] * 2)}
    return EdgeLayer(frame.num_nodes, start, end, weights, directed=one_way, nodes=inside, **described)


def _add_edges(
    made: NetworkxGraph,
    edges: EdgeLayer,
    nodes: list[tuple[Any, dict[str, Any]]],
    attributes: Mapping[str, Any] = MappingProxyType({}),
    *,
    mirrored: bool = False,
) -> None:
    columns = {} if edges.features is None else dict(zip(edges.feature_names or (), edges.features.T, strict=True))
    if edges.weight is not None:
        columns["weight"] = edges.weight
    values = zip(*(column.tolist() for column in columns.values()), strict=True) if columns else repeat(())
    for i, j, row in zip(edges.source.tolist(), edges.target.tolist(), values, strict=False):
        facts = {**attributes, **dict(zip(columns, row, strict=True))}
        made.add_edge(nodes[i][0], nodes[j][0], **facts)
        if mirrored and not edges.directed:
            made.add_edge(nodes[j][0], nodes[i][0], **facts)
