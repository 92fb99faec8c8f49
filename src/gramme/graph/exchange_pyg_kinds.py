"""Several node types of PyTorch Geometric: their relations as membership layers of one type, couplings, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch

from gramme.errors import DataError
from gramme.graph.coupling import BETWEEN, Coupling, Pair
from gramme.graph.edge_layer import EdgeLayer
from gramme.graph.from_relations import from_relations
from gramme.graph.membership_layer import MembershipLayer
from gramme.graph.multilayer import MultilayerGraph
from gramme.graph.pyg_stores import (
    NODE,
    PRESENT,
    given_matrix,
    number_of_nodes,
    stored_labels,
    stored_layer_features,
    stored_weights,
)

if TYPE_CHECKING:
    from torch_geometric.data import HeteroData

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
    names = {
        kind: _names(data[kind], number_of_nodes(data[kind], _touching(edges, kind)))
        for kind in node_types(data)
    }
    if nodes is not None:
        names[target] = list(nodes)
    relations: dict[Any, Any] = {}
    one_way: dict[str, bool] = {}
    for kind, store in edges.items():
        if "edge_index" not in store or store["edge_index"] is None:
            raise DataError(
                f"the relation {kind} has no edge_index; other forms of edges cannot be read"
            )
        source, end = store["edge_index"].detach().cpu().numpy()
        shape = (len(names[kind[0]]), len(names[kind[2]]))
        if source.size and (source.max() >= shape[0] or end.max() >= shape[1]):
            raise DataError(f"the relation {kind} touches a node beyond the {shape} there are")
        weights = stored_weights(str(kind), store)
        pairs = {"source": _named(names[kind[0]], source), "target": _named(names[kind[2]], end)}
        if kind[0] == kind[2] == target:
            one_way[kind[1]] = _goes_one_way(store, source, end, weights, shape, directed)
            if not one_way[kind[1]] and weights is not None:
                once = source <= end
                pairs = {key: column[once] for key, column in pairs.items()}
                weights = weights[once]
        elif _turned(kind, source, end, edges, relations):
            continue
        relations[kind] = pd.DataFrame(pairs | ({} if weights is None else {"weight": weights}))
    if isinstance(directed, Mapping):
        one_way |= {str(key): bool(value) for key, value in directed.items()}
    features = {
        kind: matrix
        for kind in node_types(data)
        if (matrix := given_matrix(data[kind], "x")) is not None
    }
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
    return _as_stored(graph, data, target)


def node_types(data: HeteroData) -> list[str]:
    """The node types, also those that only relations name."""
    ends = (end for kind in data.edge_types for end in (kind[0], kind[2]))
    return list(dict.fromkeys((*data.node_types, *ends)))


def _touching(edges: Mapping[Any, Any], kind: str) -> dict[Any, Any]:
    """The node type's side of each relation, for PyG objects that state no number of nodes."""
    return {
        (key, side): {"edge_index": store["edge_index"][side]}
        for key, store in edges.items()
        for side, end in ((0, key[0]), (1, key[2]))
        if end == kind and "edge_index" in store
    }


def _names(store: Any, size: int) -> Any:
    return list(store["names"]) if "names" in store else range(size)


def _named(names: Any, places: Any) -> Any:
    if isinstance(names, range):
        return places
    return np.array([*names, None], dtype=object)[:-1][places]


def _goes_one_way(
    store: Any, source: Any, end: Any, weights: Any, shape: tuple[int, int], directed: object
) -> bool:
    if isinstance(directed, bool):
        return directed
    if "directed" in store:
        return bool(store["directed"])
    values = np.ones(source.size) if weights is None else weights
    matrix: Any = sp.csr_array((values, (source, end)), shape=shape)
    return bool((matrix != matrix.T).nnz)


def _turned(
    kind: Any, source: Any, end: Any, edges: Mapping[Any, Any], earlier: Mapping[Any, Any]
) -> bool:
    """Whether the relation is an earlier one seen from the other side, as PyG's ToUndirected adds them."""
    for other in earlier:
        if (other[0], other[2]) != (kind[2], kind[0]):
            continue
        back = edges[other]["edge_index"].detach().cpu().numpy()
        if back.shape[1] == source.size:
            mine, theirs = np.lexsort((source, end)), np.lexsort((back[1], back[0]))
            if np.array_equal(end[mine], back[0][theirs]) and np.array_equal(
                source[mine], back[1][theirs]
            ):
                return True
    return False


def _as_stored(graph: MultilayerGraph, data: HeteroData, target: str) -> MultilayerGraph:
    """The order of layers, absent nodes, couplings and features of layers, where ``to_pyg`` stored them."""
    store = data[target]
    if "layers" not in data:
        return graph
    layers = {name: graph.layers[name] for name in data.layers if name in graph.layers}
    for name, layer in layers.items():
        held = store[PRESENT + name].numpy() if PRESENT + name in store else None
        if isinstance(layer, MembershipLayer):
            layers[name] = MembershipLayer(
                layer.num_nodes,
                layer.node,
                layer.group,
                layer.group_names,
                weight=layer.weight,
                nodes=np.ones(layer.num_nodes, dtype=bool) if held is None else held,
            )
        elif held is not None:
            edges = layer.to_edges()
            layers[name] = EdgeLayer(
                edges.num_nodes,
                edges.source,
                edges.target,
                edges.weight,
                directed=edges.directed,
                nodes=held,
            )
    return MultilayerGraph(
        layers,
        nodes=graph.nodes,
        labels=graph.labels,
        features=graph.features,
        couplings=stored_couplings(data, graph.num_nodes),
        layer_features=stored_layer_features(store, layers),
        name=graph.name,
    )


def put_groups(data: HeteroData, name: str, layer: MembershipLayer) -> None:
    """The groups of a layer as a node type of its name, joined to the nodes."""
    if name == NODE:
        raise DataError(f"a layer named {NODE!r} cannot become a node type; rename it")
    data[name].num_nodes = layer.num_groups
    data[name].names = list(layer.group_names)
    relation = data[NODE, name, name]
    ends = np.stack([layer.node, layer.group]).astype(np.int64)
    relation.edge_index = torch.from_numpy(ends)
    if layer.weight is not None:
        relation.edge_weight = torch.from_numpy(layer.weight.copy())


def put_couplings(data: HeteroData, graph: MultilayerGraph) -> None:
    """A relation per coupling; an undirected one has its edges one way, from the first layer."""
    for (first, second), coupling in graph.couplings.items():
        relation = data[NODE, f"{first}{BETWEEN}{second}", NODE]
        ends = np.stack([coupling.source, coupling.target]).astype(np.int64)
        relation.edge_index = torch.from_numpy(ends)
        relation[COUPLES] = [first, second]
        relation.directed = coupling.directed
        if coupling.weight is not None:
            relation.edge_weight = torch.from_numpy(coupling.weight.copy())


def stored_couplings(data: Any, num_nodes: int) -> dict[Pair, Coupling]:
    """The couplings that :func:`put_couplings` stored."""
    found: dict[Pair, Coupling] = {}
    for kind in getattr(data, "edge_types", ()):
        store = data[kind]
        if COUPLES in store:
            first, second = store[COUPLES]
            source, end = store["edge_index"].detach().cpu().numpy()
            found[first, second] = Coupling(
                num_nodes,
                source,
                end,
                stored_weights(str(kind), store),
                directed=bool(store["directed"]),
            )
    return found
