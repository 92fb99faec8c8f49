"""Leiden's algorithm for any quality that is a sum over pairs of one group: weight minus expectation.

A partition c has the quality

    Q = sum over pairs i != j with c_i = c_j of ( W_ij - <e_i, e_j> ),

with a sparse symmetric W and a row e_i per node. Modularity has e_i = k_i / sqrt(2m); modularity over several layers, with
a weight and a resolution for each, has one column of e per layer and W the weighted sum of the layers. Both are additive, so a
group of nodes behaves like one node whose row is the sum of theirs.

Three compiled steps are repeated until nothing moves (V. A. Traag, L. Waltman, N. J. van Eck, "From Louvain to Leiden:
guaranteeing well-connected communities", Scientific Reports 9, 2019): nodes move to the neighbouring group that gains most;
every group is refined into parts that are connected and well tied to the rest of it; the parts become the nodes of a smaller
graph. Cost: edges x (1 + columns of e), a few tens of times.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.ops.compiled import compiled

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

SMALLEST_GAIN = 1e-10
"""Share of a node's own weight that a move must gain, so that rounding moves nobody."""


@compiled
def _move_nodes(
    starts: NDArray[Any],
    neighbours: NDArray[Any],
    weights: Floats,
    expected: Floats,
    group: Codes,
    order: Codes,
) -> int:
    """Move nodes to the group that gains most until none wants to move; ``group`` is changed in place."""
    count, columns = expected.shape
    totals = np.zeros((count, columns))
    sizes = np.zeros(count, dtype=np.int64)
    for node in range(count):
        sizes[group[node]] += 1
        for column in range(columns):
            totals[group[node], column] += expected[node, column]
    empty = np.empty(count, dtype=np.int64)
    empties = 0
    for label in range(count - 1, -1, -1):
        if sizes[label] == 0:
            empty[empties] = label
            empties += 1
    queue = order.copy()
    queued = np.ones(count, dtype=np.bool_)
    head, waiting = 0, count
    tied = np.zeros(count)
    touched = np.empty(count, dtype=np.int64)
    moves = 0
    while waiting > 0:
        node = queue[head]
        head = (head + 1) % count
        waiting -= 1
        queued[node] = False
        own = group[node]
        number = 0
        strength = 0.0
        for at in range(starts[node], starts[node + 1]):
            other = neighbours[at]
            if other == node:
                continue
            label = group[other]
            if tied[label] == 0.0:
                touched[number] = label
                number += 1
            tied[label] += weights[at]
            strength += weights[at]
        for column in range(columns):
            totals[own, column] -= expected[node, column]
        stay = tied[own]
        for column in range(columns):
            stay -= expected[node, column] * totals[own, column]
        best, gain = own, stay
        least = SMALLEST_GAIN * (strength + 1e-300)
        for place in range(number):
            label = touched[place]
            if label == own:
                continue
            value = tied[label]
            for column in range(columns):
                value -= expected[node, column] * totals[label, column]
            if value > gain + least:
                best, gain = label, value
        # a group of its own gains 0
        if gain < -least and sizes[own] > 1 and empties > 0:
            empties -= 1
            best = empty[empties]
        for place in range(number):
            tied[touched[place]] = 0.0
        for column in range(columns):
            totals[best, column] += expected[node, column]
        if best != own:
            moves += 1
            sizes[own] -= 1
            sizes[best] += 1
            if sizes[own] == 0:
                empty[empties] = own
                empties += 1
            group[node] = best
            for at in range(starts[node], starts[node + 1]):
                other = neighbours[at]
                if group[other] != best and not queued[other]:
                    queued[other] = True
                    queue[(head + waiting) % count] = other
                    waiting += 1
    return moves


@compiled
def _refine_groups(
    starts: NDArray[Any],
    neighbours: NDArray[Any],
    weights: Floats,
    expected: Floats,
    group: Codes,
    order: Codes,
) -> Codes:
    """Divide every group into parts that are connected and well tied to the rest of their group."""
    count, columns = expected.shape
    part = np.arange(count)
    group_totals = np.zeros((count, columns))
    for node in range(count):
        for column in range(columns):
            group_totals[group[node], column] += expected[node, column]
    part_totals = expected.copy()
    single = np.ones(count, dtype=np.bool_)
    outward = np.zeros(count)  # weight from a part to the rest of its group
    for node in range(count):
        for at in range(starts[node], starts[node + 1]):
            other = neighbours[at]
            if other != node and group[other] == group[node]:
                outward[node] += weights[at]
    tied = np.zeros(count)
    touched = np.empty(count, dtype=np.int64)
    for place in range(count):
        node = order[place]
        if not single[node]:
            continue
        label = group[node]
        rest = 0.0
        for column in range(columns):
            rest += expected[node, column] * (group_totals[label, column] - expected[node, column])
        if outward[node] < rest:
            continue
        number = 0
        for at in range(starts[node], starts[node + 1]):
            other = neighbours[at]
            if other == node or group[other] != label:
                continue
            if tied[part[other]] == 0.0:
                touched[number] = part[other]
                number += 1
            tied[part[other]] += weights[at]
        best, gain = node, 0.0
        for seen in range(number):
            there = touched[seen]
            value = tied[there]
            needed = 0.0
            for column in range(columns):
                value -= expected[node, column] * part_totals[there, column]
                needed += part_totals[there, column] * (
                    group_totals[label, column] - part_totals[there, column]
                )
            if value > gain and outward[there] >= needed:
                best, gain = there, value
        if best != node:
            outward[best] += outward[node] - 2.0 * tied[best]
            for column in range(columns):
                part_totals[best, column] += expected[node, column]
            part[node] = best
            single[best] = False
            single[node] = False
        for seen in range(number):
            tied[touched[seen]] = 0.0
    return part


def leiden(
    weights: sp.csr_array,
    expected: Floats,
    random: np.random.Generator,
    *,
    start: Codes | None = None,
    rounds: int = 2,
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
    count = weights.shape[0]
    found = np.arange(count) if start is None else by_size(start)
    for _ in range(rounds):
        before = found
        found = _one_round(weights, expected, random, found)
        if np.array_equal(by_size(found), by_size(before)):
            break
    return by_size(found)


def _one_round(
    weights: sp.csr_array, expected: Floats, random: np.random.Generator, start: Codes
) -> Codes:
    """Move, refine and aggregate until the groups are the nodes."""
    graph, rows = weights, np.ascontiguousarray(expected, dtype=np.float64)
    group = start.astype(np.int64).copy()
    inside = np.arange(weights.shape[0])  # the node of the smaller graph that holds each node
    while True:
        count = graph.shape[0]
        indptr, indices = graph.indptr, graph.indices
        data = np.ascontiguousarray(graph.data, dtype=np.float64)
        _move_nodes(indptr, indices, data, rows, group, random.permutation(count))
        groups = np.unique(group).size
        if groups == count:
            break
        part = _refine_groups(indptr, indices, data, rows, group, random.permutation(count))
        names, part = np.unique(part, return_inverse=True)
        if names.size == count:
            break  # no two nodes belong together more than they do in their groups
        owner = np.zeros(names.size, dtype=np.int64)
        owner[part] = group
        _, owner = np.unique(owner, return_inverse=True)
        member = sp.csr_array(
            (np.ones(count), (np.arange(count), part)), shape=(count, names.size)
        )
        graph = sp.csr_array(member.T @ graph @ member)
        rows = np.ascontiguousarray(member.T @ rows)
        inside = part[inside]
        group = owner.astype(np.int64)
    found: Codes = group[inside]
    return found


def by_size(group: NDArray[Any]) -> Codes:
    """Groups numbered by their size, the largest first; of equal ones the group of the earlier node."""
    _, first, codes, sizes = np.unique(
        group, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -sizes))
    number = np.empty(order.size, dtype=np.int64)
    number[order] = np.arange(order.size)
    return number[codes]
