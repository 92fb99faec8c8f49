"""To and from PyTorch Geometric: a HeteroData with one relation per layer, or with several node types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import torch

from gramme.errors import DataError, did_you_mean, import_extra
from gramme.graph.arrays import name_index
from gramme.graph.both_ways import layer_from_both_ways
from gramme.graph.edge_layer import EdgeLayer
from gramme.graph.exchange_pyg_kinds import (
    COUPLES,
    from_pyg_kinds,
    node_types,
    put_couplings,
    put_groups,
    stored_couplings,
)
from gramme.graph.from_edges import ONLY_LAYER, layer_directions
from gramme.graph.membership_layer import MembershipLayer
from gramme.graph.multilayer import MultilayerGraph
from gramme.graph.pyg_stores import (
    FEATURES,
    NODE,
    PRESENT,
    as_tensor,
    given_matrix,
    number_of_nodes,
    stored_labels,
    stored_layer_features,
    stored_weights,
)

if TYPE_CHECKING:
    from torch_geometric.data import Data, HeteroData


def from_pyg(
    data: HeteroData | Data,
    *,
    target: str | None = None,
    paths: Iterable[Sequence[str]] | None = None,
    directed: bool | Mapping[str, bool] | None = None,
    nodes: Iterable[Any] | None = None,
    name: str | None = None,
) -> MultilayerGraph:
    """A graph from a HeteroData, or from a Data.

    With several node types, ``target`` names the one whose nodes become the graph's; the rest is as in
    :func:`gramme.graph.from_relations.from_relations`. What follows is about one node type.

    Every relation is a layer of its name; a Data makes the one layer "edges". ``edge_weight``, or
    ``edge_attr`` of one column, are weights; ``x`` are features; ``y`` are labels, -1 for unknown.
    PyG sends messages from the source of an edge to its target, whereas a node of a gramme graph
    listens to the nodes its edges point to. ``edge_index`` is taken as (source, target) as it is;
    flip a directed relation first where a model should listen the other way.

    Parameters
    ----------
    data : HeteroData or Data
    target : str, optional
        The node type to label; needed where there are several.
    paths : list of lists of node types, optional
        Which ways from the target to other types are layers; see ``from_relations``.
    directed : bool or mapping of layer name to bool, optional
        If not given, edges equal to their own reversal are undirected, others directed.
    nodes : iterable, optional
        Node names; if not given those that :func:`to_pyg` stored, else 0, 1, 2, ...
    name : str, optional
        What to call the graph.

    Examples
    --------
    >>> from torch_geometric.data import Data
    >>> both_ways = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> from_pyg(Data(edge_index=both_ways, y=torch.tensor([0, -1, 1]), num_nodes=3))
    MultilayerGraph(3 nodes, 1 layer: edges 2 edges, 2 classes on 2 nodes)
    """
    pyg = import_extra("torch_geometric.data", "pyg", "from_pyg")
    if isinstance(data, pyg.HeteroData):
        types = node_types(data)
        if target is not None and target not in types:
            raise DataError(
                f"the HeteroData has no node type {target!r}; {did_you_mean(target, types)}"
            )
        if len(types) != 1:
            if target is None:
                raise DataError(
                    f"the HeteroData has {len(types)} node types: {', '.join(types)}; say which "
                    "one to label with target=..."
                )
            return from_pyg_kinds(
                data, target, paths=paths, directed=directed, nodes=nodes, name=name
            )
        store = data[types[0]]
        relations = {kind[1]: data[kind] for kind in data.edge_types if COUPLES not in data[kind]}
    elif isinstance(data, pyg.Data):
        store, relations = data, {ONLY_LAYER: data}
    else:
        raise DataError(f"data must be a HeteroData or Data of PyTorch Geometric, not {data!r}")
    if nodes is None:
        nodes = getattr(store, "names", None)
    index = name_index(nodes, number_of_nodes(store, relations))
    stored = {
        relation: bool(edges["directed"])
        for relation, edges in relations.items()
        if edges is not store and "directed" in edges
    }
    one_way = layer_directions(stored, relations, otherwise=None)
    if directed is not None:
        one_way = one_way | layer_directions(directed, relations, otherwise=None)
    layers = {
        relation: _layer(relation, edges, store, index, one_way[relation])
        for relation, edges in relations.items()
    }
    return MultilayerGraph(
        layers,
        nodes=index,
        labels=stored_labels(store, data),
        features=given_matrix(store, "x"),
        couplings=stored_couplings(data, len(index)),
        layer_features=stored_layer_features(store, layers),
        name=name,
        num_nodes=len(index),
    )


def to_pyg(graph: MultilayerGraph, *, groups: Literal["edges", "nodes"] = "edges") -> HeteroData:
    """A HeteroData with the node type "node" and one relation per layer.

    An undirected edge is there both ways. Membership layers are materialised; with
    ``groups="nodes"`` their groups become a node type of the layer's name instead, joined to the
    nodes by the memberships, and ``from_pyg(data, target="node")`` is the way back.
    ``edge_index`` is
    (source, target) as given, although PyG sends messages from source to target while a node of a
    gramme graph listens to the nodes its edges point to: for PyG models that should listen as
    gramme's do, flip the directed relations.

    ``x`` are the features in their own precision, ``y`` the positions of the labels in
    ``data.classes``, -1 for unknown, ``edge_weight`` the weights in float64. For the way back,
    :func:`from_pyg`, the node type also has ``names`` and, for layers that do not hold all nodes, a
    mask ``present_in_<layer>``, and each relation has ``directed``.

    Examples
    --------
    >>> g = MultilayerGraph({"friends": EdgeLayer(3, [0], [1])}, labels=["a", None, "b"])
    >>> data = to_pyg(g)
    >>> data["node", "friends", "node"].edge_index.tolist(), data["node"].y.tolist()
    ([[0, 1], [1, 0]], [0, -1, 1])
    """
    pyg = import_extra("torch_geometric.data", "pyg", "to_pyg")
    data: HeteroData = pyg.HeteroData()
    store = data[NODE]
    store.num_nodes = graph.num_nodes
    if not isinstance(graph.nodes, pd.RangeIndex):
        store.names = list(graph.nodes)
    if graph.features is not None:
        store.x = as_tensor(graph.features)
    if graph.labels is not None:
        place = {label: position for position, label in enumerate(graph.classes)}
        store.y = torch.tensor([place.get(label, -1) for label in graph.labels], dtype=torch.long)
        data.classes = graph.classes
    data.layers = list(graph.layers)
    put_couplings(data, graph)
    for name, layer in graph.layers.items():
        if not layer.holds_all_nodes:
            store[PRESENT + name] = torch.from_numpy(layer.present.copy())
        if name in graph.layer_features:
            store[FEATURES + name] = as_tensor(graph.layer_features[name])
        if groups == "nodes" and isinstance(layer, MembershipLayer):
            put_groups(data, name, layer)
            continue
        matrix = layer.to_scipy().tocoo()
        relation = data[NODE, name, NODE]
        relation.edge_index = torch.from_numpy(np.stack([matrix.row, matrix.col]).astype(np.int64))
        if layer.to_edges().weighted:
            relation.edge_weight = torch.from_numpy(matrix.data.astype(np.float64))
        relation.directed = layer.directed
    return data


def _layer(
    relation: str, edges: Any, store: Any, nodes: pd.Index, directed: bool | None
) -> EdgeLayer:
    if "edge_index" not in edges or edges["edge_index"] is None:
        raise DataError(
            f"layer {relation!r} has no edge_index; other forms of edges cannot be read"
        )
    source, target = edges["edge_index"].detach().cpu().numpy()
    present = store[PRESENT + relation].numpy() if PRESENT + relation in store else None
    try:
        return layer_from_both_ways(
            nodes,
            source,
            target,
            stored_weights(relation, edges),
            directed=directed,
            present=present,
        )
    except DataError as error:
        raise DataError(f"layer {relation!r}: {error}") from error
