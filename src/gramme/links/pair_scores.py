"""Scores of a pair of nodes from the paths between them: common neighbours and paths of length 3.

For one graph, given as a symmetric matrix of weights, a pair gets

- ``adamic_adar``: sum over common neighbours u of 1 / log(1 + degree of u);
- ``resource_allocation``: sum over common neighbours u of 1 / degree of u;
- ``paths``: sum over paths i, u, v, j of w_iu w_uv w_vj / sqrt(strength of u times strength of v) (Kovács et al. 2019);
- ``paths_normalised``: the same over sqrt(strength of i times strength of j);
- ``attachment``: log of the product of both degrees, and ``smaller_degree``: log of the smaller one.

An edge between the two themselves never counts, so the scores of a pair are the same whether it is linked or not.
Cost: for each distinct first node the edges two steps around it, for each pair the edges of its second node. A pair has
the same scores whichever other pairs are asked about with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme._types import Floats, Ints
from gramme.graph import MultilayerGraph
from gramme.methods.linear.walk_profile import WalkProfile
from gramme.ops.kernels import compiled_sums

SCORES = ("adamic_adar", "resource_allocation", "paths", "paths_normalised", "attachment", "smaller_degree")

Pairs = Ints


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

    def of(self, pairs: Pairs) -> Floats:
        """The scores, shape (pairs, 6), in the order of ``SCORES``; pairs hold positions."""
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        found = np.zeros((len(pairs), len(SCORES)))
        if len(pairs) and self.adjacency.nnz:
            found[:, :3] = self._paths(pairs)
            self._without_own_edge(pairs, found)
            roots = self.by_root[pairs[:, 0]] * self.by_root[pairs[:, 1]]
            found[:, 3] = found[:, 2] * roots
        ends = self.degree[pairs]
        found[:, 4] = np.log1p(ends).sum(axis=1)
        found[:, 5] = np.log1p(np.minimum(ends[:, 0], ends[:, 1]))
        return found

    def _paths(self, pairs: Pairs) -> NDArray[np.float32]:
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        index = self.adjacency.indptr.astype(np.int64), self.adjacency.indices.astype(np.int64)
        found = np.empty((len(pairs), 3), dtype=np.float32)
        scales = self.by_log, self.by_degree, self.by_root
        found[order] = _paths(*index, self.adjacency.data, *scales, np.ascontiguousarray(pairs[order]))
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


def row_products(rows: Any, pairs: Pairs, others: Any = None) -> Floats:
    """The inner product of the row of a pair's first end with that of its second, in blocks that fit the memory."""
    found = np.zeros(len(pairs))
    others = rows if others is None else others
    for begin in range(0, len(pairs) if rows.shape[1] else 0, 200_000):
        part = pairs[begin : begin + 200_000]
        one, other = rows[part[:, 0]], others[part[:, 1]]
        product = one * other if isinstance(one, np.ndarray) else one.multiply(other)
        found[begin : begin + 200_000] = np.asarray(product.sum(axis=1)).ravel()
    return found


@compiled_sums
def _paths(
    starts: Ints, others: Ints, weights: Floats, by_log: Floats, by_degree: Floats, by_root: Floats, pairs: Pairs
) -> Floats:
    """Scores of pairs in the order of their sources."""
    nodes = starts.size - 1
    found = np.zeros((pairs.shape[0], 3))
    two = np.zeros(nodes)
    near, marked = np.zeros(nodes, dtype=np.bool_), np.zeros(nodes, dtype=np.bool_)
    touched = np.empty(nodes, dtype=np.int64)
    begin = 0
    while begin < pairs.shape[0]:
        source, count = pairs[begin, 0], 0
        for place in range(starts[source], starts[source + 1]):
            u = others[place]
            near[u] = True
            step = weights[place] * by_root[u]
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
        begin = end
        for place in range(starts[source], starts[source + 1]):
            near[others[place]] = False
        for place in range(count):
            two[touched[place]] = 0.0
            marked[touched[place]] = False
    return found


STEPS = (4, 5, 6, 7)
MAX_WALK_WORK = 30_000_000_000
"""Multiplications that walks from all nodes may take; beyond that they are shorter, or left out."""
_COLUMNS = 128
"""Nodes whose walks are followed together."""


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

    Who is near though no short path joins them. Columns of N are multiplied by N again and again, those of some nodes
    together, so no matrix of all pairs is kept. Cost: a pass over the edges for each step and each node that is asked
    about. The scores of walks of more than ``longest`` steps are 0.
    """

    def __init__(self, adjacency: sp.csr_array, longest: int = STEPS[-1]) -> None:
        strength = np.asarray(adjacency.sum(axis=1)).ravel()
        root = np.divide(1.0, np.sqrt(strength), out=np.zeros_like(strength), where=strength > 0)
        scale = sp.diags_array(root)
        self.step = sp.csr_array(scale @ adjacency @ scale).astype(np.float32)
        self.steps = [step for step in STEPS if step <= longest and self.step.nnz]

    def of(self, pairs: Pairs) -> Floats:
        """Shape (pairs, 4); what a pair gets does not depend on the others."""
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        logs = np.zeros((len(pairs), len(STEPS)))
        if len(pairs) and self.steps:
            nothing = 1e-9
            logs[:, : len(self.steps)] = np.log(self._followed(pairs) + nothing) - np.log(nothing)
        return logs

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

    def _columns(self, nodes: Ints) -> NDArray[np.float32]:
        """Columns of N, which is symmetric, those of the last node repeated.

        To a multiple of 16, so that the processor adds up each of them in the same way.
        """
        padded = np.pad(nodes, (0, -nodes.size % 16), mode="edge")
        return np.ascontiguousarray(self.step[padded].toarray().T)


PROFILE_DIMENSIONS = 64
NEAR, FAR = 2, 8
"""Steps of the walks that are compared."""
MAX_WALK_NODES = 200_000
"""Nodes up to which walks are compared at all: finding their profile takes hundreds of passes over the edges."""


@dataclass(frozen=True)
class WalkCloseness:
    """How alike the places are that walks over all layers lead to: rows of length 1 for short and for long walks.

    None if the graph is too large.
    """

    near: NDArray[np.float32] | None
    far: NDArray[np.float32] | None

    @classmethod
    def of(cls, graph: MultilayerGraph) -> WalkCloseness:
        """From all layers of a graph."""
        if graph.num_nodes > MAX_WALK_NODES or graph.num_nodes < 3 or not graph.num_edges:
            return cls(None, None)
        profile = WalkProfile.of(graph, min(PROFILE_DIMENSIONS, graph.num_nodes - 1))
        return cls(*(_rows(profile, steps) for steps in (NEAR, FAR)))

    def of_pairs(self, pairs: Pairs) -> Floats:
        """The cosine for short and for long walks, shape (pairs, 2)."""
        columns = [
            np.zeros(len(pairs)) if rows is None else row_products(rows, pairs) for rows in (self.near, self.far)
        ]
        return np.column_stack(columns)


def _rows(profile: WalkProfile, steps: int) -> NDArray[np.float32]:
    scaled = profile.vectors * (profile.values**steps).astype(np.float32)
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    return (scaled / np.where(length > 1e-12, length, 1.0)).astype(np.float32)
