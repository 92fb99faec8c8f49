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
    node_count = graph.num_nodes
    if parts < 1 or parts > node_count:
        raise DataError(f"{node_count} nodes can be divided into 1 to {node_count} parts, not {parts}")
    if how not in ASSIGNMENTS:
        raise DataError(f"nodes are assigned by one of {', '.join(ASSIGNMENTS)}, not {how!r}")
    even_parts = np.arange(node_count) * parts // node_count
    if how == "contiguous" or parts == 1:
        return even_parts
    if how == "random":
        random_parts: Ints = even_parts[np.random.default_rng(random_state).permutation(node_count)]
        return random_parts
    joined_edges = _joined(graph)
    return _by_communities(joined_edges, node_count, parts, random_state)


def _joined(graph: MultilayerGraph) -> sp.csr_array:
    """All layers' edges and couplings both ways as one matrix; small groups are further rows, joined to members."""
    node_count = graph.num_nodes
    row_parts: list[NDArray[Any]] = []
    column_parts: list[NDArray[Any]] = []
    row_count = node_count
    for layer in graph.with_coupling_layers().layers.values():
        groups = layer.as_groups()
        if groups is not None:
            small_groups = (groups.sizes > 1) & (groups.sizes <= MAX_GROUP_MEMBERS)
            group_rows = row_count + np.cumsum(small_groups) - 1
            kept_members = small_groups[groups.group]
            row_parts.append(groups.node[kept_members].astype(np.int64))
            column_parts.append(group_rows[groups.group[kept_members]])
            row_count += int(small_groups.sum())
        else:
            edges = layer.to_edges()
            row_parts.append(edges.source.astype(np.int64))
            column_parts.append(edges.target.astype(np.int64))
    source_rows = np.concatenate([*row_parts, np.zeros(0, np.int64)])
    target_rows = np.concatenate([*column_parts, np.zeros(0, np.int64)])
    matrix_ends = np.concatenate([source_rows, target_rows]), np.concatenate([target_rows, source_rows])
    ones = np.ones(matrix_ends[0].size, dtype=np.float32)
    return sp.csr_array((ones, matrix_ends), shape=(row_count, row_count))


def _by_communities(joined: sp.csr_array, nodes: int, parts: int, seed: int) -> Ints:
    row_count = joined.shape[0]
    indptr, indices = joined.indptr.astype(np.int64), joined.indices.astype(np.int64)
    row_degrees = np.diff(indptr).astype(np.float64)
    # what a node costs: half by being there, half by its edges; a group costs nothing
    row_weights = np.where(np.arange(row_count) < nodes, 0.5 + 0.5 * row_degrees / max(row_degrees.mean(), 1e-9), 0.0)
    random_order = np.random.default_rng(seed)
    part_room = row_weights.sum() / parts * 1.05  # a part's share at most, where 1 is even
    row_clusters = np.arange(row_count)
    cluster_load = row_weights.copy()
    # eight clusters per part, so that parts can be filled evenly
    largest_cluster = max(row_weights.sum() / (8 * parts), float(row_weights.max(initial=0)))
    for _ in range(CLUSTER_SWEEPS):
        if not _sweep(
            indptr,
            indices,
            joined.data,
            random_order.permutation(row_count),
            row_clusters,
            cluster_load,
            row_weights,
            largest_cluster,
        ):
            break
    row_parts = _dealt(joined, row_clusters, row_weights, parts, part_room)
    cluster_load = np.bincount(row_parts, weights=row_weights, minlength=row_count).astype(np.float64)
    for _ in range(CLUSTER_SWEEPS):
        if not _sweep(
            indptr,
            indices,
            joined.data,
            random_order.permutation(row_count),
            row_parts,
            cluster_load,
            row_weights,
            part_room,
        ):
            break
    return _none_empty(row_parts[:nodes], parts)


def _dealt(joined: sp.csr_array, cluster: Ints, weight: NDArray[np.float64], parts: int, room: float) -> Ints:
    """The part of each row: clusters from the largest on, each to the part it has most edges to, if there is room."""
    _, cluster_numbers = np.unique(cluster, return_inverse=True)
    cluster_count = int(cluster_numbers.max(initial=-1)) + 1
    cluster_sizes = np.bincount(cluster_numbers, weights=weight, minlength=cluster_count)
    cluster_members = sp.csr_array(
        (np.ones(cluster_numbers.size), (cluster_numbers, np.arange(cluster_numbers.size))),
        shape=(cluster_count, cluster_numbers.size),
    )
    cluster_edges = sp.csr_array(cluster_members @ joined @ cluster_members.T)
    part_load, cluster_parts = np.zeros(parts), np.full(cluster_count, -1)
    for next_cluster in np.argsort(-cluster_sizes, kind="stable"):
        near_entries = slice(cluster_edges.indptr[next_cluster], cluster_edges.indptr[next_cluster + 1])
        near_parts = cluster_parts[cluster_edges.indices[near_entries]]
        part_edges = np.bincount(
            near_parts[near_parts >= 0], weights=cluster_edges.data[near_entries][near_parts >= 0], minlength=parts
        )
        has_room = part_load + cluster_sizes[next_cluster] <= room
        if has_room.any():
            # of parts with as many edges the emptiest
            best_part = np.lexsort((part_load, -part_edges, ~has_room))[0]
        else:
            best_part = int(np.argmin(part_load))
        cluster_parts[next_cluster] = best_part
        part_load[best_part] += cluster_sizes[next_cluster]
    row_parts: Ints = cluster_parts[cluster_numbers]
    return row_parts


def _none_empty(part: Ints, parts: int) -> Ints:
    """The part of each node, with a node in every part."""
    part_sizes = np.bincount(part, minlength=parts)
    for empty_part in np.flatnonzero(part_sizes == 0):
        largest_part = int(np.argmax(part_sizes))
        part[np.flatnonzero(part == largest_part)[-1]] = empty_part
        part_sizes[largest_part], part_sizes[empty_part] = part_sizes[largest_part] - 1, 1
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
        owner_order = np.argsort(owner, kind="stable")
        part_sizes = np.bincount(owner, minlength=parts)
        part_nodes = np.split(owner_order, np.cumsum(part_sizes)[:-1])
        part_position = np.empty(owner.size, dtype=np.int64)
        for own_nodes in part_nodes:
            part_position[own_nodes] = np.arange(own_nodes.size)
        return cls(owner, part_nodes, part_position)

    @property
    def parts(self) -> int:
        """How many there are."""
        return len(self.places)


def put_links(members: Members, key: str, matrix: sp.csr_array, cut: Cut, part: int, copies: int = 1) -> int:
    """Store the rows that one part has of a listening matrix over all nodes; returns the size of the halo.

    With several copies of each node the matrix is stacked, the nodes of the first layer first.
    """
    node_count, part_nodes = cut.owner.size, cut.places[part]
    copy_numbers = np.arange(copies)[:, None]
    own_rows = sp.csr_array(matrix[(copy_numbers * node_count + part_nodes).ravel()])
    entry_copy, entry_node = np.divmod(own_rows.indices.astype(np.int64), node_count)
    is_inside = cut.owner[entry_node] == part
    entry_column = np.where(is_inside, entry_copy * part_nodes.size + cut.position[entry_node], 0)
    far_rows = np.unique(own_rows.indices[~is_inside]).astype(np.int64)
    far_rows = far_rows[np.argsort(cut.owner[far_rows % node_count], kind="stable")]
    far_numbers = dict_of_places(far_rows, own_rows.indices[~is_inside])
    entry_column[~is_inside] = copies * part_nodes.size + far_numbers
    column_count = copies * part_nodes.size + far_rows.size
    members[f"{key}.indptr"] = own_rows.indptr.astype(np.int64)
    members[f"{key}.indices"] = entry_column.astype(np.int32 if column_count < 2**31 else np.int64)
    if not (own_rows.data == 1).all():
        members[f"{key}.weight"] = own_rows.data.astype(np.float64)
    part_sizes = np.array([one.size for one in cut.places])
    far_owner = cut.owner[far_rows % node_count]
    members[f"{key}.halo_owner"] = far_owner.astype(np.int32)
    members[f"{key}.halo_row"] = (far_rows // node_count) * part_sizes[far_owner] + cut.position[far_rows % node_count]
    members[f"{key}.halo_place"] = far_rows % node_count
    return int(far_rows.size)


def dict_of_places(values: Ints, wanted: NDArray[Any]) -> Ints:
    """The position of each wanted number in a list of distinct ones."""
    value_order = np.argsort(values)
    wanted_positions: Ints = value_order[np.searchsorted(values, wanted, sorter=value_order)]
    return wanted_positions


def part_members(
    graph: MultilayerGraph, cut: Cut, codes: Ints, given: Ints, masks: Sequence[NDArray[np.bool_]] = ()
) -> Iterator[tuple[Members, dict[str, Any]]]:
    """The arrays of each part of a graph in the order of its names, and what else is to be said about it.

    ``codes`` are the numbers of the nodes' labels, -1 for none; ``given`` is where each node stood before.
    """
    layered_graph = graph.with_coupling_layers()
    edge_matrices = {
        name: layer.to_scipy() for name, layer in layered_graph.layers.items() if layer.incidence() is None
    }
    groups_of = {name: layer.as_groups() for name, layer in layered_graph.layers.items()}
    shared_numbers = {name: _shared_groups(groups, cut) for name, groups in groups_of.items() if groups is not None}
    coupling_edges = coupling_matrix(graph) if graph.couplings else None
    for part, places in enumerate(cut.places):
        part_arrays: Members = {"places": places, "given": given[places], "labels": codes[places].astype(np.int32)}
        part_facts: dict[str, Any] = {"nodes_kind": put_names(part_arrays, "nodes", graph.nodes[places]), "halo": 0}
        for k, (name, layer) in enumerate(layered_graph.layers.items()):
            layer_key = f"layer{k}"
            groups = groups_of[name]
            if groups is None:
                part_facts["halo"] += put_links(part_arrays, layer_key, edge_matrices[name], cut, part)
            else:
                part_facts[layer_key] = _put_groups(part_arrays, layer_key, groups, places, shared_numbers[name])
            if not layer.holds_all_nodes:
                part_arrays[f"{layer_key}.present"] = layer.present[places]
        if coupling_edges is not None:
            part_facts["halo"] += put_links(part_arrays, "couplings", coupling_edges, cut, part, graph.num_layers)
            _put_couplings(part_arrays, graph, cut, part)
        _put_features(part_arrays, graph, places)
        part_arrays |= {f"mask{k}": mask[places] for k, mask in enumerate(masks)}
        yield part_arrays, part_facts


def layer_facts(graph: MultilayerGraph, cut: Cut) -> list[dict[str, Any]]:
    """What the manifest says about each layer; those that stand for couplings come last."""
    all_facts = []
    for name, layer in graph.with_coupling_layers().layers.items():
        layer_record: dict[str, Any] = {"name": name, "coupling": name not in graph.layers}
        groups = layer.as_groups()
        if groups is not None:
            layer_record |= {
                "kind": "groups",
                "single": groups.single,
                "weighted": groups.weighted,
                "edges": groups.num_edges,
                "groups": groups.num_groups,
                "memberships": groups.num_memberships,
                "shared": int((_shared_groups(groups, cut) >= 0).sum()),
            }
        else:
            layer_record |= {
                "kind": "edges",
                "directed": layer.directed,
                "weighted": layer.weighted,
                "edges": layer.num_edges,
            }
        all_facts.append(layer_record)
    return all_facts


def coupling_facts(graph: MultilayerGraph) -> list[dict[str, Any]]:
    """What the manifest says about each coupling."""
    return [
        {"layers": list(pair), "name": BETWEEN.join(pair), "directed": coupling.directed}
        for pair, coupling in graph.couplings.items()
    ]


def _shared_groups(layer: MembershipLayer, cut: Cut) -> Ints:
    """The number of each group among those with members in several parts, -1 for others."""
    group_parts = np.unique(layer.group.astype(np.int64) * cut.parts + cut.owner[layer.node])
    in_several_parts = np.bincount(group_parts // cut.parts, minlength=layer.num_groups) > 1
    return np.where(in_several_parts, np.cumsum(in_several_parts) - 1, -1)


def _put_groups(members: Members, key: str, layer: MembershipLayer, places: Ints, shared: Ints) -> dict[str, Any]:
    own_rows = sp.csr_array(layer.incidence()[places])
    used_groups = np.unique(own_rows.indices).astype(np.int64)
    members[f"{key}.indptr"] = own_rows.indptr.astype(np.int64)
    members[f"{key}.group"] = dict_of_places(used_groups, own_rows.indices).astype(np.int32)
    if layer.weighted:
        members[f"{key}.weight"] = own_rows.data.astype(np.float64)
    members[f"{key}.sizes"] = layer.sizes[used_groups]
    members[f"{key}.group_place"] = used_groups
    members[f"{key}.shared"] = shared[used_groups]
    names_kind: dict[str, Any] = put_names(members, f"{key}.names", layer.group_names[used_groups])
    return names_kind


def _put_couplings(members: Members, graph: MultilayerGraph, cut: Cut, part: int) -> None:
    """The couplings' edges by positions in the whole graph, each at the owner of its source."""
    for k, coupling in enumerate(graph.couplings.values()):
        own_edges = np.flatnonzero(cut.owner[coupling.source] == part)
        members[f"coupling{k}.source"] = coupling.source[own_edges].astype(np.int64)
        members[f"coupling{k}.target"] = coupling.target[own_edges].astype(np.int64)
        if coupling.weight is not None:
            members[f"coupling{k}.weight"] = coupling.weight[own_edges]


def _put_features(members: Members, graph: MultilayerGraph, places: Ints) -> None:
    feature_blocks = {"features": graph.features} | {
        f"layer_features{k}": matrix for k, matrix in enumerate(graph.layer_features.values())
    }
    for block_key, matrix in feature_blocks.items():
        if matrix is None:
            continue
        own_rows: Any = matrix[places]
        if isinstance(own_rows, np.ndarray):
            members[block_key] = own_rows
            continue
        members[f"{block_key}.shape"] = np.array(own_rows.shape, dtype=np.int64)
        for name in ("data", "indices", "indptr"):
            members[f"{block_key}.{name}"] = getattr(own_rows, name)
