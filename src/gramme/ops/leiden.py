"""Leiden's algorithm for any quality that is a sum over pairs of one group: weight minus expectation.

A partition c has the quality

    Q = sum over pairs i != j with c_i = c_j of ( W_ij - <e_i, e_j> ),

with a sparse symmetric W and a row e_i per node. Modularity has e_i = k_i / sqrt(2m); modularity over several layers,
with a weight and a resolution for each, has one column of e per layer and W the weighted sum of the layers. Both are
additive, so a group of nodes behaves like one node whose row is the sum of theirs.

Three compiled steps are repeated until nothing moves (V. A. Traag, L. Waltman, N. J. van Eck, "From Louvain to
Leiden: guaranteeing well-connected communities", Scientific Reports 9, 2019): nodes move to the neighbouring group
that gains most; every group is refined into parts that are connected and well tied to the rest of it; the parts
become the nodes of a smaller graph. Cost: edges x (1 + columns of e), a few tens of times.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.ops.kernels import move_nodes, refine_groups

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def leiden(
    weights: sp.csr_array, expected: Floats, random: np.random.Generator, *, start: Codes | None = None, rounds: int = 2
) -> Codes:
    """A partition of high quality whose groups are connected and cannot gain by moving one node.

    Parameters
    ----------
    weights : scipy CSR, shape (nodes, nodes)
        Symmetric, not negative; the diagonal plays no part.
    expected : array, shape (nodes, columns)
        The rows e_i.
    random : numpy Generator
        Decides the order in which nodes are visited.
    start : array of int, shape (nodes,), optional
        The partition to start from; every node alone if not given.
    rounds : int, default=2
        How often the whole is repeated from its own result, at most.

    Returns
    -------
    array of int, shape (nodes,)
        Group numbers from 0, the largest group first.

    Examples
    --------
    >>> pairs = np.zeros((6, 6))
    >>> pairs[:3, :3] = pairs[3:, 3:] = 1.0
    >>> pairs[2, 3] = pairs[3, 2] = 1.0
    >>> np.fill_diagonal(pairs, 0.0)
    >>> strengths = pairs.sum(axis=1, keepdims=True)
    >>> rows = strengths / np.sqrt(strengths.sum())
    >>> leiden(sp.csr_array(pairs), rows, np.random.default_rng(0)).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    node_count = weights.shape[0]
    best_partition = np.arange(node_count) if start is None else by_size(start)
    for _ in range(rounds):
        last_partition = best_partition
        best_partition = _one_round(weights, expected, random, best_partition)
        if np.array_equal(by_size(best_partition), by_size(last_partition)):
            break
    return by_size(best_partition)


def _one_round(weights: sp.csr_array, expected: Floats, random: np.random.Generator, start: Codes) -> Codes:
    """Move, refine and aggregate until the groups are the nodes."""
    graph, expected_rows = weights, np.ascontiguousarray(expected, dtype=np.float64)
    node_groups = start.astype(np.int64).copy()
    owner_node = np.arange(weights.shape[0])  # the node of the smaller graph that holds each node
    while True:
        node_count = graph.shape[0]
        indptr, indices = graph.indptr, graph.indices
        edge_weights = np.ascontiguousarray(graph.data, dtype=np.float64)
        move_nodes(indptr, indices, edge_weights, expected_rows, node_groups, random.permutation(node_count))
        group_count = np.unique(node_groups).size
        if group_count == node_count:
            break
        node_parts = refine_groups(
            indptr, indices, edge_weights, expected_rows, node_groups, random.permutation(node_count)
        )
        part_names, node_parts = np.unique(node_parts, return_inverse=True)
        if part_names.size == node_count:
            break  # no two nodes belong together more than they do in their groups
        part_groups = np.zeros(part_names.size, dtype=np.int64)
        part_groups[node_parts] = node_groups
        _, part_groups = np.unique(part_groups, return_inverse=True)
        part_members = sp.csr_array(
            (np.ones(node_count), (np.arange(node_count), node_parts)), shape=(node_count, part_names.size)
        )
        graph = sp.csr_array(part_members.T @ graph @ part_members)
        expected_rows = np.ascontiguousarray(part_members.T @ expected_rows)
        owner_node = node_parts[owner_node]
        node_groups = part_groups.astype(np.int64)
    final_groups: Codes = node_groups[owner_node]
    return final_groups


def by_size(group: NDArray[Any]) -> Codes:
    """Groups numbered by their size, the largest first; of equal ones the group of the earlier node."""
    _, first_nodes, group_codes, group_sizes = np.unique(
        group, return_index=True, return_inverse=True, return_counts=True
    )
    size_order = np.lexsort((first_nodes, -group_sizes))
    new_numbers = np.empty(size_order.size, dtype=np.int64)
    new_numbers[size_order] = np.arange(size_order.size)
    return new_numbers[group_codes]
