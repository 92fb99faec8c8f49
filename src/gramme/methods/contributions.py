"""What each neighbour, or each group, contributes to a node's sum over its neighbourhood in a layer.

Most methods rest on the neighbourhood sum V_i + sum over j of c_ij V_j. What it says about two classes is a product
with a direction u_i, and a product with a sum is a sum of products: neighbour j gives c_ij <V_j, u_i>. In a layer of
groups the neighbours are too many to list; a group gives what its other members say together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme._types import Floats
from gramme.graph import Layer, MultilayerGraph


# How much a method relies on each layer: the rules that all methods share, however they measure it.
def shares_of_joined(shares: NDArray[np.floating[Any]], graph: MultilayerGraph) -> NDArray[np.float64]:
    """Shares of the layers, (..., layers), with 0 for layers that join no nodes and the others summing to 1.

    A model may have fitted something to such a layer, but it cannot tell nodes apart by it. If no layer joins any
    nodes, all shares are 0.
    """
    joins_nodes = np.array([layer.num_edges > 0 for layer in graph.layers.values()], dtype=bool)
    joined_shares = np.where(joins_nodes, shares, 0.0)
    share_sums = joined_shares.sum(axis=-1, keepdims=True)
    even_shares = joins_nodes / max(int(joins_nodes.sum()), 1)
    scaled_shares: NDArray[np.float64] = np.where(
        share_sums > 0, joined_shares / np.where(share_sums > 0, share_sums, 1.0), even_shares
    )
    return scaled_shares


NEIGHBOURS, GROUPS = "neighbours", "groups"

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Through:
    """What came through a layer: parts of log-odds, (rows, nodes or groups of the layer)."""

    layer: str
    kind: str
    parts: sp.csr_array


@dataclass(frozen=True)
class Pair:
    """Some nodes, with two classes for each to be compared."""

    rows: Places
    first: Places
    second: Places

    def difference(self, values: Floats) -> Floats:
        """The value of the first class minus the second's, of each row of values (rows, classes)."""
        row_numbers = np.arange(self.first.size)
        class_difference: Floats = values[row_numbers, self.first] - values[row_numbers, self.second]
        return class_difference

    def log_odds(self, shares: Floats) -> Floats:
        """The logarithm of the first class's probability divided by the second's."""
        return self.difference(np.log(np.maximum(shares, 1e-30)))  # so that log-odds stay finite

    def logarithmic_mean(self, shares: Floats) -> Floats:
        """The logarithmic mean of the two classes' values, which are positive, of each row of (rows, classes)."""
        row_numbers = np.arange(self.first.size)
        return logarithmic_mean(shares[row_numbers, self.first], shares[row_numbers, self.second])

    def direction(self, classes: int) -> Floats:
        """What a row of class values is multiplied with to give their difference, (rows, classes)."""
        row_numbers = np.arange(self.first.size)
        class_directions = np.zeros((self.first.size, classes))
        class_directions[row_numbers, self.first] += 1
        class_directions[row_numbers, self.second] -= 1
        return class_directions


@dataclass(frozen=True)
class NeighbourContributions:
    """Whom some nodes hear in a layer.

    ``rows``: Positions of the nodes that hear; ``heard`` (rows, nodes or groups): The weight of each neighbour, or how
    strongly each node belongs to each of its groups; ``members`` (nodes, groups): Who belongs to which group, in a
    layer of groups.
    """

    layer: str
    rows: Places
    heard: sp.csr_array
    members: sp.csr_array | None

    @classmethod
    def of(cls, name: str, layer: Layer, rows: Places, factors: Floats | None = None) -> NeighbourContributions:
        """Whom some nodes hear in a layer; ``factors`` multiply its edges, matrix entry by entry, or memberships."""
        incidence_matrix = layer.incidence()
        heard_matrix = layer.to_scipy() if incidence_matrix is None else incidence_matrix
        if factors is not None:
            heard_matrix.data = heard_matrix.data * factors
        return cls(name, rows, sp.csr_array(heard_matrix[rows]).astype(np.float64), incidence_matrix)

    @property
    def kind(self) -> str:
        """Whether neighbours or groups are heard."""
        return NEIGHBOURS if self.members is None else GROUPS

    def sums(self, values: Floats) -> Floats:
        """The neighbourhood sum of each row, itself included once, from values of all nodes, (nodes, columns)."""
        own_values = values[self.rows]
        neighbourhood_sums: Floats = self.heard @ self._voices(values) + own_values
        if self.members is not None:
            # the weight with which each row is a member of the groups it hears
            neighbourhood_sums -= (
                np.asarray(self.heard.power(2).sum(axis=1), dtype=np.float64).reshape(-1, 1) * own_values
            )
        return neighbourhood_sums

    def parts(self, values: Floats, directions: Floats) -> Floats:
        """What each entry of ``heard`` gives to the products of the rows' sums with their directions.

        ``values`` (nodes, columns); ``directions`` (rows, columns).

        Returns array, one number per entry of ``heard``: Added up by row, with <V_i, u_i> for the row itself, they are
        the products with :meth:`sums`.
        """
        voices = self._voices(values)
        row_of_entry = np.repeat(np.arange(self.rows.size), np.diff(self.heard.indptr))
        entry_parts = np.empty(row_of_entry.size)
        chunk_entries = max(1, (1 << 22) // max(values.shape[1], 1))  # which bounds the memory
        for first_entry in range(0, row_of_entry.size, chunk_entries):
            entry_slice = slice(first_entry, first_entry + chunk_entries)
            entry_parts[entry_slice] = np.einsum(
                "ij,ij->i", voices[self.heard.indices[entry_slice]], directions[row_of_entry[entry_slice]]
            )
        if self.members is not None:
            # a node is a member of its own group, and does not hear itself through it
            own_products = np.einsum("ij,ij->i", values[self.rows], directions)
            entry_parts -= self.heard.data * own_products[row_of_entry]
        return self.heard.data * entry_parts

    def through(self, parts: Floats, scale: Floats | None = None) -> Through:
        """The parts of all entries, each row times a factor, by layer, row and neighbour or group."""
        entry_factor = 1.0 if scale is None else np.repeat(scale, np.diff(self.heard.indptr))
        part_matrix = sp.csr_array(
            (parts * entry_factor, self.heard.indices, self.heard.indptr), shape=self.heard.shape
        )
        return Through(self.layer, self.kind, part_matrix)

    def _voices(self, values: Floats) -> Floats:
        if self.members is None:
            return values
        group_sums: Floats = self.members.T @ values
        return group_sums


def kind_of(layer: Layer) -> str:
    """Whether a layer is heard by neighbours or by groups."""
    return GROUPS if layer.made_of == "groups" else NEIGHBOURS


def hearings(graph: MultilayerGraph, rows: Places) -> Iterator[NeighbourContributions]:
    """Whom some nodes hear in each layer of a graph."""
    for name, layer in graph.layers.items():
        yield NeighbourContributions.of(name, layer, rows)


def logarithmic_mean(one: Floats, other: Floats) -> Floats:
    """(a - b) / log(a / b), which is a where both are the same.

    >>> logarithmic_mean(np.array([1.0, 4.0]), np.array([1.0, 1.0])).round(2)
    array([1.  , 2.16])
    """
    log_ratio = np.log(one / other)
    is_equal = np.abs(log_ratio) < 1e-8
    mean_values: Floats = np.where(is_equal, one, (one - other) / np.where(is_equal, 1.0, log_ratio))
    return mean_values
