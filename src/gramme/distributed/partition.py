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

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.ops.compiled import compiled

ASSIGNMENTS = ("communities", "contiguous", "random")
MAX_GROUP_MEMBERS = 200  # members up to which a group says who belongs together
CLUSTERS_PER_PART = 8  # so that parts can be filled evenly
CLUSTER_SWEEPS = 8
MAX_PART_LOAD = 1.05  # a part's share at most, where 1 is even

Ints = NDArray[np.int64]


def assign(
    graph: MultilayerGraph, parts: int, how: str = "communities", random_state: int = 0
) -> Ints:
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
    >>> two = EdgeLayer(
    ...     6, [0, 2, 4, 1, 3, 5], [2, 4, 0, 3, 5, 1]
    ... )  # triangles of even and of odd nodes
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
    room = weight.sum() / parts * MAX_PART_LOAD
    cluster = np.arange(count)
    load = weight.copy()
    most = max(weight.sum() / (parts * CLUSTERS_PER_PART), float(weight.max(initial=0)))
    for _ in range(CLUSTER_SWEEPS):
        if not _sweep(
            indptr, indices, joined.data, random.permutation(count), cluster, load, weight, most
        ):
            break
    part = _dealt(joined, cluster, weight, parts, room)
    load = np.bincount(part, weights=weight, minlength=count).astype(np.float64)
    for _ in range(CLUSTER_SWEEPS):
        if not _sweep(
            indptr, indices, joined.data, random.permutation(count), part, load, weight, room
        ):
            break
    return _none_empty(part[:nodes], parts)


def _dealt(
    joined: sp.csr_array, cluster: Ints, weight: NDArray[np.float64], parts: int, room: float
) -> Ints:
    """The part of each row: clusters from the largest on, each to the part it has most edges to, if there is room."""
    _, number = np.unique(cluster, return_inverse=True)
    clusters = int(number.max(initial=-1)) + 1
    sizes = np.bincount(number, weights=weight, minlength=clusters)
    inside = sp.csr_array(
        (np.ones(number.size), (number, np.arange(number.size))), shape=(clusters, number.size)
    )
    between = sp.csr_array(inside @ joined @ inside.T)
    load, part = np.zeros(parts), np.full(clusters, -1)
    for one in np.argsort(-sizes, kind="stable"):
        near = slice(between.indptr[one], between.indptr[one + 1])
        others = part[between.indices[near]]
        edges = np.bincount(
            others[others >= 0], weights=between.data[near][others >= 0], minlength=parts
        )
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
