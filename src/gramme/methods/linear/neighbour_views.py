"""Ways to look from a node at the labels around it: a layer, and of a layer with a direction each of its two ways.

A view sums what the neighbours of a node hold, without the node's own: for edges one sparse product, for groups
B (B' V) - own V with the incidence B, so that the edges which groups imply are never built.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.graph import EdgeLayer, Layer, MultilayerGraph

JOINED, ALONG, AGAINST = "", "along", "against"
"""A layer whichever way its edges point; the nodes that a node's edges point to; the nodes whose edges point to it."""
DIRECTIONS = (JOINED, ALONG, AGAINST)
SPREAD_WEIGHT = 0.9  # of what neighbours say in a step of spreading; chosen on WordNet and Debian, with 15 steps
SPREAD_STEPS = 15

Singles = NDArray[np.float32]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class NeighbourView:
    """Whom nodes see in a layer."""

    layer: str
    direction: str  # which way the layer is looked at
    rows: Ints  # the nodes that have neighbours here, in order
    matrix: sp.csr_array  # weights of neighbours or groups in units of their mean, a row for each of ``rows``
    members: sp.csr_array | None  # who is in which group, (groups, nodes)
    groups: Ints | None = None  # the numbers of the groups in the layer

    @classmethod
    def of_edges(cls, layer: str, direction: str, matrix: sp.csr_array) -> NeighbourView:
        """A view of edges, from the weights (nodes, nodes)."""
        joined_nodes = np.flatnonzero(np.diff(matrix.indptr))
        return cls(layer, direction, joined_nodes, sp.csr_array(matrix[joined_nodes]), None)

    @classmethod
    def of_groups(cls, layer: str, incidence: sp.csr_array) -> NeighbourView:
        """A view of groups; those with one member join nobody."""
        sizes = np.bincount(incidence.indices, minlength=incidence.shape[1])
        groups = np.flatnonzero(sizes > 1)
        kept = sp.csr_array(incidence[:, groups])
        rows = np.flatnonzero(np.diff(kept.indptr))
        return cls(layer, JOINED, rows, sp.csr_array(kept[rows]), sp.csr_array(kept.T), groups)

    @cached_property
    def position(self) -> Ints:
        """Where each node stands among the rows; -1 where it has no neighbours."""
        row_positions = np.full(self.num_nodes, -1, dtype=np.int64)
        row_positions[self.rows] = np.arange(self.rows.size)
        return row_positions

    @property
    def num_nodes(self) -> int:
        """Nodes of the graph."""
        return int((self.matrix if self.members is None else self.members).shape[1])

    @cached_property
    def own_weight(self) -> Singles:
        """With how much each row meets itself in its groups."""
        square_sums = np.asarray(self.matrix.multiply(self.matrix).sum(axis=1), dtype=np.float32)
        return square_sums.reshape(-1, 1)

    @cached_property
    def degree(self) -> Singles:
        """The weight of all neighbours of each row."""
        return self.sums(np.ones((self.num_nodes, 1), dtype=np.float32))

    def sums(self, values: Singles, places: Ints | None = None) -> Singles:
        """The sums over the neighbours of the rows, or of those at some places among them, without their own."""
        matrix = self.matrix if places is None else self.matrix[places]
        if self.members is None:
            return np.asarray(matrix @ values)
        rows, own = (self.rows, self.own_weight) if places is None else (self.rows[places], self.own_weight[places])
        found: Singles = np.asarray(matrix @ (self.members @ values)) - own * values[rows]
        # what is left of a difference by rounding is nobody's label
        return np.maximum(found, 0, out=found)

    def rarity(self, columns: Ints) -> NDArray[np.float64]:
        """The logarithm of how rare some neighbours or groups are, from 0 on."""
        column_counts = np.bincount(self.matrix.indices, minlength=self.matrix.shape[1])[columns]
        return np.log((self.num_nodes + 1) / np.maximum(column_counts, 1))

    def spread(self, values: Singles) -> Singles:
        """What reaches the rows through this view alone over many steps: sum over k of (0.9 P)^k V.

        P takes the mean over a node and its neighbours, as in label propagation. Shape (rows, columns).
        """
        node_values = np.zeros((self.num_nodes, values.shape[1]), dtype=np.float32)
        node_values[self.rows] = values[self.rows]
        neighbour_share = SPREAD_WEIGHT / (1 + self.degree)
        reached_sums = np.zeros((self.rows.size, values.shape[1]), dtype=np.float32)
        for _ in range(SPREAD_STEPS):
            neighbour_means = (self.sums(node_values) + node_values[self.rows]) * neighbour_share
            reached_sums += neighbour_means
            node_values[self.rows] = neighbour_means
        return reached_sums


def layer_views(name: str, layer: Layer, split: bool | None = None) -> tuple[NeighbourView, list[NeighbourView]]:
    """A layer whichever way its edges point, and its ways one by one.

    These are the same where there is but one way; ``split`` says so if it is not to be found out.
    """
    incidence = layer.incidence()
    if incidence is not None:
        group_view = NeighbourView.of_groups(name, _in_mean_units(incidence))
        return group_view, [group_view]
    along = _in_mean_units(_stated_ways(layer))
    against = sp.csr_array(along.T)
    joined_view = NeighbourView.of_edges(name, JOINED, sp.csr_array(along.maximum(against)))
    if split is None:
        differing_entries: Any = along != against
        split = bool(differing_entries.nnz)
    if not split:
        return joined_view, [joined_view]
    way_matrices = ((ALONG, along), (AGAINST, against))
    return joined_view, [NeighbourView.of_edges(name, way_name, matrix) for way_name, matrix in way_matrices]


def graph_views(
    graph: MultilayerGraph, split: Collection[str] | None = None
) -> tuple[list[NeighbourView], list[NeighbourView]]:
    """The views of all layers, a view per layer and a view per layer and direction.

    ``split`` names the layers that have two directions, where that is not to be found out from their edges.
    """
    found = [layer_views(name, layer, None if split is None else name in split) for name, layer in graph.layers.items()]
    return [joined for joined, _ in found], [view for _, ways in found for view in ways]


def _stated_ways(layer: Layer) -> sp.csr_array:
    """The edges the way they were stated; both ways where nobody knows."""
    return layer.stated_ways() if isinstance(layer, EdgeLayer) else layer.to_scipy()


def _in_mean_units(matrix: sp.csr_array) -> sp.csr_array:
    scaled_matrix: Any = matrix.astype(np.float64)
    mean_weight = float(scaled_matrix.data.mean()) if scaled_matrix.nnz else 1.0
    return sp.csr_array(scaled_matrix / mean_weight).astype(np.float32)
