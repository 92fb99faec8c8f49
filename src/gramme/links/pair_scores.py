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
        score_columns = np.zeros((len(pairs), len(SCORES)))
        if len(pairs) and self.adjacency.nnz:
            score_columns[:, :3] = self._paths(pairs)
            self._without_own_edge(pairs, score_columns)
            root_product = self.by_root[pairs[:, 0]] * self.by_root[pairs[:, 1]]
            score_columns[:, 3] = score_columns[:, 2] * root_product
        end_degrees = self.degree[pairs]
        score_columns[:, 4] = np.log1p(end_degrees).sum(axis=1)
        score_columns[:, 5] = np.log1p(np.minimum(end_degrees[:, 0], end_degrees[:, 1]))
        return score_columns

    def _paths(self, pairs: Pairs) -> NDArray[np.float32]:
        source_order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        csr_index = self.adjacency.indptr.astype(np.int64), self.adjacency.indices.astype(np.int64)
        path_scores = np.empty((len(pairs), 3), dtype=np.float32)
        node_scales = self.by_log, self.by_degree, self.by_root
        path_scores[source_order] = _paths(
            *csr_index, self.adjacency.data, *node_scales, np.ascontiguousarray(pairs[source_order])
        )
        return path_scores

    def _without_own_edge(self, pairs: Pairs, found: Floats) -> None:
        """Take off the paths of length 3 that run through the edge of the pair itself."""
        first_nodes, second_nodes = pairs[:, 0], pairs[:, 1]
        own_weight = entries(self.adjacency, pairs)
        linked_index = np.flatnonzero(own_weight)
        if not linked_index.size:
            return
        squared_weights = self.adjacency.copy()
        squared_weights.data = squared_weights.data**2
        return_weight = np.asarray(squared_weights @ self.by_root)
        first_nodes, second_nodes, own_weight = (
            first_nodes[linked_index],
            second_nodes[linked_index],
            own_weight[linked_index],
        )
        through_second = own_weight * self.by_root[second_nodes] * return_weight[second_nodes]
        through_first = own_weight * self.by_root[first_nodes] * return_weight[first_nodes]
        both_ways = own_weight**3 * self.by_root[first_nodes] * self.by_root[second_nodes]
        remaining_paths = found[linked_index, 2] - (through_second + through_first - both_ways)
        found[linked_index, 2] = np.where(remaining_paths > 1e-6 * found[linked_index, 2], remaining_paths, 0.0)


def entries(matrix: sp.csr_array, pairs: Pairs) -> Floats:
    """The entries of a matrix at the pairs."""
    if not len(pairs):
        return np.zeros(0)
    pair_entries: Any = matrix[pairs[:, 0], pairs[:, 1]]
    dense_entries = pair_entries.toarray() if hasattr(pair_entries, "toarray") else pair_entries
    return np.asarray(dense_entries, dtype=np.float64).ravel()


def row_products(rows: Any, pairs: Pairs, others: Any = None) -> Floats:
    """The inner product of the row of a pair's first end with that of its second, in blocks that fit the memory."""
    pair_products = np.zeros(len(pairs))
    others = rows if others is None else others
    for block_start in range(0, len(pairs) if rows.shape[1] else 0, 200_000):
        block_pairs = pairs[block_start : block_start + 200_000]
        first_rows, second_rows = rows[block_pairs[:, 0]], others[block_pairs[:, 1]]
        products = first_rows * second_rows if isinstance(first_rows, np.ndarray) else first_rows.multiply(second_rows)
        pair_products[block_start : block_start + 200_000] = np.asarray(products.sum(axis=1)).ravel()
    return pair_products


@compiled_sums
def _paths(
    starts: Ints, others: Ints, weights: Floats, by_log: Floats, by_degree: Floats, by_root: Floats, pairs: Pairs
) -> Floats:
    """Scores of pairs in the order of their sources."""
    num_nodes = starts.size - 1
    path_scores = np.zeros((pairs.shape[0], 3))
    two_steps = np.zeros(num_nodes)
    is_neighbour, is_touched = np.zeros(num_nodes, dtype=np.bool_), np.zeros(num_nodes, dtype=np.bool_)
    touched_nodes = np.empty(num_nodes, dtype=np.int64)
    first_pair = 0
    while first_pair < pairs.shape[0]:
        source_node, num_touched = pairs[first_pair, 0], 0
        for entry_index in range(starts[source_node], starts[source_node + 1]):
            u = others[entry_index]
            is_neighbour[u] = True
            step_weight = weights[entry_index] * by_root[u]
            for inner_index in range(starts[u], starts[u + 1]):
                v = others[inner_index]
                if not is_touched[v]:
                    is_touched[v] = True
                    touched_nodes[num_touched] = v
                    num_touched += 1
                two_steps[v] += step_weight * weights[inner_index]
        pair_index = first_pair
        while pair_index < pairs.shape[0] and pairs[pair_index, 0] == source_node:
            target_node = pairs[pair_index, 1]
            for entry_index in range(starts[target_node], starts[target_node + 1]):
                v = others[entry_index]
                path_scores[pair_index, 2] += two_steps[v] * by_root[v] * weights[entry_index]
                if is_neighbour[v]:
                    path_scores[pair_index, 0] += by_log[v]
                    path_scores[pair_index, 1] += by_degree[v]
            pair_index += 1
        first_pair = pair_index
        for entry_index in range(starts[source_node], starts[source_node + 1]):
            is_neighbour[others[entry_index]] = False
        for entry_index in range(num_touched):
            two_steps[touched_nodes[entry_index]] = 0.0
            is_touched[touched_nodes[entry_index]] = False
    return path_scores


STEPS = (4, 5, 6, 7)
MAX_WALK_WORK = 20_000_000_000
"""Multiplications that walks from all nodes may take; beyond that they are shorter, or left out."""
_COLUMNS = 128
"""Nodes whose walks are followed together."""


def affordable_steps(nodes: int, entries: int) -> int:
    """The longest walks that can be followed from every node of a graph with so many entries in its matrix; or 0.

    The answer must not depend on which pairs are asked about together: a pair has one score.
    """
    for longest_walk in (STEPS[-1], STEPS[1]):
        if nodes * entries * (longest_walk - 1) <= MAX_WALK_WORK:
            return longest_walk
    return 0


class LongWalks:
    """The logs of ``(N^k)_ij`` for k of 4 to 7, with N the adjacency scaled by the square roots of the strengths.

    Who is near though no short path joins them. Columns of N are multiplied by N again and again, those of some nodes
    together, so no matrix of all pairs is kept. Cost: a pass over the edges for each step and each node that is asked
    about. The scores of walks of more than ``longest`` steps are 0.
    """

    def __init__(self, adjacency: sp.csr_array, longest: int = STEPS[-1]) -> None:
        strength = np.asarray(adjacency.sum(axis=1)).ravel()
        inverse_root = np.divide(1.0, np.sqrt(strength), out=np.zeros_like(strength), where=strength > 0)
        root_matrix = sp.diags_array(inverse_root)
        self.step = sp.csr_array(root_matrix @ adjacency @ root_matrix).astype(np.float32)
        self.steps = [step for step in STEPS if step <= longest and self.step.nnz]

    def of(self, pairs: Pairs) -> Floats:
        """Shape (pairs, 4); what a pair gets does not depend on the others."""
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        log_walks = np.zeros((len(pairs), len(STEPS)))
        if len(pairs) and self.steps:
            least_share = 1e-9
            log_walks[:, : len(self.steps)] = np.log(self._followed(pairs) + least_share) - np.log(least_share)
        return log_walks

    def _followed(self, pairs: Pairs) -> Floats:
        # from the end with more neighbours, which other pairs are likely to have as well
        degree = np.diff(self.step.indptr)
        is_turned = degree[pairs[:, 0]] > degree[pairs[:, 1]]
        from_nodes, to_nodes = np.where(is_turned[:, None], pairs, pairs[:, ::-1]).T
        walk_shares = np.zeros((len(pairs), len(self.steps)))
        source_nodes, source_index = np.unique(from_nodes, return_inverse=True)
        source_order = np.argsort(source_index, kind="stable")
        block_bounds = np.searchsorted(source_index[source_order], np.arange(0, source_nodes.size + _COLUMNS, _COLUMNS))
        for block_number, block_start in enumerate(range(0, source_nodes.size, _COLUMNS)):
            block_pairs = source_order[block_bounds[block_number] : block_bounds[block_number + 1]]
            walk_columns = self._columns(source_nodes[block_start : block_start + _COLUMNS])
            for num_steps in range(2, self.steps[-1] + 1):
                walk_columns = self.step @ walk_columns
                if num_steps in self.steps:
                    step_column = self.steps.index(num_steps)
                    walk_shares[block_pairs, step_column] = walk_columns[
                        to_nodes[block_pairs], source_index[block_pairs] - block_start
                    ]
        return walk_shares

    def _columns(self, nodes: Ints) -> NDArray[np.float32]:
        """Columns of N, which is symmetric, those of the last node repeated.

        To a multiple of 16, so that the processor adds up each of them in the same way.
        """
        padded_nodes = np.pad(nodes, (0, -nodes.size % 16), mode="edge")
        return np.ascontiguousarray(self.step[padded_nodes].toarray().T)


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
        walk_profile = WalkProfile.of(graph, min(PROFILE_DIMENSIONS, graph.num_nodes - 1))
        return cls(*(_rows(walk_profile, num_steps) for num_steps in (NEAR, FAR)))

    def of_pairs(self, pairs: Pairs) -> Floats:
        """The cosine for short and for long walks, shape (pairs, 2)."""
        cosine_columns = [
            np.zeros(len(pairs)) if unit_rows is None else row_products(unit_rows, pairs)
            for unit_rows in (self.near, self.far)
        ]
        return np.column_stack(cosine_columns)


def _rows(profile: WalkProfile, steps: int) -> NDArray[np.float32]:
    scaled_rows = profile.vectors * (profile.values**steps).astype(np.float32)
    row_length = np.linalg.norm(scaled_rows, axis=1, keepdims=True)
    return (scaled_rows / np.where(row_length > 1e-12, row_length, 1.0)).astype(np.float32)
