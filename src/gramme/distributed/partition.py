"""Which process owns which node: each should have about the same work, with few edges to other processes.

Three ways. *contiguous*: in the order of the nodes. *random*: at random, the worst case for comparison. *communities*:
labels of clusters spread along edges and small groups until neighbours agree, clusters of a bounded size; these are
dealt to the parts, each to the one it has most edges to among those with room; then single nodes move to the part where
most of their neighbours are, as long as there is room. Cost: a few passes over all edges and memberships.

References
----------
U. N. Raghavan, R. Albert, S. Kumara, "Near linear time algorithm to detect community structures", Physical Review E 76,
2007. H. Meyerhenke, P. Sanders, C. Schulz, "Partitioning Complex Networks via Size-constrained Clustering", SEA 2014.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme._types import Ints
from gramme.errors import DataError
from gramme.graph import MembershipLayer, MultilayerGraph
from gramme.graph.coupling import BETWEEN
from gramme.io.zip_arrays import put_names
from gramme.ops.kernels import compiled
from gramme.ops.stacked import coupling_matrix

ASSIGNMENTS = ("communities", "contiguous", "random")
MAX_GROUP_MEMBERS = 200  # members up to which a group says who belongs together
CLUSTER_SWEEPS = 8


def assign(graph: MultilayerGraph, parts: int, how: str = "communities", random_state: int = 0) -> Ints:
    """The part of each node, 0 .. parts - 1.

    Parameters
    ----------
    graph : MultilayerGraph
    parts : int
    how : {"communities", "contiguous", "random"}, default="communities"
    random_state : int, default=0

    Examples
    --------
    >>> from gramme.graph import EdgeLayer
    >>> two = EdgeLayer(6, [0, 2, 4, 1, 3, 5], [2, 4, 0, 3, 5, 1])  # triangles of even and of odd nodes
    >>> assign(MultilayerGraph({"two": two}), 2, "contiguous").tolist()
    [0, 0, 0, 1, 1, 1]
    >>> found = assign(MultilayerGraph({"two": two}), 2, "communities")
    >>> len(set(found[::2].tolist())), len(set(found[1::2].tolist()))
    (1, 1)
    """
    nodes = graph.num_nodes
    if parts < 1 or parts > nodes:
        raise DataError(f"{nodes} nodes can be divided into 1 to {nodes} parts, not {parts}")
    if how not in ASSIGNMENTS:
        raise DataError(f"nodes are assigned by one of {', '.join(ASSIGNMENTS)}, not {how!r}")
    even = np.arange(nodes) * parts // nodes
    if how == "contiguous" or parts == 1:
        return even
    if how == "random":
        found: Ints = even[np.random.default_rng(random_state).permutation(nodes)]
        return found
    joined = _joined(graph)
    return _by_communities(joined, nodes, parts, random_state)


def _joined(graph: MultilayerGraph) -> sp.csr_array:
    """All layers' edges and couplings both ways as one matrix; small groups are further rows, joined to members."""
    nodes = graph.num_nodes
    rows: list[NDArray[Any]] = []
    columns: list[NDArray[Any]] = []
    count = nodes
    for layer in graph.with_coupling_layers().layers.values():
        groups = layer.as_groups()
        if groups is not None:
            small = (groups.sizes > 1) & (groups.sizes <= MAX_GROUP_MEMBERS)
            number = count + np.cumsum(small) - 1
            kept = small[groups.group]
            rows.append(groups.node[kept].astype(np.int64))
            columns.append(number[groups.group[kept]])
            count += int(small.sum())
        else:
            edges = layer.to_edges()
            rows.append(edges.source.astype(np.int64))
            columns.append(edges.target.astype(np.int64))
    source = np.concatenate([*rows, np.zeros(0, np.int64)])
    target = np.concatenate([*columns, np.zeros(0, np.int64)])
    ends = np.concatenate([source, target]), np.concatenate([target, source])
    ones = np.ones(ends[0].size, dtype=np.float32)
    return sp.csr_array((ones, ends), shape=(count, count))


def _by_communities(joined: sp.csr_array, nodes: int, parts: int, seed: int) -> Ints:
    count = joined.shape[0]
    indptr, indices = joined.indptr.astype(np.int64), joined.indices.astype(np.int64)
    degree = np.diff(indptr).astype(np.float64)
    # what a node costs: half by being there, half by its edges; a group costs nothing
    weight = np.where(np.arange(count) < nodes, 0.5 + 0.5 * degree / max(degree.mean(), 1e-9), 0.0)
    random = np.random.default_rng(seed)
    room = weight.sum() / parts * 1.05  # a part's share at most, where 1 is even
    cluster = np.arange(count)
    load = weight.copy()
    # eight clusters per part, so that parts can be filled evenly
    most = max(weight.sum() / (8 * parts), float(weight.max(initial=0)))
    for _ in range(CLUSTER_SWEEPS):
        if not _sweep(indptr, indices, joined.data, random.permutation(count), cluster, load, weight, most):
            break
    part = _dealt(joined, cluster, weight, parts, room)
    load = np.bincount(part, weights=weight, minlength=count).astype(np.float64)
    for _ in range(CLUSTER_SWEEPS):
        if not _sweep(indptr, indices, joined.data, random.permutation(count), part, load, weight, room):
            break
    return _none_empty(part[:nodes], parts)


def _dealt(joined: sp.csr_array, cluster: Ints, weight: NDArray[np.float64], parts: int, room: float) -> Ints:
    """The part of each row: clusters from the largest on, each to the part it has most edges to, if there is room."""
    _, number = np.unique(cluster, return_inverse=True)
    clusters = int(number.max(initial=-1)) + 1
    sizes = np.bincount(number, weights=weight, minlength=clusters)
    inside = sp.csr_array((np.ones(number.size), (number, np.arange(number.size))), shape=(clusters, number.size))
    between = sp.csr_array(inside @ joined @ inside.T)
    load, part = np.zeros(parts), np.full(clusters, -1)
    for one in np.argsort(-sizes, kind="stable"):
        near = slice(between.indptr[one], between.indptr[one + 1])
        others = part[between.indices[near]]
        edges = np.bincount(others[others >= 0], weights=between.data[near][others >= 0], minlength=parts)
        free = load + sizes[one] <= room
        if free.any():
            # of parts with as many edges the emptiest
            best = np.lexsort((load, -edges, ~free))[0]
        else:
            best = int(np.argmin(load))
        part[one] = best
        load[best] += sizes[one]
    found: Ints = part[number]
    return found


def _none_empty(part: Ints, parts: int) -> Ints:
    """The same with a node in every part."""
    sizes = np.bincount(part, minlength=parts)
    for empty in np.flatnonzero(sizes == 0):
        largest = int(np.argmax(sizes))
        part[np.flatnonzero(part == largest)[-1]] = empty
        sizes[largest], sizes[empty] = sizes[largest] - 1, 1
    return part


@compiled
def _sweep(
    indptr: Ints,
    indices: Ints,
    weights: NDArray[np.float32],
    order: Ints,
    label: Ints,
    load: NDArray[np.float64],
    weight: NDArray[np.float64],
    most: float,
) -> int:
    """Give each row the label that most of its neighbours have, where there is room; returns how many changed."""
    counts = np.zeros(label.size)
    changed = 0
    for row in order:
        first, last = indptr[row], indptr[row + 1]
        for place in range(first, last):
            counts[label[indices[place]]] += weights[place]
        own = label[row]
        best = own
        for place in range(first, last):
            other = label[indices[place]]
            if counts[other] > counts[best] and load[other] + weight[row] <= most:
                best = other
        for place in range(first, last):
            counts[label[indices[place]]] = 0.0
        if best != own:
            load[own] -= weight[row]
            load[best] += weight[row]
            label[row] = best
            changed += 1
    return changed


# Cutting a whole graph into parts: which arrays each process gets.


Members = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Cut:
    """Who owns which node."""

    owner: Ints  # the part of each node
    places: list[Ints]  # the nodes of each part, ascending
    position: Ints  # where a node stands in its part

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


def put_links(members: Members, key: str, matrix: sp.csr_array, cut: Cut, part: int, copies: int = 1) -> int:
    """Store the rows that one part has of a listening matrix over all nodes; returns the size of the halo.

    With several copies of each node the matrix is stacked, the nodes of the first layer first.
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
    graph: MultilayerGraph, cut: Cut, codes: Ints, given: Ints, masks: Sequence[NDArray[np.bool_]] = ()
) -> Iterator[tuple[Members, dict[str, Any]]]:
    """The arrays of each part of a graph in the order of its names, and what else is to be said about it.

    ``codes`` are the numbers of the nodes' labels, -1 for none; ``given`` is where each node stood before.
    """
    whole = graph.with_coupling_layers()
    matrices = {name: layer.to_scipy() for name, layer in whole.layers.items() if layer.incidence() is None}
    groups_of = {name: layer.as_groups() for name, layer in whole.layers.items()}
    shared = {name: _shared_groups(groups, cut) for name, groups in groups_of.items() if groups is not None}
    between = coupling_matrix(graph) if graph.couplings else None
    for part, places in enumerate(cut.places):
        members: Members = {"places": places, "given": given[places], "labels": codes[places].astype(np.int32)}
        facts: dict[str, Any] = {"nodes_kind": put_names(members, "nodes", graph.nodes[places]), "halo": 0}
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
        members |= {f"mask{k}": mask[places] for k, mask in enumerate(masks)}
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
            facts |= {"kind": "edges", "directed": layer.directed, "weighted": layer.weighted, "edges": layer.num_edges}
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


def _put_groups(members: Members, key: str, layer: MembershipLayer, places: Ints, shared: Ints) -> dict[str, Any]:
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
