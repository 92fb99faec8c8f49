"""Chances of walks of 4 and 5 steps between two nodes, over all layers: who is near though no short path joins them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.links.pair_scores import Floats, Pairs
from gramme.ops.compiled import compiled, compiled_sums

STEPS = (4, 5)
MAX_WALK_WORK = 30_000_000_000
"""Edges that walks from all nodes may take; beyond that the closeness of walk profiles has to do."""
MAX_HALVED_NODES = 12_000
"""Nodes up to which walks are put together of two halves, which takes a dense matrix of that size."""
_NOTHING = 1e-9
_DENSE_SHARE = 0.05
"""Share of entries from which on the square is a product of dense matrices."""


def walks_are_affordable(nodes: int, entries: int) -> bool:
    """Whether walks from every node of a graph with so many entries in its matrix can be followed.

    The answer must not depend on which pairs are asked about together: a pair has one score.
    """
    passes = 2 if nodes <= MAX_HALVED_NODES else 3
    return nodes * entries * passes <= MAX_WALK_WORK


class LongWalks:
    """The log of ``(N^4)_ij`` and ``(N^5)_ij``, with N the adjacency scaled by the square roots of the strengths.

    A walk of 4 steps is two of 2 that meet, one of 5 a walk of 2 and one of 3. So ``N^2`` is kept for graphs that it
    fits the memory for, and the rows of ``N^3`` are found for one node after the other; in larger graphs walks are
    followed from each first node.

    Parameters
    ----------
    adjacency : scipy CSR, shape (nodes, nodes)
        Symmetric.
    follow : bool, default=True
        Without it, all scores are 0.
    """

    def __init__(self, adjacency: sp.csr_array, follow: bool = True) -> None:
        strength = np.asarray(adjacency.sum(axis=1)).ravel()
        root = np.divide(1.0, np.sqrt(strength), out=np.zeros_like(strength), where=strength > 0)
        scale = sp.diags_array(root)
        self.step = sp.csr_array(scale @ adjacency @ scale).astype(np.float32)
        self.follow = follow and bool(self.step.nnz)
        self._two: NDArray[np.float32] | None = None

    def of(self, pairs: Pairs) -> Floats:
        """Shape (pairs, 2); what a pair gets does not depend on the others."""
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        if not len(pairs) or not self.follow:
            return np.zeros((len(pairs), len(STEPS)))
        halved = self.step.shape[0] <= MAX_HALVED_NODES
        order = np.lexsort((pairs[:, 0], pairs[:, 1]) if halved else (pairs[:, 1], pairs[:, 0]))
        ordered = np.ascontiguousarray(pairs[order])
        parts = (
            self.step.indptr.astype(np.int64),
            self.step.indices.astype(np.int64),
            self.step.data,
        )
        found = np.empty((len(pairs), len(STEPS)))
        found[order] = _met(*parts, self._halves(), ordered) if halved else _walked(*parts, ordered)
        logs: Floats = np.log(np.maximum(found, 0.0) + _NOTHING) - np.log(_NOTHING)
        return logs

    def _halves(self) -> NDArray[np.float32]:
        if self._two is None:
            full = self.step.toarray()
            dense = self.step.nnz > _DENSE_SHARE * full.size
            self._two = np.ascontiguousarray((full if dense else self.step) @ full)
        return self._two


@compiled_sums
def _met(
    starts: NDArray[np.int64],
    others: NDArray[np.int64],
    weights: NDArray[np.float32],
    two: NDArray[np.float32],
    pairs: Pairs,
) -> Floats:
    """Walks that meet after 2 steps from the first node of a pair; pairs are in the order of their second nodes."""
    nodes = starts.size - 1
    found = np.zeros((pairs.shape[0], 2))
    three = np.zeros(nodes, dtype=np.float32)
    begin = 0
    while begin < pairs.shape[0]:
        target = pairs[begin, 1]
        three[:] = 0.0
        for place in range(starts[target], starts[target + 1]):
            weight, row = weights[place], two[others[place]]
            for node in range(nodes):
                three[node] += weight * row[node]
        back = two[target]
        while begin < pairs.shape[0] and pairs[begin, 1] == target:
            out = two[pairs[begin, 0]]
            four, five = np.float32(0.0), np.float32(0.0)
            for node in range(nodes):
                four += out[node] * back[node]
                five += out[node] * three[node]
            found[begin, 0], found[begin, 1] = four, five
            begin += 1
    return found


@compiled
def _walked(
    starts: NDArray[np.int64],
    others: NDArray[np.int64],
    weights: NDArray[np.float32],
    pairs: Pairs,
) -> Floats:
    """Walks from the first node of a pair on; pairs are in the order of their first nodes."""
    nodes = starts.size - 1
    found = np.zeros((pairs.shape[0], 2))
    here = np.zeros(nodes, dtype=np.float32)
    there = np.zeros(nodes, dtype=np.float32)
    begin = 0
    while begin < pairs.shape[0]:
        source = pairs[begin, 0]
        here[:] = 0.0
        here[source] = 1.0
        end = begin
        while end < pairs.shape[0] and pairs[end, 0] == source:
            end += 1
        for step in range(1, 6):
            there[:] = 0.0
            for node in range(nodes):
                value = here[node]
                if value != 0.0:
                    for place in range(starts[node], starts[node + 1]):
                        there[others[place]] += value * weights[place]
            here, there = there, here
            if step >= 4:
                for place in range(begin, end):
                    found[place, step - 4] = here[pairs[place, 1]]
        begin = end
    return found
