"""To and from PyTorch Geometric: a HeteroData with one relation per layer, or with several node types."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch

from gramme.errors import DataError, LossyFormatWarning, did_you_mean, import_extra
from gramme.graph.arrays import name_index, object_array, plain_list
from gramme.graph.coupling import BETWEEN, Coupling, Pair
from gramme.graph.edge_layer import EdgeLayer
from gramme.graph.edges import ONLY_LAYER, layer_directions
from gramme.graph.membership_layer import MembershipLayer
from gramme.graph.multilayer import MultilayerGraph
from gramme.graph.relations import from_relations

from .scipy import layer_from_both_ways

if TYPE_CHECKING:
    from torch_geometric.data import Data, HeteroData


# What the stores of a PyTorch Geometric object hold: numbers of nodes, weights, labels and features.
NODE = "node"
PRESENT = "present_in_"
MASK = "_mask"
FEATURES = "features_of_"
FEATURE_NAMES = "edge_attr_names"


def number_of_nodes(store: Any, relations: Mapping[Any, Any]) -> int:
    """As stated, or as far as the edges reach."""
    # PyG guesses from edge_index where nothing states the number, and warns; so do we without a word
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stated_number = store.num_nodes
    if stated_number is not None:
        return int(stated_number)
    edge_ends = [edges["edge_index"] for edges in relations.values() if "edge_index" in edges]
    return max((int(pair.max()) + 1 for pair in edge_ends if pair.numel()), default=0)


def _numbers(store: Any, key: str) -> Any:
    """What a store has under a key as numpy, a single column as a vector; None if there is nothing."""
    if key not in store or store[key] is None:
        return None
    array_values = store[key].detach().cpu().numpy()
    return array_values[:, 0] if array_values.ndim == 2 and array_values.shape[1] == 1 else array_values


def stored_weights(edges: Any) -> Any:
    """``edge_weight``, or an ``edge_attr`` that is a weight; None without.

    PyG's own readers put weights into ``edge_attr``: one positive number per edge, and nothing else says weight.
    """
    edge_weights, edge_values = _numbers(edges, "edge_weight"), _numbers(edges, "edge_attr")
    named = FEATURE_NAMES in edges and edges[FEATURE_NAMES] is not None
    if (
        edge_weights is None
        and edge_values is not None
        and edge_values.ndim == 1
        and not named
        and bool((edge_values > 0).all())
    ):
        return edge_values
    return edge_weights


def stored_edge_features(edges: Any) -> dict[str, Any]:
    """``edge_attr`` as features of edges and their names, unless it is a weight."""
    taken_for_weights = _numbers(edges, "edge_weight") is None and stored_weights(edges) is not None
    if "edge_attr" not in edges or edges["edge_attr"] is None or taken_for_weights:
        return {}
    feature_matrix = edges["edge_attr"].detach().cpu().numpy()
    return {"features": feature_matrix, "feature_names": edges[FEATURE_NAMES] if FEATURE_NAMES in edges else None}  # noqa: SIM401 - a store of PyG has no get


def _ends(edges: Any, what: str) -> Any:
    """Both ends of the edges as PyG has them: who is heard, and who hears."""
    if "edge_index" not in edges or edges["edge_index"] is None:
        raise DataError(f"{what} has no edge_index; other forms of edges cannot be read")
    return edges["edge_index"].detach().cpu().numpy()


def stored_labels(store: Any, data: Any) -> Any:
    """``y`` as labels, -1 for unknown; positions in ``data.classes`` where that is there."""
    node_labels = _numbers(store, "y")
    if node_labels is None:
        return None
    if node_labels.ndim != 1:
        raise DataError(f"y must hold one label per node, not be of shape {node_labels.shape}")
    classes = data.classes if "classes" in data else None
    if classes is None:
        return object_array([None if value == -1 else value for value in plain_list(node_labels)])
    return object_array([None if value < 0 else classes[value] for value in node_labels.tolist()])


def stored_masks(store: Any) -> dict[str, Any]:
    """``train_mask``, ``val_mask``, ``test_mask`` and the like by their first word."""
    masks: dict[str, Any] = {}
    for key in store.keys() if callable(store.keys) else store.keys:
        if not key.endswith(MASK) or store[key] is None or not isinstance(store[key], torch.Tensor):
            continue
        mask_values = _numbers(store, key)
        if mask_values.ndim != 1:
            raise DataError(
                f"{key} has {mask_values.shape[1]} columns, a split each; choose one before: data.{key} = "
                f"data.{key}[:, 0]"
            )
        masks[key.removesuffix(MASK)] = mask_values.astype(bool)
    return masks


def given_matrix(store: Any, key: str) -> Any:
    """The matrix under a key as numpy or scipy; None if there is none."""
    if key not in store or store[key] is None:
        return None
    feature_matrix = store[key].detach().cpu()
    if feature_matrix.layout == torch.strided:
        return feature_matrix.numpy()
    sparse_entries = feature_matrix.to_sparse_coo().coalesce()
    return sp.csr_array(
        (sparse_entries.values().numpy(), sparse_entries.indices().numpy()), shape=tuple(feature_matrix.shape)
    )


def stored_layer_features(store: Any, layers: Iterable[str]) -> dict[str, Any]:
    """The features of layers that have some of their own."""
    return {
        layer_name: given_matrix(store, FEATURES + layer_name)
        for layer_name in layers
        if FEATURES + layer_name in store
    }


def as_tensor(features: Any) -> torch.Tensor:
    """Dense or sparse features as a tensor of the same layout."""
    if isinstance(features, np.ndarray):
        return torch.from_numpy(features.copy())
    sparse_entries = features.tocoo()
    places = torch.from_numpy(np.stack([sparse_entries.row, sparse_entries.col]).astype(np.int64))
    entry_values = torch.from_numpy(sparse_entries.data.copy())
    return torch.sparse_coo_tensor(places, entry_values, sparse_entries.shape, is_coalesced=True, check_invariants=True)


# Several node types of PyTorch Geometric: their relations as membership layers of one type,
# couplings, and back.


#: Marks the relation of a coupling and names its two layers.
COUPLES = "couples"


def from_pyg_kinds(
    data: HeteroData,
    target: str,
    *,
    paths: Iterable[Sequence[str]] | None = None,
    directed: bool | Mapping[str, bool] | None = None,
    nodes: Iterable[Any] | None = None,
    name: str | None = None,
) -> MultilayerGraph:
    """A graph over the nodes of one type; a relation that is another one turned round is left out."""
    edges = {kind: data[kind] for kind in data.edge_types if COUPLES not in data[kind]}
    names: dict[str, Any] = {}
    for kind in node_types(data):
        # the node type's side of each relation, for PyG objects that state no number of nodes
        touching = {
            (key, side): {"edge_index": store["edge_index"][side]}
            for key, store in edges.items()
            for side, end in ((0, key[0]), (1, key[2]))
            if end == kind and "edge_index" in store
        }
        size = number_of_nodes(data[kind], touching)
        names[kind] = list(data[kind]["names"]) if "names" in data[kind] else range(size)
    if nodes is not None:
        names[target] = list(nodes)
    relations: dict[Any, Any] = {}
    one_way: dict[str, bool] = {}
    for kind, store in edges.items():
        source, end = _ends(store, f"the relation {kind}")
        shape = (len(names[kind[0]]), len(names[kind[2]]))
        if source.size and (source.max() >= shape[0] or end.max() >= shape[1]):
            raise DataError(f"the relation {kind} touches a node beyond the {shape} there are")
        weights = stored_weights(store)
        if stored_edge_features(store):
            warnings.warn(
                f"{kind}: edge_attr is left out; with several node types only edge_weight is read",
                LossyFormatWarning,
                stacklevel=3,
            )
        pairs = {"source": _named(names[kind[0]], source), "target": _named(names[kind[2]], end)}
        if kind[0] == kind[2] == target:
            one_way[kind[1]] = _goes_one_way(store, source, end, weights, shape, directed)
            if one_way[kind[1]]:  # PyG sends messages to the target, a node here hears whom it points to
                pairs = {"source": pairs["target"], "target": pairs["source"]}
            if not one_way[kind[1]] and weights is not None:
                once = source <= end
                pairs = {key: column[once] for key, column in pairs.items()}
                weights = weights[once]
        elif _turned(kind, source, end, edges, relations):
            continue
        relations[kind] = pd.DataFrame(pairs | ({} if weights is None else {"weight": weights}))
    if isinstance(directed, Mapping):
        one_way |= {str(key): bool(value) for key, value in directed.items()}
    features = {kind: matrix for kind in node_types(data) if (matrix := given_matrix(data[kind], "x")) is not None}
    graph = from_relations(
        relations,
        target=target,
        paths=paths,
        directed=one_way,
        nodes=names,
        labels=stored_labels(data[target], data),
        features=features,
        name=name,
    )
    return _as_stored(graph, data, target).replace(masks=stored_masks(data[target]))


def node_types(data: HeteroData) -> list[str]:
    """The node types, also those that only relations name."""
    end_types = (end_type for relation_kind in data.edge_types for end_type in (relation_kind[0], relation_kind[2]))
    return list(dict.fromkeys((*data.node_types, *end_types)))


def _named(names: Any, places: Any) -> Any:
    if isinstance(names, range):
        return places
    return np.array([*names, None], dtype=object)[:-1][places]


def _goes_one_way(store: Any, source: Any, end: Any, weights: Any, shape: tuple[int, int], directed: object) -> bool:
    if isinstance(directed, bool):
        return directed
    if "directed" in store:
        return bool(store["directed"])
    edge_values = np.ones(source.size) if weights is None else weights
    matrix: Any = sp.csr_array((edge_values, (source, end)), shape=shape)
    return bool((matrix != matrix.T).nnz)


def _turned(kind: Any, source: Any, end: Any, edges: Mapping[Any, Any], earlier: Mapping[Any, Any]) -> bool:
    """Whether the relation is an earlier one seen from the other side, as PyG's ToUndirected adds them."""
    for other in earlier:
        if (other[0], other[2]) != (kind[2], kind[0]):
            continue
        back = edges[other]["edge_index"].detach().cpu().numpy()
        if back.shape[1] == source.size:
            mine, theirs = np.lexsort((source, end)), np.lexsort((back[1], back[0]))
            if np.array_equal(end[mine], back[0][theirs]) and np.array_equal(source[mine], back[1][theirs]):
                return True
    return False


def _as_stored(graph: MultilayerGraph, data: HeteroData, target: str) -> MultilayerGraph:
    """The order of layers, absent nodes, couplings and features of layers, where ``to_pyg`` stored them."""
    store = data[target]
    if "layers" not in data:
        return graph
    graph_layers = {name: graph.layers[name] for name in data.layers if name in graph.layers}
    for layer_name, layer in graph_layers.items():
        held_nodes = (
            store[PRESENT + layer_name].numpy()
            if PRESENT + layer_name in store
            else np.ones(graph.num_nodes, dtype=bool)
        )
        if isinstance(layer, MembershipLayer):
            membership_parts = (layer.num_nodes, layer.node, layer.group, layer.group_names)
            graph_layers[layer_name] = MembershipLayer(*membership_parts, weight=layer.weight, nodes=held_nodes)
        elif not held_nodes.all():
            edges = layer.to_edges()
            edge_ends = (edges.source, edges.target, edges.weight)
            graph_layers[layer_name] = EdgeLayer(edges.num_nodes, *edge_ends, directed=edges.directed, nodes=held_nodes)
    return MultilayerGraph(
        graph_layers,
        nodes=graph.nodes,
        labels=graph.labels,
        features=graph.features,
        couplings=stored_couplings(data, graph.num_nodes),
        layer_features=stored_layer_features(store, graph_layers),
        name=graph.name,
    )


def stored_couplings(data: Any, num_nodes: int) -> dict[Pair, Coupling]:
    """The couplings that :func:`to_pyg` stored."""
    couplings_by_pair: dict[Pair, Coupling] = {}
    for relation_kind in getattr(data, "edge_types", ()):
        store = data[relation_kind]
        if COUPLES in store:
            first, second = store[COUPLES]
            source, end_nodes = store["edge_index"].detach().cpu().numpy()
            is_directed = bool(store["directed"])
            source, end_nodes = (end_nodes, source) if is_directed else (source, end_nodes)
            couplings_by_pair[first, second] = Coupling(
                num_nodes, source, end_nodes, stored_weights(store), directed=is_directed
            )
    return couplings_by_pair


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
    :func:`gramme.graph.relations.from_relations`. What follows is about one node type.

    Every relation is a layer of its name; a Data makes the one layer "edges". ``x`` are features; ``y`` are labels, -1
    for unknown; ``edge_weight`` are weights. ``edge_attr`` are the features of the layer's edges. Only where it is one
    positive number per edge and there is no ``edge_weight`` is it taken for weights, as PyG's own readers store them.
    ``train_mask``, ``val_mask``, ``test_mask`` become ``graph.masks["train"]`` and so on; where there is
    one for training, ``fit(graph)`` learns from the labels of its nodes alone.

    Direction: PyG sends messages from the source of an edge to its target, and a node of a gramme
    graph hears the nodes its edges point to. A directed edge 0 → 1 of PyG, where 1 hears 0, is therefore
    the edge 1 → 0 here, so that every model hears as PyG's do; :func:`to_pyg` turns it back.

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
            raise DataError(f"the HeteroData has no node type {target!r}; {did_you_mean(target, types)}")
        if len(types) != 1:
            if target is None:
                raise DataError(
                    f"the HeteroData has {len(types)} node types: {', '.join(types)}; say which "
                    "one to label with target=..."
                )
            return from_pyg_kinds(data, target, paths=paths, directed=directed, nodes=nodes, name=name)
        store = data[types[0]]
        relations = {
            relation_kind[1]: data[relation_kind]
            for relation_kind in data.edge_types
            if COUPLES not in data[relation_kind]
        }
    elif isinstance(data, pyg.Data):
        store, relations = data, {ONLY_LAYER: data}
    else:
        raise DataError(f"data must be a HeteroData or Data of PyTorch Geometric, not {data!r}")
    if nodes is None:
        nodes = getattr(store, "names", None)
    node_lookup = name_index(nodes, number_of_nodes(store, relations))
    stored = {
        relation: bool(edges["directed"])
        for relation, edges in relations.items()
        if edges is not store and "directed" in edges
    }
    one_way = layer_directions(stored, relations, otherwise=None)
    if directed is not None:
        one_way = one_way | layer_directions(directed, relations, otherwise=None)
    graph_layers = {
        relation: _layer(relation, edges, store, node_lookup, one_way[relation])
        for relation, edges in relations.items()
    }
    return MultilayerGraph(
        graph_layers,
        nodes=node_lookup,
        labels=stored_labels(store, data),
        features=given_matrix(store, "x"),
        couplings=stored_couplings(data, len(node_lookup)),
        layer_features=stored_layer_features(store, graph_layers),
        masks=stored_masks(store),
        name=name,
        num_nodes=len(node_lookup),
    )


def to_pyg(graph: MultilayerGraph, *, groups: Literal["edges", "nodes"] = "edges") -> HeteroData:
    """A HeteroData with the node type "node" and one relation per layer.

    An undirected edge is there both ways. Membership layers are materialised; with
    ``groups="nodes"`` their groups become a node type of the layer's name instead, joined to the
    nodes by the memberships, and ``from_pyg(data, target="node")`` is the way back.
    A directed edge is turned round: PyG sends messages from source to target, while a node of a gramme
    graph hears the nodes its edges point to, so that PyG's models hear as gramme's do.

    ``x`` are the features in their own precision, ``y`` the positions of the labels in ``data.classes``, -1 for
    unknown, ``edge_weight`` the weights in float64, ``edge_attr`` the features of edges (those of memberships are left
    out), ``train_mask`` and the like the masks. For the way back, :func:`from_pyg`, the node type also has ``names``
    and, for layers that do not hold all nodes, a mask ``present_in_<layer>``, and each relation has ``directed`` and,
    with features, ``edge_attr_names``.

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
        class_index = {node_label: position for position, node_label in enumerate(graph.classes)}
        store.y = torch.tensor([class_index.get(node_label, -1) for node_label in graph.labels], dtype=torch.long)
        data.classes = graph.classes
    for layer_name, mask in graph.masks.items():
        store[layer_name + MASK] = torch.from_numpy(mask.copy())
    data.layers = list(graph.layers)
    for (first, second), coupling in graph.couplings.items():  # an undirected one has its edges from the first layer
        relation = data[NODE, f"{first}{BETWEEN}{second}", NODE]
        edge_ends = np.stack([coupling.source, coupling.target]).astype(np.int64)
        relation.edge_index = torch.from_numpy(edge_ends[::-1].copy() if coupling.directed else edge_ends)
        relation[COUPLES], relation.directed = [first, second], coupling.directed
        if coupling.weight is not None:
            relation.edge_weight = torch.from_numpy(coupling.weight.copy())
    for layer_name, layer in graph.layers.items():
        if not layer.holds_all_nodes:
            store[PRESENT + layer_name] = torch.from_numpy(layer.present.copy())
        if layer_name in graph.layer_features:
            store[FEATURES + layer_name] = as_tensor(graph.layer_features[layer_name])
        if groups == "nodes" and isinstance(layer, MembershipLayer):
            if layer_name == NODE:
                raise DataError(f"a layer named {NODE!r} cannot become a node type; rename it")
            data[layer_name].num_nodes, data[layer_name].names = layer.num_groups, list(layer.group_names)
            relation = data[NODE, layer_name, layer_name]
            relation.edge_index = torch.from_numpy(np.stack([layer.node, layer.group]).astype(np.int64))
            if layer.weight is not None:
                relation.edge_weight = torch.from_numpy(layer.weight.copy())
            continue
        edges = layer.to_edges()
        matrix = edges.edge_numbers().tocoo()
        relation = data[NODE, layer_name, NODE]
        hears, heard = matrix.row, matrix.col
        relation.edge_index = torch.from_numpy(
            np.stack([heard, hears] if layer.directed else [hears, heard]).astype(np.int64)
        )
        if edges.weight is not None:
            relation.edge_weight = torch.from_numpy(edges.weight[matrix.data])
        if edges.features is not None:
            relation.edge_attr = torch.from_numpy(edges.features[matrix.data])
            relation[FEATURE_NAMES] = list(edges.feature_names or ())
        relation.directed = layer.directed
    return data


def _layer(relation: str, edges: Any, store: Any, nodes: pd.Index, directed: bool | None) -> EdgeLayer:
    heard, hears = _ends(edges, f"layer {relation!r}")
    present_nodes = store[PRESENT + relation].numpy() if PRESENT + relation in store else None
    try:
        return layer_from_both_ways(
            nodes,
            hears,
            heard,
            stored_weights(edges),
            directed=directed,
            present=present_nodes,
            **stored_edge_features(edges),
        )
    except DataError as error:
        raise DataError(f"layer {relation!r}: {error}") from error
