"""A layer given by its edges: who nominates whom, who wrote with whom, which cities a flight joins."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from gramme.errors import DataError

from .arrays import (
    FloatArray,
    IntArray,
    checked_weights,
    frozen,
    index_array,
    node_count,
    same_matrix,
    same_values,
    smallest_int,
)
from .edge_features import checked_edge_features, mean_rows
from .layer import Layer, presence

MAX_KEPT_EDGES = 5_000_000
"""Edges of a layer beyond which neither their matrix is kept nor, if it is undirected, the way they were stated."""


class EdgeLayer(Layer):
    """A list of edges among ``num_nodes`` nodes, cleaned once when it is made.

    Self loops are dropped and counted (the models add exactly one per node). Repeated edges become
    one: their weights add, unweighted ones stay 1. An undirected edge joins both ways and is kept
    once, with ``source < target``; given both as (i, j) and as (j, i) it is one repeated edge. In a
    directed layer node i listens to the nodes its edges point to.

    Parameters
    ----------
    num_nodes : int
        Nodes of the whole graph.
    source, target : array of int, shape (edges,)
        Positions of the nodes at both ends.
    weight : array of float, shape (edges,), optional
        Positive finite weights. A layer without edges has no weights either.
    directed : bool, default=False
        Whether edges have a direction.
    nodes : array of int or mask, optional
        The nodes this layer holds; all if not given.
    ways : array of int, shape (edges,), optional
        Which way the edges of an undirected layer were stated, where that may mean something: 1 from
        source to target, 2 back, 3 both. Edges join both ways all the same.
    features : array of float, shape (edges, columns), optional
        Finite numbers that describe each edge, which attention may learn from. A repeated edge has the mean of its
        rows; an undirected edge carries its row both ways.
    feature_names : sequence of str, optional
        A distinct name for each column of ``features``; those of a DataFrame, else "feature 1", "feature 2", ...

    Attributes
    ----------
    source, target : array of int
        The kept edges, sorted by source and then target; read-only, in the smallest safe integer
        type.
    weight : array of float64 or None
    features : array of float64, shape (num_edges, columns), or None
        Row k belongs to the edge from ``source[k]`` to ``target[k]``; :meth:`edge_numbers` gives the row of each entry
        of the adjacency matrix.
    feature_names : tuple of str or None
    self_loops_dropped, duplicates_merged : int
        What was left out of the input: its rows are
        ``num_edges + self_loops_dropped + duplicates_merged``.

    Examples
    --------
    >>> layer = EdgeLayer(4, [0, 1, 1, 2], [1, 0, 1, 3])
    >>> layer
    EdgeLayer(4 nodes, 2 edges)
    >>> layer.source.tolist(), layer.target.tolist()
    ([0, 2], [1, 3])
    >>> layer.self_loops_dropped, layer.duplicates_merged
    (1, 1)
    >>> calls = EdgeLayer(3, [1, 0, 2], [0, 1, 1], features=[[5.0], [7.0], [1.0]], feature_names=["minutes"])
    >>> calls.features.tolist()
    [[6.0], [1.0]]
    """

    made_of: ClassVar[Literal["edges", "groups"]] = "edges"
    group_names = None
    source: IntArray
    target: IntArray
    weight: FloatArray | None
    ways: NDArray[np.int8] | None

    def __init__(
        self,
        num_nodes: int,
        source: ArrayLike,
        target: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        directed: bool = False,
        nodes: ArrayLike | None = None,
        ways: ArrayLike | None = None,
        features: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        self.num_nodes = node_count(num_nodes)
        self.directed = bool(directed)
        source_nodes = index_array(source, self.num_nodes, "the sources of the edges")
        target_nodes = index_array(target, self.num_nodes, "the targets of the edges")
        if source_nodes.size != target_nodes.size:
            raise DataError(f"{source_nodes.size} sources were given for {target_nodes.size} targets")

        def named(row: int) -> str:
            return f"the edge from node {source_nodes[row]} to node {target_nodes[row]}"

        edge_weights = None if weight is None else checked_weights(weight, source_nodes.size, "edge", named)
        edge_features, self.feature_names = checked_edge_features(
            features, feature_names, source_nodes.size, "edge", named
        )
        self._present = presence(nodes, self.num_nodes)
        if self._present is not None:
            absent_edges = np.flatnonzero(~(self._present[source_nodes] & self._present[target_nodes]))
            if absent_edges.size:
                first_absent = absent_edges[0]
                raise DataError(
                    f"the edge from node {source_nodes[first_absent]} to node "
                    f"{target_nodes[first_absent]} touches a node that "
                    "is not among the nodes of its layer"
                )
        given_edges = source_nodes.size
        is_loop = source_nodes == target_nodes
        self.self_loops_dropped = int(is_loop.sum())
        if self.self_loops_dropped:
            source_nodes, target_nodes = source_nodes[~is_loop], target_nodes[~is_loop]
            edge_weights = None if edge_weights is None else edge_weights[~is_loop]
            edge_features = None if edge_features is None else edge_features[~is_loop]
        stated_ways = None
        if not self.directed:
            if ways is not None and 0 < source_nodes.size <= MAX_KEPT_EDGES:
                stated_ways = np.asarray(ways, dtype=np.int8)[~is_loop]
                stated_ways = np.where(
                    source_nodes > target_nodes, ((stated_ways & 1) << 1) | ((stated_ways & 2) >> 1), stated_ways
                )  # 1 and 2 turned
            source_nodes, target_nodes = np.minimum(source_nodes, target_nodes), np.maximum(source_nodes, target_nodes)
        given_ends = (source_nodes, target_nodes)
        source_nodes, target_nodes, edge_weights = _merged(self.num_nodes, source_nodes, target_nodes, edge_weights)
        merged_ways = None
        if stated_ways is not None or edge_features is not None:
            # for each given edge its row among the merged ones, which are sorted
            node_bound = target_nodes.max(initial=0) + 1
            merged_row = np.searchsorted(
                source_nodes.astype(np.int64) * node_bound + target_nodes,
                given_ends[0].astype(np.int64) * node_bound + given_ends[1],
            )
            if stated_ways is not None:
                merged_ways = np.zeros(source_nodes.size, dtype=np.int8)
                for way_bit in (1, 2):
                    merged_ways[merged_row[(stated_ways & way_bit) > 0]] |= way_bit
                frozen(merged_ways)
            edge_features = None if edge_features is None else mean_rows(edge_features, merged_row, source_nodes.size)
        self.ways, self.features = merged_ways, edge_features
        self.duplicates_merged = given_edges - self.self_loops_dropped - source_nodes.size
        self.source = frozen(smallest_int(source_nodes, self.num_nodes))
        self.target = frozen(smallest_int(target_nodes, self.num_nodes))
        self.weight = None if edge_weights is None or not edge_weights.size else frozen(edge_weights)

    @property
    def num_edges(self) -> int:
        """Edges kept; an undirected edge counts once."""
        return int(self.source.size)

    @property
    def weighted(self) -> bool:
        """Whether edges carry weights."""
        return self.weight is not None

    @property
    def num_entries(self) -> int:
        """Its edges."""
        return self.num_edges

    def columns(self, nodes: pd.Index) -> tuple[sp.csr_array, pd.Index]:
        """A column per node, which holds the weights of the edges to it."""
        return self.to_scipy(), nodes

    def neighbour_sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """For each node the sum over the nodes its edges point to."""
        return np.asarray(self.to_scipy() @ values)

    def to_edges(self) -> EdgeLayer:
        """Return self; its edges are explicit already."""
        return self

    def to_scipy(self) -> sp.csr_array:
        """Adjacency matrix, its numbers read-only; an undirected edge stands at (i, j) and at (j, i)."""
        return same_matrix(self._adjacency if self.num_edges <= MAX_KEPT_EDGES else self._weights())

    @cached_property
    def _adjacency(self) -> sp.csr_array:
        return self._weights()

    def _weights(self) -> sp.csr_array:
        return self._matrix(np.ones(self.num_edges) if self.weight is None else self.weight)

    def edge_numbers(self) -> sp.csr_array:
        """The matrix of :meth:`to_scipy` entry by entry, with the number of each edge for its weight.

        ``layer.features[layer.edge_numbers().data]`` are the features of the matrix's entries in their order.
        """
        return self._matrix(np.arange(self.num_edges))

    def _matrix(self, values: NDArray[Any]) -> sp.csr_array:
        row_nodes, column_nodes = self.source, self.target
        if not self.directed:
            row_nodes, column_nodes = (
                np.concatenate([row_nodes, column_nodes]),
                np.concatenate([column_nodes, row_nodes]),
            )
            values = np.concatenate([values, values])
        return self._square(row_nodes, column_nodes, values)

    def _square(self, start: NDArray[Any], end: NDArray[Any], values: NDArray[Any]) -> sp.csr_array:
        matrix = sp.csr_array((values, (start, end)), shape=(self.num_nodes, self.num_nodes))
        matrix.sort_indices()
        return matrix

    def stated_ways(self) -> sp.csr_array:
        """Adjacency matrix of the edges the way they were stated; both ways where nobody knows."""
        if self.directed or self.ways is None:
            return self.to_scipy()
        goes_along, goes_back = (self.ways & 1) > 0, (self.ways & 2) > 0
        edge_weights = np.ones(self.num_edges) if self.weight is None else self.weight
        return self._square(
            np.concatenate([self.source[goes_along], self.target[goes_back]]),
            np.concatenate([self.target[goes_along], self.source[goes_back]]),
            np.concatenate([edge_weights[goes_along], edge_weights[goes_back]]),
        )

    def degrees(self) -> NDArray[np.int64]:
        """Neighbours of each node (out-neighbours where edges are directed), in O(edges)."""
        degrees = np.bincount(self.source, minlength=self.num_nodes)
        if not self.directed:
            degrees = degrees + np.bincount(self.target, minlength=self.num_nodes)
        return degrees

    def neighbours(self, node: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Positions of the nodes that ``node`` listens to, sorted, and the weight of each."""
        node = self._position(node)
        first_edge, last_edge = np.searchsorted(self.source, [node, node + 1])
        edge_numbers = np.arange(first_edge, last_edge)
        neighbour_nodes = self.target[first_edge:last_edge].astype(np.int64)
        if not self.directed:
            incoming_edges = np.flatnonzero(self.target == node)
            edge_numbers = np.concatenate([edge_numbers, incoming_edges])
            neighbour_nodes = np.concatenate([neighbour_nodes, self.source[incoming_edges]])
        edge_weights = np.ones(edge_numbers.size) if self.weight is None else self.weight[edge_numbers]
        neighbour_order = np.argsort(neighbour_nodes)
        return neighbour_nodes[neighbour_order], edge_weights[neighbour_order]

    def subset(self, nodes: NDArray[np.int64]) -> EdgeLayer:
        """The edges whose both ends are among the given nodes, which are numbered anew."""
        new_numbers, kept_edges = edges_among(self, nodes)
        present_nodes = None if self._present is None else self._present[nodes]
        return self._with(
            nodes.size,
            new_numbers[self.source[kept_edges]],
            new_numbers[self.target[kept_edges]],
            kept_edges,
            present_nodes,
        )

    def with_entries(self, kept: NDArray[np.bool_]) -> EdgeLayer:
        """The layer with some of its edges and all of its nodes."""
        return self._with(self.num_nodes, self.source[kept], self.target[kept], kept, self._present)

    def _with(
        self, num_nodes: int, source: NDArray[Any], target: NDArray[Any], kept: NDArray[np.bool_], present: Any
    ) -> EdgeLayer:
        """Some of the edges, perhaps numbered anew, with all that is known of them."""
        return EdgeLayer(
            num_nodes,
            source,
            target,
            None if self.weight is None else self.weight[kept],
            directed=self.directed,
            nodes=present,
            ways=None if self.ways is None else self.ways[kept],
            features=None if self.features is None else self.features[kept],
            feature_names=self.feature_names,
        )

    def __eq__(self, other: object) -> bool:
        """Equal nodes, edges, weights, features and direction; what was dropped does not count."""
        return (
            isinstance(other, EdgeLayer)
            and self.num_nodes == other.num_nodes
            and self.directed == other.directed
            and same_values(self.source, other.source)
            and same_values(self.target, other.target)
            and same_values(self.weight, other.weight)
            and same_values(self._present, other._present)
            and self.feature_names == other.feature_names
            and same_values(self.features, other.features)
        )

    __hash__ = None  # type: ignore[assignment]  # it holds arrays; compare with ==

    def __repr__(self) -> str:
        words = [f"{self.num_present} nodes", f"{self.num_edges} edges"]
        if self.directed:
            words.append("directed")
        if self.weighted:
            words.append("weighted")
        if self.features is not None:
            words.append(f"{self.features.shape[1]} features")
        return f"EdgeLayer({', '.join(words)})"


def _merged(
    num_nodes: int, start: NDArray[np.int64], end: NDArray[np.int64], weights: FloatArray | None
) -> tuple[NDArray[Any], NDArray[Any], FloatArray | None]:
    """Edges sorted by source and target, each once; with weights by counting, else by sorting pairs."""
    if start.size == 0:
        return start, end, weights
    if weights is None and num_nodes <= np.iinfo(np.int32).max:
        return *_distinct_pairs(start, end), None
    matrix_values: NDArray[Any] = np.ones(start.size, dtype=np.int8) if weights is None else weights
    matrix = sp.csr_array((matrix_values, (start, end)), shape=(num_nodes, num_nodes))
    matrix.sum_duplicates()
    matrix.sort_indices()
    merged_sources = np.repeat(np.arange(num_nodes), np.diff(matrix.indptr))
    if weights is None:
        return merged_sources, matrix.indices, None
    merged_weights = np.ascontiguousarray(matrix.data)
    overflow_edges = np.flatnonzero(~np.isfinite(merged_weights))
    if overflow_edges.size:
        first_overflow = overflow_edges[0]
        raise DataError(
            f"the weights of the edges from node {merged_sources[first_overflow]} to node "
            f"{matrix.indices[first_overflow]} add up to more than a number can hold"
        )
    return merged_sources, matrix.indices, merged_weights


def _distinct_pairs(start: NDArray[np.int64], end: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Pairs below 2**31 as one 64-bit number each: sorting such numbers is numpy's fastest sort."""
    pair_numbers = start << 32
    pair_numbers |= end
    pair_numbers.sort()
    is_repeated = pair_numbers[1:] == pair_numbers[:-1]
    if is_repeated.any():
        pair_numbers = pair_numbers[np.concatenate([[True], ~is_repeated])]
    return (pair_numbers >> 32).astype(np.int32), pair_numbers.astype(np.int32)


def edges_among(edges: Any, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The new number of each of the given nodes (-1 for others), and which edges have both ends among them."""
    new_numbers = np.full(edges.num_nodes, -1, dtype=np.int64)
    new_numbers[nodes] = np.arange(nodes.size)
    return new_numbers, (new_numbers[edges.source] >= 0) & (new_numbers[edges.target] >= 0)
