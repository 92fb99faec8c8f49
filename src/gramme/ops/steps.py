"""One step of a random walk: first order (in proportion to weight) and second order (node2vec), compiled.

The second-order step from v, having come from t, takes a neighbour x with probability in proportion to
w_vx * bias(t, x), where the bias is 1/p for x = t, 1 for x next to t, and 1/q for all others. It is drawn by rejection
from the first-order step, so that nothing is stored per pair of edges. A row whose bias rejects too often is gone
through slot by slot instead: same distribution, bounded time.

References
----------
A. Grover, J. Leskovec, "node2vec: Scalable Feature Learning for Networks", KDD 2016.
"""

from __future__ import annotations

from gramme.ops.alias import drawn
from gramme.ops.compiled import compiled
from gramme.ops.counter_random import Stream, below, uniform
from gramme.ops.walk_graph import WalkGraph

_TRIES = 100


@compiled
def first_step(graph: WalkGraph, row: int, node: int, stream: Stream) -> int:
    """A neighbour of the node, in proportion to weight; -1 where there is none. ``row`` is the node's row."""
    low, high = graph.indptr[row], graph.indptr[row + 1]
    if low == high:
        return -1
    slot = graph.slots[drawn(graph.accept, graph.alias, low, high, stream)]
    if slot >= 0:
        return int(slot)
    begin, end = graph.group_indptr[~slot], graph.group_indptr[~slot + 1]
    other = node
    while other == node:  # a group has at least two members, so two tries on average at most
        other = graph.members[begin + below(stream, end - begin)]
    return int(other)


@compiled
def joined(graph: WalkGraph, row: int, other_row: int, other: int) -> bool:
    """Whether a step can lead from the node of ``row`` to ``other``: by an edge or a shared group."""
    low, high = graph.indptr[row], graph.indptr[row + 1]
    left, right = low, high
    while left < right:
        middle = (left + right) >> 1
        if graph.slots[middle] < other:
            left = middle + 1
        else:
            right = middle
    if left < high and graph.slots[left] == other:
        return True
    # Groups stand first in a row, sorted
    mine, theirs = low, graph.indptr[other_row]
    end = graph.indptr[other_row + 1]
    while mine < high and theirs < end:
        one, two = graph.slots[mine], graph.slots[theirs]
        if one >= 0 or two >= 0:
            return False
        if one == two:
            return True
        if one < two:
            mine += 1
        else:
            theirs += 1
    return False


@compiled
def _bias(graph: WalkGraph, shift: int, came_from: int, other: int, p: float, q: float) -> float:
    if other == came_from:
        return 1.0 / p
    return 1.0 if joined(graph, shift + came_from, shift + other, other) else 1.0 / q


@compiled
def second_step(
    graph: WalkGraph, shift: int, node: int, came_from: int, p: float, q: float, stream: Stream
) -> int:
    """A neighbour of the node by node2vec's rule; -1 where there is none. The row of node i is ``shift + i``."""
    row = shift + node
    if graph.indptr[row] == graph.indptr[row + 1]:
        return -1
    largest = max(1.0, 1.0 / p, 1.0 / q)
    for _ in range(_TRIES):
        other = first_step(graph, row, node, stream)
        threshold = uniform(stream) * largest
        if threshold < _bias(graph, shift, came_from, other, p, q):
            return other
    return _enumerated(graph, shift, node, came_from, p, q, stream)


@compiled
def _enumerated(
    graph: WalkGraph, shift: int, node: int, came_from: int, p: float, q: float, stream: Stream
) -> int:
    """The second-order step by going through all neighbours twice: sum up, then stop where the draw falls."""
    low, high = graph.indptr[shift + node], graph.indptr[shift + node + 1]
    total, goal, last = 0.0, -1.0, -1
    for turn in range(2):
        if turn == 1:
            goal = uniform(stream) * total
            total = 0.0
        for place in range(low, high):
            slot = graph.slots[place]
            weight = graph.weight[place] if graph.weight.size else 1.0
            if slot >= 0:
                last = slot
                total += weight * _bias(graph, shift, came_from, slot, p, q)
                if turn == 1 and total > goal:
                    return int(slot)
                continue
            begin, end = graph.group_indptr[~slot], graph.group_indptr[~slot + 1]
            share = weight / (end - begin - 1)
            for k in range(begin, end):
                other = graph.members[k]
                if other == node:
                    continue
                last = other
                total += share * _bias(graph, shift, came_from, other, p, q)
                if turn == 1 and total > goal:
                    return int(other)
    return int(last)
