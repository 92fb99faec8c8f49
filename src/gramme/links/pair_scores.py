"""Scores of a pair of nodes from the paths between them: common neighbours and paths of length 3.

For one graph, given as a symmetric matrix of weights, a pair gets

- ``adamic_adar``: sum over common neighbours u of 1 / log(1 + degree of u);
- ``resource_allocation``: sum over common neighbours u of 1 / degree of u;
- ``paths``: sum over paths i, u, v, j of w_iu w_uv w_vj / sqrt(strength of u times strength of v) (Kovács et al. 2019);
- ``paths_normalised``: the same over sqrt(strength of i times strength of j);
- ``attachment``: log of the product of both degrees, and ``smaller_degree``: log of the smaller one.

An edge between the two themselves never counts, so the scores of a pair are the same whether it is linked or not.
Cost: for each distinct first node the edges two steps around it, for each pair the edges of its second node; where that
is dearer than dense products (small graphs with very many edges), those are taken. Which of the two depends on the
graph alone: a pair has the same scores whichever other pairs are asked about with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.ops.compiled import compiled_sums

SCORES = (
    "adamic_adar",
    "resource_allocation",
    "paths",
    "paths_normalised",
    "attachment",
    "smaller_degree",
)
MAX_DENSE_NODES = 2000
"""Nodes up to which products of dense matrices are considered; they take some seconds then."""
_DENSE_SPEED = 8.0
"""How much faster a dense product adds than the sparse loop."""

Floats = NDArray[np.float64]
Pairs = NDArray[np.int64]


class PathScores:
    """Scores of pairs in one graph.

    Parameters
    ----------
    adjacency : scipy CSR, shape (nodes, nodes)
        Symmetric, without a diagonal.

    Examples
    --------
    >>> square = sp.csr_array(np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0.0]]))
    >>> PathScores(square).of(np.array([[0, 2]]))[0, :2].round(2).tolist()
    [1.82, 1.0]
    """

    def __init__(self, adjacency: sp.csr_array) -> None:
        adjacency = sp.csr_array(adjacency.astype(np.float64))
        adjacency.sort_indices()
        self.adjacency = adjacency
        self.degree = np.diff(adjacency.indptr).astype(np.float64)
        self.strength = np.asarray(adjacency.sum(axis=1)).ravel()
        with np.errstate(divide="ignore"):
            self.by_log = np.where(self.degree > 0, 1 / np.log1p(self.degree), 0.0)
            self.by_degree = np.where(self.degree > 0, 1 / self.degree, 0.0)
            self.by_root = np.where(self.strength > 0, 1 / np.sqrt(self.strength), 0.0)
        self._dense: list[NDArray[Any]] | None = None

    def of(self, pairs: Pairs) -> Floats:
        """The scores, shape (pairs, 6), in the order of ``SCORES``; pairs hold positions."""
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        found = np.zeros((len(pairs), len(SCORES)))
        if len(pairs) and self.adjacency.nnz:
            found[:, :3] = self._dense_paths(pairs) if self._is_dense else self._walk(pairs)
            self._without_own_edge(pairs, found)
            roots = self.by_root[pairs[:, 0]] * self.by_root[pairs[:, 1]]
            found[:, 3] = found[:, 2] * roots
        ends = self.degree[pairs]
        found[:, 4] = np.log1p(ends).sum(axis=1)
        found[:, 5] = np.log1p(np.minimum(ends[:, 0], ends[:, 1]))
        return found

    @property
    def _is_dense(self) -> bool:
        """Whether following the paths from all nodes costs more than dense products."""
        nodes = self.degree.size
        loops = float((self.degree**2).sum())
        return nodes <= MAX_DENSE_NODES and loops > 4 * nodes**3 / (_DENSE_SPEED * 10)

    def _dense_paths(self, pairs: Pairs) -> NDArray[np.float32]:
        if self._dense is None:
            full = self.adjacency.toarray()
            there = (full > 0).astype(np.float64)
            scaled = full * self.by_root
            self._dense = [
                (there * self.by_log @ there).astype(np.float32),
                (there * self.by_degree @ there).astype(np.float32),
                ((scaled @ scaled) @ full).astype(np.float32),
            ]
        return np.stack([one[pairs[:, 0], pairs[:, 1]] for one in self._dense], axis=1)

    def _walk(self, pairs: Pairs) -> NDArray[np.float32]:
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        ordered = pairs[order]
        found = np.empty((len(pairs), 3), dtype=np.float32)
        found[order] = _paths(
            self.adjacency.indptr.astype(np.int64),
            self.adjacency.indices.astype(np.int64),
            self.adjacency.data,
            self.by_log,
            self.by_degree,
            self.by_root,
            np.ascontiguousarray(ordered),
        )
        return found

    def _without_own_edge(self, pairs: Pairs, found: Floats) -> None:
        """Take off the paths of length 3 that run through the edge of the pair itself."""
        first, second = pairs[:, 0], pairs[:, 1]
        own = entries(self.adjacency, pairs)
        linked = np.flatnonzero(own)
        if not linked.size:
            return
        squared = self.adjacency.copy()
        squared.data = squared.data**2
        back = np.asarray(squared @ self.by_root)
        first, second, own = first[linked], second[linked], own[linked]
        through_second = own * self.by_root[second] * back[second]
        through_first = own * self.by_root[first] * back[first]
        both = own**3 * self.by_root[first] * self.by_root[second]
        less = found[linked, 2] - (through_second + through_first - both)
        found[linked, 2] = np.where(less > 1e-6 * found[linked, 2], less, 0.0)


def entries(matrix: sp.csr_array, pairs: Pairs) -> Floats:
    """The entries of a matrix at the pairs."""
    if not len(pairs):
        return np.zeros(0)
    found: Any = matrix[pairs[:, 0], pairs[:, 1]]
    dense = found.toarray() if hasattr(found, "toarray") else found
    return np.asarray(dense, dtype=np.float64).ravel()


@compiled_sums
def _paths(
    starts: NDArray[np.int64],
    others: NDArray[np.int64],
    weights: Floats,
    by_log: Floats,
    by_degree: Floats,
    by_root: Floats,
    pairs: Pairs,
) -> Floats:
    nodes = starts.size - 1
    found = np.zeros((pairs.shape[0], 3))
    two = np.zeros(nodes)
    near = np.zeros(nodes, dtype=np.bool_)
    touched = np.empty(nodes, dtype=np.int64)
    marked = np.zeros(nodes, dtype=np.bool_)
    count = 0
    begin = 0
    while begin < pairs.shape[0]:
        source = pairs[begin, 0]
        steps = 0
        for place in range(starts[source], starts[source + 1]):
            steps += starts[others[place] + 1] - starts[others[place]]
        clears_all = steps > nodes  # cheaper then than to note which nodes were reached
        for place in range(starts[source], starts[source + 1]):
            u = others[place]
            near[u] = True
            step = weights[place] * by_root[u]
            if clears_all:
                for inner in range(starts[u], starts[u + 1]):
                    two[others[inner]] += step * weights[inner]
                continue
            for inner in range(starts[u], starts[u + 1]):
                v = others[inner]
                if not marked[v]:
                    marked[v] = True
                    touched[count] = v
                    count += 1
                two[v] += step * weights[inner]
        end = begin
        while end < pairs.shape[0] and pairs[end, 0] == source:
            target = pairs[end, 1]
            for place in range(starts[target], starts[target + 1]):
                v = others[place]
                found[end, 2] += two[v] * by_root[v] * weights[place]
                if near[v]:
                    found[end, 0] += by_log[v]
                    found[end, 1] += by_degree[v]
            end += 1
        for place in range(starts[source], starts[source + 1]):
            near[others[place]] = False
        if clears_all:
            two[:] = 0.0
        for place in range(count):
            two[touched[place]] = 0.0
            marked[touched[place]] = False
        count = 0
        begin = end
    return found
