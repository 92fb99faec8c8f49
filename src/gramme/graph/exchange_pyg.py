"""To and from PyTorch Geometric: a HeteroData with one node type and one relation per layer."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch

from gramme.errors import DataError, LossyFormatWarning, import_extra
from gramme.graph.arrays import name_index, object_array, plain_list
from gramme.graph.both_ways import layer_from_both_ways
from gramme.graph.edge_layer import EdgeLayer
from gramme.graph.from_edges import ONLY_LAYER, layer_directions
from gramme.graph.multilayer import MultilayerGraph

if TYPE_CHECKING:
    from torch_geometric.data import Data, HeteroData

NODE = "node"
PRESENT = "present_in_"


def from_pyg(
    data: HeteroData | Data,
    *,
    directed: bool | Mapping[str, bool] | None = None,
    nodes: Iterable[Any] | None = None,
    name: str | None = None,
) -> MultilayerGraph:
    """A graph of edge layers from a HeteroData with one node type, or from a Data.

    Every relation is a layer of its name; a Data makes the one layer "edges". ``edge_weight``, or
    ``edge_attr`` of one column, are weights; ``x`` are features; ``y`` are labels, -1 for unknown.
    PyG sends messages from the source of an edge to its target, whereas a node of a gramme graph
    listens to the nodes its edges point to. ``edge_index`` is taken as (source, target) as it is;
    flip a directed relation first where a model should listen the other way.

    Parameters
    ----------
    data : HeteroData or Data
    directed : bool or mapping of layer name to bool, optional
        Where not given, edges equal to their own reversal are undirected, others directed.
    nodes : iterable, optional
        Node names; where not given those that :func:`to_pyg` stored, else 0, 1, 2, ...
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
        if len(data.node_types) != 1:
            raise DataError(
                "a multi-layered graph has one node type; the HeteroData has "
                f"{len(data.node_types)}: {', '.join(map(str, data.node_types))}"
            )
        node_type = data.node_types[0]
        for kind in data.edge_types:
            if (kind[0], kind[2]) != (node_type, node_type):
                raise DataError(f"the edges {kind} touch nodes other than {node_type!r}")
        store, relations = data[node_type], {kind[1]: data[kind] for kind in data.edge_types}
    elif isinstance(data, pyg.Data):
        store, relations = data, {ONLY_LAYER: data}
    else:
        raise DataError(f"data must be a HeteroData or Data of PyTorch Geometric, not {data!r}")
    if nodes is None:
        nodes = getattr(store, "names", None)
    index = name_index(nodes, _number_of_nodes(store, relations))
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
        labels=_labels(store, data),
        features=_to_numpy(store["x"]) if "x" in store and store["x"] is not None else None,
        name=name,
        num_nodes=len(index),
    )


def to_pyg(graph: MultilayerGraph) -> HeteroData:
    """A HeteroData with the node type "node" and one relation per layer.

    An undirected edge is there both ways, and membership layers are materialised. ``edge_index`` is
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
        store.x = _to_torch(graph.features)
    if graph.labels is not None:
        place = {label: position for position, label in enumerate(graph.classes)}
        store.y = torch.tensor([place.get(label, -1) for label in graph.labels], dtype=torch.long)
        data.classes = graph.classes
    for name, layer in graph.layers.items():
        matrix = layer.to_scipy().tocoo()
        relation = data[NODE, name, NODE]
        relation.edge_index = torch.from_numpy(np.stack([matrix.row, matrix.col]).astype(np.int64))
        if layer.to_edges().weighted:
            relation.edge_weight = torch.from_numpy(matrix.data.astype(np.float64))
        relation.directed = layer.directed
        if not layer.holds_all_nodes:
            store[PRESENT + name] = torch.from_numpy(layer.present.copy())
    return data


def _number_of_nodes(store: Any, relations: Mapping[str, Any]) -> int:
    # PyG guesses from edge_index where nothing states the number, and warns; so do we without a word
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stated = store.num_nodes
    if stated is not None:
        return int(stated)
    ends = [edges["edge_index"] for edges in relations.values() if "edge_index" in edges]
    return max((int(pair.max()) + 1 for pair in ends if pair.numel()), default=0)


def _layer(
    relation: str, edges: Any, store: Any, nodes: pd.Index, directed: bool | None
) -> EdgeLayer:
    if "edge_index" not in edges or edges["edge_index"] is None:
        raise DataError(f"layer {relation!r} has no edge_index, the one form of edges that is read")
    source, target = edges["edge_index"].detach().cpu().numpy()
    present = store[PRESENT + relation].numpy() if PRESENT + relation in store else None
    try:
        return layer_from_both_ways(
            nodes, source, target, _weights(relation, edges), directed=directed, present=present
        )
    except DataError as error:
        raise DataError(f"layer {relation!r}: {error}") from error


def _weights(relation: str, edges: Any) -> Any:
    for key in ("edge_weight", "edge_attr"):
        if key in edges and edges[key] is not None:
            values = edges[key].detach().cpu().numpy()
            if values.ndim == 2 and values.shape[1] == 1:
                values = values[:, 0]
            if values.ndim == 1:
                return values
            warnings.warn(
                f"layer {relation!r}: {key} has {values.shape[1]} columns, so it is no weight and "
                "is left out",
                LossyFormatWarning,
                stacklevel=5,
            )
    return None


def _labels(store: Any, data: Any) -> Any:
    if "y" not in store or store["y"] is None:
        return None
    labels = store["y"].detach().cpu().numpy()
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise DataError(f"y must hold one label per node, not be of shape {labels.shape}")
    classes = data.classes if "classes" in data else None
    if classes is None:
        return object_array([None if value == -1 else value for value in plain_list(labels)])
    return object_array([None if value < 0 else classes[value] for value in labels.tolist()])


def _to_numpy(features: Any) -> Any:
    features = features.detach().cpu()
    if features.layout == torch.strided:
        return features.numpy()
    pairs = features.to_sparse_coo().coalesce()
    shape = tuple(features.shape)
    return sp.csr_array((pairs.values().numpy(), pairs.indices().numpy()), shape=shape)


def _to_torch(features: Any) -> torch.Tensor:
    if isinstance(features, np.ndarray):
        return torch.from_numpy(features.copy())
    pairs = features.tocoo()
    places = torch.from_numpy(np.stack([pairs.row, pairs.col]).astype(np.int64))
    values = torch.from_numpy(pairs.data.copy())
    return torch.sparse_coo_tensor(
        places, values, pairs.shape, is_coalesced=True, check_invariants=True
    )
