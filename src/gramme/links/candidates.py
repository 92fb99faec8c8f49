"""Pairs worth asking about: reached within three steps or in a small group together, never all pairs of nodes."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.links.pair_scores import Pairs, entries
from gramme.ops.compiled import compiled

CANDIDATES_PER_NODE = 60
"""Candidates that are kept for each node, those with most paths by degrees."""
MAX_CANDIDATE_PAIRS = 400_000
"""Candidates that are scored in all."""
MAX_GROUP_MEMBERS = 100
"""Members of a group up to which each pair of them is a candidate."""
MAX_NEIGHBOURS = 2000
"""Neighbours of a node through which paths are followed, the first in the order of nodes."""
MAX_DENSE_NODES = 6000
"""Nodes up to which paths in a well filled matrix are counted by products of dense matrices."""
DENSE_SHARE = 0.1
"""Share of entries from which on these are faster."""
_ROWS = 512
"""Nodes whose paths are counted by one product."""


def candidate_pairs(
    adjacency: sp.csr_array,
    groups: sp.csr_array,
    known: sp.csr_array,
    *,
    directed: bool,
    sources: NDArray[np.int64] | None = None,
) -> Pairs:
    """Pairs without an edge in ``known`` that paths of length 2 or 3, or a small group, join.

    Parameters
    ----------
    adjacency : scipy CSR
        All layers of edges together, symmetric.
    groups : scipy CSR
        Who is in which group.
    known : scipy CSR
        The edges of the layer in question.
    directed : bool
        Whether both orders of a pair are asked about.
    sources : array of int, optional
        The nodes whose candidates are wanted; all if not given.
    """
    nodes = adjacency.shape[0]
    starts = np.arange(nodes) if sources is None else sources
    each = max(5, min(CANDIDATES_PER_NODE, MAX_CANDIDATE_PAIRS // max(starts.size, 1)))
    if sources is not None:
        each = min(nodes, 50 * CANDIDATES_PER_NODE)
    strength = np.asarray(adjacency.sum(axis=1)).ravel()
    by_root = np.divide(1.0, np.sqrt(strength), out=np.zeros(nodes), where=strength > 0)
    if nodes <= MAX_DENSE_NODES and adjacency.nnz > DENSE_SHARE * nodes**2:
        reached = _nearest_in_dense(adjacency, by_root, starts, each)
    else:
        reached = _nearest(
            adjacency.indptr.astype(np.int64),
            adjacency.indices.astype(np.int64),
            np.asarray(adjacency.data, dtype=np.float64),
            by_root,
            starts.astype(np.int64),
            each,
            MAX_NEIGHBOURS,
        )
    found = [reached, _in_small_groups(groups, starts)]
    pairs = np.concatenate(found)
    if directed:
        pairs = np.concatenate([pairs, pairs[:, ::-1]])
    else:
        pairs = np.sort(pairs, axis=1)
    pairs = np.unique(pairs, axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    fresh: Pairs = pairs[entries(known, pairs) == 0]
    return fresh


def _in_small_groups(groups: sp.csr_array, starts: NDArray[np.int64]) -> Pairs:
    if not groups.nnz:
        return np.zeros((0, 2), dtype=np.int64)
    sizes = np.bincount(groups.indices, minlength=groups.shape[1])
    small = sp.csr_array(groups[:, np.flatnonzero((sizes > 1) & (sizes <= MAX_GROUP_MEMBERS))])
    shared = (small[starts] @ small.T).tocoo()
    pairs = np.column_stack([starts[shared.row], shared.col]).astype(np.int64)
    if len(pairs) <= MAX_CANDIDATE_PAIRS:
        return pairs
    best = np.argsort(-shared.data, kind="stable")[:MAX_CANDIDATE_PAIRS]
    return pairs[best]


def _nearest_in_dense(
    adjacency: sp.csr_array, by_root: NDArray[np.float64], starts: NDArray[np.int64], each: int
) -> Pairs:
    """What :func:`_nearest` finds, by products of dense matrices, with all neighbours."""
    root = by_root.astype(np.float32)
    full = adjacency.astype(np.float32).toarray()
    scaled = full * root  # columns divided by the root of their strength
    found = []
    for begin in range(0, starts.size, _ROWS):
        some = starts[begin : begin + _ROWS]
        itself = np.arange(some.size), some
        two = scaled[some] @ scaled
        two[itself] = 0.0
        score = two + two @ scaled
        score[itself] = 0.0
        if each < score.shape[1]:
            least = -np.partition(-score, each - 1, axis=1)[:, each - 1 : each]
            score[score < least] = 0.0
        kept = score > 0
        kept &= np.cumsum(kept, axis=1) <= each
        row, column = np.nonzero(kept)
        found.append(np.column_stack([some[row], column]).astype(np.int64))
    return np.concatenate(found)


@compiled
def _of_rank(values: NDArray[np.float64], count: int, rank: int) -> float:
    """The value of a rank among the first so many, which change places: numpy's takes seconds to compile."""
    low, high = 0, count - 1
    while low < high:
        middle = values[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while values[left] < middle:
                left += 1
            while values[right] > middle:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                left += 1
                right -= 1
        if rank <= right:
            high = right
        elif rank >= left:
            low = left
        else:
            break
    return float(values[rank])


@compiled
def _nearest(
    starts: NDArray[np.int64],
    others: NDArray[np.int64],
    weights: NDArray[np.float64],
    by_root: NDArray[np.float64],
    sources: NDArray[np.int64],
    each: int,
    most: int,
) -> Pairs:
    nodes = starts.size - 1
    score = np.zeros(nodes)
    two = np.zeros(nodes)
    positive = np.empty(nodes)
    found = np.empty((sources.size * each, 2), dtype=np.int64)
    count = 0
    for source in sources:
        score[:] = 0.0
        two[:] = 0.0
        for place in range(starts[source], min(starts[source + 1], starts[source] + most)):
            u = others[place]
            step = weights[place] * by_root[u]
            for inner in range(starts[u], min(starts[u + 1], starts[u] + most)):
                two[others[inner]] += step * weights[inner]
        for v in range(nodes):
            if two[v] == 0.0 or v == source:
                continue
            score[v] += two[v] * by_root[v]
            step = two[v] * by_root[v]
            for place in range(starts[v], min(starts[v + 1], starts[v] + most)):
                score[others[place]] += step * weights[place] * by_root[others[place]]
        score[source] = 0.0
        # the best few by a threshold, in the order of nodes
        reached = 0
        for v in range(nodes):
            if score[v] > 0:
                positive[reached] = score[v]
                reached += 1
        least = 0.0
        if reached > each:
            least = _of_rank(positive, reached, reached - each)
        kept = 0
        for v in range(nodes):
            if score[v] > 0 and score[v] >= least and kept < each:
                found[count, 0] = source
                found[count, 1] = v
                count += 1
                kept += 1
    return found[:count]
