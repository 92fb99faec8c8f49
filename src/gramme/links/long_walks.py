"""Chances of walks of 4 and 5 steps between two nodes, over all layers: who is near though no short path joins them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.links.pair_scores import Floats, Pairs
from gramme.ops.compiled import compiled_sums

STEPS = (4, 5)
MAX_WALK_WORK = 30_000_000_000
"""Edges that all walks together may take; beyond that the closeness of walk profiles has to do."""
MAX_DENSE_NODES = 3000
_NOTHING = 1e-9


class LongWalks:
    """The log of ``(N^4)_ij`` and ``(N^5)_ij``, with N the adjacency scaled by the square roots of the strengths.

    Parameters
    ----------
    adjacency : scipy CSR, shape (nodes, nodes)
        Symmetric.
    """

    def __init__(self, adjacency: sp.csr_array) -> None:
        strength = np.asarray(adjacency.sum(axis=1)).ravel()
        root = np.divide(1.0, np.sqrt(strength), out=np.zeros_like(strength), where=strength > 0)
        scale = sp.diags_array(root)
        self.step = sp.csr_array(scale @ adjacency @ scale)
        self._powers: list[NDArray[np.float32]] | None = None

    def of(self, pairs: Pairs) -> Floats:
        """Shape (pairs, 2); zeros where the walks would take too long."""
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        nodes = self.step.shape[0]
        if not len(pairs) or not self.step.nnz:
            return np.zeros((len(pairs), len(STEPS)))
        if nodes <= MAX_DENSE_NODES:
            return self._dense(pairs)
        firsts = np.unique(pairs[:, 0]).size
        if firsts * self.step.nnz * 3 > MAX_WALK_WORK:
            return np.zeros((len(pairs), len(STEPS)))
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        found = np.empty((len(pairs), len(STEPS)))
        found[order] = _walked(
            self.step.indptr.astype(np.int64),
            self.step.indices.astype(np.int64),
            self.step.data.astype(np.float32),
            np.ascontiguousarray(pairs[order]),
        )
        return _log(found)

    def _dense(self, pairs: Pairs) -> Floats:
        if self._powers is None:
            one = self.step.toarray().astype(np.float32)
            two = one @ one
            four = two @ two
            self._powers = [four, four @ one]
        return _log(np.stack([one[pairs[:, 0], pairs[:, 1]] for one in self._powers], axis=1))


def _log(values: NDArray[np.floating]) -> Floats:
    found: Floats = np.log(np.maximum(values, 0.0).astype(np.float64) + _NOTHING) - np.log(_NOTHING)
    return found


@compiled_sums
def _walked(
    starts: NDArray[np.int64],
    others: NDArray[np.int64],
    weights: NDArray[np.float32],
    pairs: Pairs,
) -> Floats:
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
