"""Cutting a whole graph into parts: which arrays each process gets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.graph import MembershipLayer, MultilayerGraph
from gramme.graph.coupling import BETWEEN
from gramme.io.formats.npz_names import put_names
from gramme.ops.supra import coupling_matrix

Ints = NDArray[np.int64]
Members = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Cut:
    """Who owns which node.

    Attributes
    ----------
    owner : array of int, shape (nodes,)
        The part of each node.
    places : list of array of int
        The nodes of each part, ascending.
    position : array of int, shape (nodes,)
        Where a node stands in its part.
    """

    owner: Ints
    places: list[Ints]
    position: Ints

    @classmethod
    def of(cls, owner: NDArray[Any], parts: int) -> Cut:
        """From the part of each node."""
        owner = owner.astype(np.int64)
        order = np.argsort(owner, kind="stable")
        sizes = np.bincount(owner, minlength=parts)
        places = np.split(order, np.cumsum(sizes)[:-1])
        position = np.empty(owner.size, dtype=np.int64)
        for one in places:
            position[one] = np.arange(one.size)
        return cls(owner, places, position)

    @property
    def parts(self) -> int:
        """How many there are."""
        return len(self.places)


def put_links(
    members: Members, key: str, matrix: sp.csr_array, cut: Cut, part: int, copies: int = 1
) -> int:
    """Store the rows that one part has of a listening matrix over all nodes; returns the size of the halo.

    Parameters
    ----------
    members : dict
        Where to put the arrays, named by ``key``.
    matrix : scipy CSR, shape (copies * nodes, copies * nodes)
    cut : Cut
    part : int
    copies : int, default=1
        Copies of each node, stacked: those of the first layer first.
    """
    nodes, places = cut.owner.size, cut.places[part]
    shifts = np.arange(copies)[:, None]
    own = sp.csr_array(matrix[(shifts * nodes + places).ravel()])
    copy, node = np.divmod(own.indices.astype(np.int64), nodes)
    inside = cut.owner[node] == part
    column = np.where(inside, copy * places.size + cut.position[node], 0)
    far = np.unique(own.indices[~inside]).astype(np.int64)
    far = far[np.argsort(cut.owner[far % nodes], kind="stable")]
    number = dict_of_places(far, own.indices[~inside])
    column[~inside] = copies * places.size + number
    largest = copies * places.size + far.size
    members[f"{key}.indptr"] = own.indptr.astype(np.int64)
    members[f"{key}.indices"] = column.astype(np.int32 if largest < 2**31 else np.int64)
    if not (own.data == 1).all():
        members[f"{key}.weight"] = own.data.astype(np.float64)
    sizes = np.array([one.size for one in cut.places])
    owner = cut.owner[far % nodes]
    members[f"{key}.halo_owner"] = owner.astype(np.int32)
    members[f"{key}.halo_row"] = (far // nodes) * sizes[owner] + cut.position[far % nodes]
    members[f"{key}.halo_place"] = far % nodes
    return int(far.size)


def dict_of_places(values: Ints, wanted: NDArray[Any]) -> Ints:
    """The position of each wanted number in a list of distinct ones."""
    order = np.argsort(values)
    found: Ints = order[np.searchsorted(values, wanted, sorter=order)]
    return found


def part_members(
    graph: MultilayerGraph, cut: Cut, codes: Ints, given: Ints
) -> Iterator[tuple[Members, dict[str, Any]]]:
    """The arrays of each part in turn, and what else is to be said about it.

    Parameters
    ----------
    graph : MultilayerGraph
        In the order of its names.
    cut : Cut
    codes : array of int, shape (nodes,)
        The number of each node's label, -1 for none.
    given : array of int, shape (nodes,)
        Where each node stood before it was put in order.
    """
    whole = graph.with_coupling_layers()
    matrices = {
        name: layer.to_scipy() for name, layer in whole.layers.items() if layer.incidence() is None
    }
    groups_of = {name: layer.as_groups() for name, layer in whole.layers.items()}
    shared = {
        name: _shared_groups(groups, cut)
        for name, groups in groups_of.items()
        if groups is not None
    }
    between = coupling_matrix(graph) if graph.couplings else None
    for part, places in enumerate(cut.places):
        members: Members = {
            "places": places,
            "given": given[places],
            "labels": codes[places].astype(np.int32),
        }
        facts: dict[str, Any] = {
            "nodes_kind": put_names(members, "nodes", graph.nodes[places]),
            "halo": 0,
        }
        for k, (name, layer) in enumerate(whole.layers.items()):
            key = f"layer{k}"
            groups = groups_of[name]
            if groups is None:
                facts["halo"] += put_links(members, key, matrices[name], cut, part)
            else:
                facts[key] = _put_groups(members, key, groups, places, shared[name])
            if not layer.holds_all_nodes:
                members[f"{key}.present"] = layer.present[places]
        if between is not None:
            facts["halo"] += put_links(members, "couplings", between, cut, part, graph.num_layers)
            _put_couplings(members, graph, cut, part)
        _put_features(members, graph, places)
        yield members, facts


def layer_facts(graph: MultilayerGraph, cut: Cut) -> list[dict[str, Any]]:
    """What the manifest says about each layer; those that stand for couplings come last."""
    found = []
    for name, layer in graph.with_coupling_layers().layers.items():
        facts: dict[str, Any] = {"name": name, "coupling": name not in graph.layers}
        groups = layer.as_groups()
        if groups is not None:
            facts |= {
                "kind": "groups",
                "single": groups.single,
                "weighted": groups.weighted,
                "edges": groups.num_edges,
                "groups": groups.num_groups,
                "memberships": groups.num_memberships,
                "shared": int((_shared_groups(groups, cut) >= 0).sum()),
            }
        else:
            facts |= {
                "kind": "edges",
                "directed": layer.directed,
                "weighted": layer.weighted,
                "edges": layer.num_edges,
            }
        found.append(facts)
    return found


def coupling_facts(graph: MultilayerGraph) -> list[dict[str, Any]]:
    """What the manifest says about each coupling."""
    return [
        {"layers": list(pair), "name": BETWEEN.join(pair), "directed": coupling.directed}
        for pair, coupling in graph.couplings.items()
    ]


def _shared_groups(layer: MembershipLayer, cut: Cut) -> Ints:
    """The number of each group among those with members in several parts, -1 for others."""
    pairs = np.unique(layer.group.astype(np.int64) * cut.parts + cut.owner[layer.node])
    several = np.bincount(pairs // cut.parts, minlength=layer.num_groups) > 1
    return np.where(several, np.cumsum(several) - 1, -1)


def _put_groups(
    members: Members, key: str, layer: MembershipLayer, places: Ints, shared: Ints
) -> dict[str, Any]:
    rows = sp.csr_array(layer.incidence()[places])
    used = np.unique(rows.indices).astype(np.int64)
    members[f"{key}.indptr"] = rows.indptr.astype(np.int64)
    members[f"{key}.group"] = dict_of_places(used, rows.indices).astype(np.int32)
    if layer.weighted:
        members[f"{key}.weight"] = rows.data.astype(np.float64)
    members[f"{key}.sizes"] = layer.sizes[used]
    members[f"{key}.group_place"] = used
    members[f"{key}.shared"] = shared[used]
    names: dict[str, Any] = put_names(members, f"{key}.names", layer.group_names[used])
    return names


def _put_couplings(members: Members, graph: MultilayerGraph, cut: Cut, part: int) -> None:
    """The couplings' edges by positions in the whole graph, each at the owner of its source."""
    for k, coupling in enumerate(graph.couplings.values()):
        mine = np.flatnonzero(cut.owner[coupling.source] == part)
        members[f"coupling{k}.source"] = coupling.source[mine].astype(np.int64)
        members[f"coupling{k}.target"] = coupling.target[mine].astype(np.int64)
        if coupling.weight is not None:
            members[f"coupling{k}.weight"] = coupling.weight[mine]


def _put_features(members: Members, graph: MultilayerGraph, places: Ints) -> None:
    blocks = {"features": graph.features} | {
        f"layer_features{k}": matrix for k, matrix in enumerate(graph.layer_features.values())
    }
    for key, matrix in blocks.items():
        if matrix is None:
            continue
        rows: Any = matrix[places]
        if isinstance(rows, np.ndarray):
            members[key] = rows
            continue
        members[f"{key}.shape"] = np.array(rows.shape, dtype=np.int64)
        for name in ("data", "indices", "indptr"):
            members[f"{key}.{name}"] = getattr(rows, name)
