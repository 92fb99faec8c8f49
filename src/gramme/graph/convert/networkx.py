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
        nodes_by_kind: dict[str, list[Any]] = {}
        of_target: dict[Any, Any] = {}
        for node, node_values in graphs.nodes(data=True):
            if is_missing(node_values.get(kind)):
                raise DataError(f"the node {node!r} has no attribute {kind!r} to tell its kind")
            of_node[node] = str(node_values[kind])
            nodes_by_kind.setdefault(of_node[node], []).append(node)
            if label is not None and of_node[node] == target and not is_missing(node_values.get(label)):
                of_target[node] = node_values[label]
        node_order = list(nodes_by_kind)
        relations: dict[tuple[str, str], list[tuple[Any, Any, Any]]] = {}
        for source, end_nodes, node_values in graphs.edges(data=True):
            edge_ends = (source, end_nodes)
            if node_order.index(of_node[source]) > node_order.index(of_node[end_nodes]):
                edge_ends = (end_nodes, source)
            pair = (of_node[edge_ends[0]], of_node[edge_ends[1]])
            relations.setdefault(pair, []).append((*edge_ends, node_values.get(weight) if weight else None))
        weighted: dict[tuple[str, str], list[Any]] = {}
        for pair, table_rows in relations.items():
            some = any(weight is not None for *_, weight in table_rows)
            weighted[pair] = [
                (a, b, 1.0 if weight is None else weight) if some else (a, b) for a, b, weight in table_rows
            ]
        stated_nodes: dict[str, Iterable[Any]] = nodes_by_kind | ({} if nodes is None else {target: nodes})
        joined = {each for pair in relations for each in pair}
        return from_relations(
            weighted,
            target=target,
            paths=paths,
            directed=bool(graphs.is_directed()) if directed is None else directed,
            nodes={each: node_names for each, node_names in stated_nodes.items() if each in joined},
            labels=None if label is None else of_target,
            features=features,
            name=name,
        )
    named = _named(graphs, nx)
    for layer_key, graph in named.items():
        if not isinstance(graph, nx.Graph):
            raise DataError(f"layer {layer_key!r} is not a networkx graph but {graph!r}")
    node_lookup = name_index(
        dict.fromkeys(node for graph in named.values() for node in graph) if nodes is None else nodes
    )
    frame = MultilayerGraph({}, nodes=node_lookup)
    edge_list: dict[str, list[Edge]] = {}
    origin: dict[str, str] = {}  # the graph that a layer's edges are from
    node_labels: dict[Any, Any] = {}
    for layer_key, graph in named.items():
        split = {layer_key: list(graph.edges(data=True))}
        if graph.is_multigraph():
            split = _layers_of_multigraph(graph, layer_key, layer)
        edge_list |= split
        origin |= dict.fromkeys(split, layer_key)
        for node, value in graph.nodes(data=label) if label is not None else ():
            if is_missing(value):
                continue
            if node_labels.setdefault(node, value) != value:
                raise DataError(
                    f"node {node!r} has the label {node_labels[node]!r} in one graph and {value!r} in another"
                )
    inside = {key: frame.positions(list(graph)) for key, graph in named.items()}
    one_way = layer_directions(directed, edge_list, otherwise=None)
    described = _edge_features(edge_list, edge_features)
    graph_layers: dict[str, Layer] = {
        key: _layer(
            frame,
            key,
            layer_edges,
            weight,
            described[key],
            inside[origin[key]],
            named[origin[key]].is_directed(),
            one_way[key],
        )
        for key, layer_edges in edge_list.items()
    }
    return MultilayerGraph(
        graph_layers,
        nodes=node_lookup,
        labels=None if label is None else node_labels,
        features=features,
        name=name,
        num_nodes=len(node_lookup),
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
    node_labels = [None] * graph.num_nodes if graph.labels is None else graph.labels
    named_nodes = [
        (node_name, {} if node_label is None else {"label": node_label})
        for node_name, node_label in zip(graph.nodes, node_labels, strict=True)
    ]
    if merged:
        one_way = any(layer.directed for layer in graph.layers.values())
        both: nx.MultiGraph[Any] = networkx.MultiDiGraph() if one_way else networkx.MultiGraph()
        both.add_nodes_from(named_nodes)
        for layer_key, layer in graph.layers.items():
            _add_edges(both, layer.to_edges(), named_nodes, {"layer": layer_key}, mirrored=one_way)
        return both
    networkx_graph: dict[str, NetworkxGraph] = {}
    for layer_key, layer in graph.layers.items():
        networkx_graph[layer_key] = networkx.DiGraph() if layer.directed else networkx.Graph()
        networkx_graph[layer_key].add_nodes_from(
            named_nodes[node_index] for node_index in np.flatnonzero(layer.present).tolist()
        )
        _add_edges(networkx_graph[layer_key], layer.to_edges(), named_nodes)
    return networkx_graph


def _named(graphs: Any, nx: Any) -> dict[str, Any]:
    if isinstance(graphs, nx.Graph):
        return {ONLY_LAYER: graphs}
    if isinstance(graphs, Mapping):
        listed_names = [(str(key), graph) for key, graph in graphs.items()]
    elif isinstance(graphs, Iterable) and not isinstance(graphs, str):
        listed_names = [
            (str(getattr(graph, "name", "")) or f"layer {layer_number}", graph)
            for layer_number, graph in enumerate(graphs, start=1)
        ]
    else:
        raise DataError(f"graphs must be networkx graphs by name or in a list, not {graphs!r}")
    for layer_key, graph in listed_names:
        if isinstance(graph, nx.MultiGraph):
            raise DataError(
                f"layer {layer_key!r} is a multigraph; give a multigraph alone, with an edge attribute "
                "that names the layers, or convert it to a Graph or DiGraph"
            )
    named = dict(listed_names)
    if len(named) != len(listed_names):
        keys = [key for key, _ in listed_names]
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
        return {layer_key: {} for layer_key in edges}
    table_rows = [attributes for layer_edges in edges.values() for _, _, attributes in layer_edges]
    missing_name = next(
        (
            feature_name
            for feature_name in wanted
            if table_rows and not any(feature_name in row_cells for row_cells in table_rows)
        ),
        None,
    )
    if missing_name is not None:
        raise DataError(
            f"no edge has the attribute {missing_name!r}; "
            f"{did_you_mean(missing_name, {n for r in table_rows for n in r})}"
        )
    matrix, feature_names = encoded_columns(
        {feature_name: [row_cells.get(feature_name) for row_cells in table_rows] for feature_name in wanted}, wanted
    )
    layer_bounds = np.cumsum([len(layer_edges) for layer_edges in edges.values()])[:-1]
    line_fields = np.split(matrix, layer_bounds)
    return {
        layer_key: {"features": part, "feature_names": feature_names}
        for layer_key, part in zip(edges, line_fields, strict=True)
    }


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
    start_nodes = frame.positions([source for source, _, _ in edges])
    end_nodes = frame.positions([target for _, target, _ in edges])
    stated_weights = [None if weight is None else attributes.get(weight) for _, _, attributes in edges]
    edge_weights = None
    if any(value is not None for value in stated_weights):
        edge_weights = positive_numbers(
            [1.0 if value is None else value for value in stated_weights],
            lambda row: f"layer {key!r}: the edge from {edges[row][0]!r} to {edges[row][1]!r}",
        )
    if natural and directed is False:
        try:
            return layer_from_both_ways(
                frame.nodes, start_nodes, end_nodes, edge_weights, directed=False, present=inside, **described
            )
        except DataError as error:
            raise DataError(f"layer {key!r}: {error}") from error
    one_way = natural if directed is None else directed
    if one_way and not natural:  # an undirected edge, made directed, points both ways
        start_nodes, end_nodes = np.concatenate([start_nodes, end_nodes]), np.concatenate([end_nodes, start_nodes])
        edge_weights = None if edge_weights is None else np.concatenate([edge_weights, edge_weights])
        if described:
            described = described | {"features": np.concatenate([described["features"]] * 2)}
    return EdgeLayer(frame.num_nodes, start_nodes, end_nodes, edge_weights, directed=one_way, nodes=inside, **described)


def _add_edges(
    made: NetworkxGraph,
    edges: EdgeLayer,
    nodes: list[tuple[Any, dict[str, Any]]],
    attributes: Mapping[str, Any] = MappingProxyType({}),
    *,
    mirrored: bool = False,
) -> None:
    table_columns = (
        {} if edges.features is None else dict(zip(edges.feature_names or (), edges.features.T, strict=True))
    )
    if edges.weight is not None:
        table_columns["weight"] = edges.weight
    edge_values = (
        zip(*(column_cells.tolist() for column_cells in table_columns.values()), strict=True)
        if table_columns
        else repeat(())
    )
    for i, j, row in zip(edges.source.tolist(), edges.target.tolist(), edge_values, strict=False):
        facts = {**attributes, **dict(zip(table_columns, row, strict=True))}
        made.add_edge(nodes[i][0], nodes[j][0], **facts)
        if mirrored and not edges.directed:
            made.add_edge(nodes[j][0], nodes[i][0], **facts)
