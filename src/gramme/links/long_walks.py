"""Chances of walks of 4 to 7 steps between two nodes: who is near though no short path joins them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.links.pair_scores import Floats, Pairs

STEPS = (4, 5, 6, 7)
MAX_WALK_WORK = 30_000_000_000
"""Multiplications that walks from all nodes may take; beyond that they are shorter, or left out."""
MAX_DENSE_NODES = 3000
"""Nodes up to which powers of a well filled matrix are found whole."""
_NOTHING = 1e-9
_DENSE_SHARE = 0.05
"""Share of entries from which on products of dense matrices are faster."""
_COLUMNS = 128
"""Nodes whose walks are followed together."""
_WIDTH = 16
"""Columns are padded to a multiple of this, so that the processor adds up each of them in the same way."""


def affordable_steps(nodes: int, entries: int) -> int:
    """The longest walks that can be followed from every node of a graph with so many entries in its matrix; or 0.

    The answer must not depend on which pairs are asked about together: a pair has one score.
    """
    for longest in (STEPS[-1], STEPS[1]):
        if nodes * entries * (longest - 1) <= MAX_WALK_WORK:
            return longest
    return 0


class LongWalks:
    """The logs of ``(N^k)_ij`` for k of 4 to 7, with N the adjacency scaled by the square roots of the strengths.

    Columns of N are multiplied by N again and again, those of some nodes together, so no matrix of all pairs is kept;
    in a small graph with many edges the powers are found whole. Cost: a pass over the edges for each step and each
    node that is asked about.

    Parameters
    ----------
    adjacency : scipy CSR, shape (nodes, nodes)
        Symmetric.
    longest : int, default=7
        Steps of the longest walks that are followed; the scores of longer ones are 0.
    """

    def __init__(self, adjacency: sp.csr_array, longest: int = STEPS[-1]) -> None:
        strength = np.asarray(adjacency.sum(axis=1)).ravel()
        root = np.divide(1.0, np.sqrt(strength), out=np.zeros_like(strength), where=strength > 0)
        scale = sp.diags_array(root)
        self.step = sp.csr_array(scale @ adjacency @ scale).astype(np.float32)
        self.steps = [step for step in STEPS if step <= longest and self.step.nnz]
        self._powers: list[NDArray[np.float32]] | None = None

    def of(self, pairs: Pairs) -> Floats:
        """Shape (pairs, 4); what a pair gets does not depend on the others."""
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        logs = np.zeros((len(pairs), len(STEPS)))
        if len(pairs) and self.steps:
            nodes = self.step.shape[0]
            dense = nodes <= MAX_DENSE_NODES and self.step.nnz > _DENSE_SHARE * nodes**2
            found = self._whole(pairs) if dense else self._followed(pairs)
            logs[:, : len(self.steps)] = np.log(found + _NOTHING) - np.log(_NOTHING)
        return logs

    def _whole(self, pairs: Pairs) -> Floats:
        if self._powers is None:
            full = self.step.toarray()
            two = full @ full
            powers = {2: two, 3: two @ full}
            for step in self.steps:
                powers[step] = powers[step - 2] @ two
            self._powers = [powers[step] for step in self.steps]
        return np.stack([power[pairs[:, 0], pairs[:, 1]] for power in self._powers], axis=1)

    def _followed(self, pairs: Pairs) -> Floats:
        # from the end with more neighbours, which other pairs are likely to have as well
        degree = np.diff(self.step.indptr)
        turned = degree[pairs[:, 0]] > degree[pairs[:, 1]]
        from_, to = np.where(turned[:, None], pairs, pairs[:, ::-1]).T
        found = np.zeros((len(pairs), len(self.steps)))
        sources, place = np.unique(from_, return_inverse=True)
        order = np.argsort(place, kind="stable")
        bounds = np.searchsorted(place[order], np.arange(0, sources.size + _COLUMNS, _COLUMNS))
        for number, begin in enumerate(range(0, sources.size, _COLUMNS)):
            mine = order[bounds[number] : bounds[number + 1]]
            here = self._columns(sources[begin : begin + _COLUMNS])
            for step in range(2, self.steps[-1] + 1):
                here = self.step @ here
                if step in self.steps:
                    column = self.steps.index(step)
                    found[mine, column] = here[to[mine], place[mine] - begin]
        return found

    def _columns(self, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        """Columns of N, those of the last node repeated to a full width; N is symmetric."""
        padded = np.pad(nodes, (0, -nodes.size % _WIDTH), mode="edge")
        return np.ascontiguousarray(self.step[padded].toarray().T)
