"""A layer given by who belongs to what: the same vote, the same age band, a paper's authors.

Nodes that share a group are neighbours. The edges this implies are built only by :meth:`MembershipLayer.to_edges`: a
million rows with ten values in a column are a million memberships but fifty billion edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from gramme.errors import DataError

from .arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    checked_weights,
    frozen,
    index_array,
    name_index,
    node_count,
    same_matrix,
    same_values,
    smallest_int,
    whole_numbers,
)
from .edge_features import checked_edge_features, mean_rows
from .edge_layer import EdgeLayer
from .layer import Layer, presence


class MembershipLayer(Layer):
    """Nodes in any number of named groups; two nodes are joined once per group they share.

    Memberships may be weighted: how often an author published at a venue, how strongly a node
    belongs to a group. Two nodes are then joined by w_ig w_jg for every group g they share.

    Parameters
    ----------
    num_nodes : int
        Nodes of the whole graph.
    node, group : array of int, shape (memberships,)
        Who belongs to which group, by position. A membership stated twice counts once.
    weight : array of float, shape (memberships,), optional
        Positive finite weights; those of a membership stated twice add. Without, all weigh 1.
    group_names : sequence, optional
        Distinct names of the groups; 0, 1, 2, ... if not given. Groups without members go.
    nodes : array of int or mask, optional
        The nodes this layer holds. If not given, the nodes that are in at least one group.
    features : array of float, shape (memberships, columns), optional
        Finite numbers that describe each membership, which attention may learn from; a membership stated twice has the
        mean of its rows. The edges that groups imply (:meth:`to_edges`) have none.
    feature_names : sequence of str, optional
        A distinct name for each column of ``features``; those of a DataFrame, else "feature 1", "feature 2", ...

    Attributes
    ----------
    node, group : array of int, shape (memberships,)
        The memberships, sorted by node and then group; read-only.
    weight : array of float64, shape (memberships,), or None
    features : array of float64, shape (memberships, columns), or None
        In the order of ``node`` and ``group``, which is also that of the entries of :meth:`incidence`.
    feature_names : tuple of str or None
    group_names : pandas.Index
    sizes : array of int, shape (groups,)
        Members of each group.
    duplicates_merged : int
        Memberships that were stated more than once.

    Examples
    --------
    >>> layer = MembershipLayer.from_values(["yes", "no", "yes", None, "yes"])
    >>> layer
    MembershipLayer(4 nodes, 2 groups, 3 implied edges)
    >>> layer.sizes.tolist(), list(layer.group_names)
    ([3, 1], ['yes', 'no'])
    >>> layer.to_edges()
    EdgeLayer(4 nodes, 3 edges)
    >>> often = MembershipLayer(3, [0, 1, 2], [0, 0, 0], weight=[3, 1, 2])
    >>> often.to_edges().weight.tolist()
    [3.0, 6.0, 2.0]
    """

    made_of: ClassVar[Literal["edges", "groups"]] = "groups"
    directed = False
    self_loops_dropped = 0
    group: IntArray
    weight: FloatArray | None
    group_names: pd.Index
    sizes: NDArray[np.int64]
    _counts: IntArray

    def __init__(
        self,
        num_nodes: int,
        node: ArrayLike,
        group: ArrayLike,
        group_names: Iterable[Any] | None = None,
        *,
        weight: ArrayLike | None = None,
        nodes: ArrayLike | None = None,
        features: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        self.num_nodes = node_count(num_nodes)
        member_nodes = index_array(node, self.num_nodes, "the members of the groups")
        group_codes, given_names = _numbered_groups(group, group_names)
        if member_nodes.size != group_codes.size:
            raise DataError(f"{member_nodes.size} members were given for {group_codes.size} groups")

        def named(row: int) -> str:
            return f"the membership of node {member_nodes[row]} in {given_names[group_codes[row]]!r}"

        given_weights: NDArray[Any] = np.ones(member_nodes.size, dtype=np.int8)
        if weight is not None:
            given_weights = checked_weights(weight, member_nodes.size, "membership", named)
        entry_features, self.feature_names = checked_edge_features(
            features, feature_names, member_nodes.size, "membership", named
        )
        incidence = sp.csr_array((given_weights, (member_nodes, group_codes)), shape=(self.num_nodes, len(given_names)))
        incidence.sum_duplicates()
        incidence.sort_indices()
        group_counts = np.diff(incidence.indptr)
        merged_weights = None if weight is None else np.ascontiguousarray(incidence.data)
        if entry_features is not None:
            stated_keys, kept_keys = (
                node.astype(np.int64) * len(given_names) + group
                for node, group in (
                    (member_nodes, group_codes),
                    (np.repeat(np.arange(self.num_nodes), group_counts), incidence.indices),
                )
            )
            entry_features = mean_rows(entry_features, np.searchsorted(kept_keys, stated_keys), kept_keys.size)
        self._set(group_counts, incidence.indices, given_names, nodes, merged_weights, entry_features)
        self.duplicates_merged = int(member_nodes.size - self.group.size)

    def _set(
        self,
        counts: NDArray[Any],
        groups: NDArray[Any],
        names: pd.Index,
        nodes: ArrayLike | None,
        weights: FloatArray | None = None,
        features: FloatArray | None = None,
    ) -> None:
        """Store memberships that are already sorted and unique; drop the groups without members."""
        sizes = np.bincount(groups, minlength=len(names))
        if not sizes.all():
            kept_groups = np.flatnonzero(sizes)
            new_codes = np.cumsum(sizes > 0) - 1
            groups, names, sizes = new_codes[groups], names[kept_groups], sizes[kept_groups]
        self.group_names = names
        self.group = frozen(smallest_int(groups, len(names)))
        self.weight = None if weights is None or not weights.size else frozen(weights)
        self.features = features
        self.sizes = frozen(sizes.astype(np.int64))
        self._counts = frozen(smallest_int(counts, len(names)))
        is_present = counts > 0 if nodes is None else np.asarray(nodes)
        self._present = presence(is_present, self.num_nodes)
        if self._present is not None and nodes is not None:
            outside_nodes = np.flatnonzero((counts > 0) & ~self._present)
            if outside_nodes.size:
                raise DataError(f"node {outside_nodes[0]} is in a group but not among the nodes of its layer")

    @classmethod
    def from_values(cls, values: Iterable[Any], *, nodes: ArrayLike | None = None) -> MembershipLayer:
        """One value per node: equal values are a group, a missing one (None, NaN) joins nobody."""
        value_series = values if isinstance(values, pd.Series) else pd.Series(list(values), dtype=object)
        try:
            value_codes, value_names = pd.factorize(value_series, use_na_sentinel=True)
        except TypeError as error:
            raise DataError(f"the values of a membership layer must be hashable: {error}") from error
        return cls.from_codes(value_codes, value_names, nodes=nodes)

    @classmethod
    def from_codes(
        cls, codes: ArrayLike, group_names: Iterable[Any] | None = None, *, nodes: ArrayLike | None = None
    ) -> MembershipLayer:
        """One group number per node, -1 for none.

        >>> MembershipLayer.from_codes([0, 1, 0, -1])
        MembershipLayer(3 nodes, 2 groups, 1 implied edges)
        """
        group_numbers = whole_numbers(codes, "the groups of the nodes")
        layer = cls.__new__(cls)
        layer.num_nodes = group_numbers.size
        layer.feature_names = None
        is_member = group_numbers >= 0
        group_codes, known_names = _numbered_groups(group_numbers[is_member], group_names)
        layer._set(is_member, group_codes, known_names, nodes)
        layer.duplicates_merged = 0
        return layer

    def as_groups(self) -> MembershipLayer:
        """Return self; it is made of groups already."""
        return self

    @property
    def node(self) -> IntArray:
        """The member of each membership."""
        members = np.repeat(np.arange(self.num_nodes), self._counts)
        return frozen(smallest_int(members, self.num_nodes))

    @property
    def num_groups(self) -> int:
        """Groups with at least one member."""
        return len(self.group_names)

    @property
    def num_memberships(self) -> int:
        """Pairs of a node and a group."""
        return int(self.group.size)

    @property
    def groups_per_node(self) -> IntArray:
        """In how many groups each node is."""
        return self._counts

    @property
    def single(self) -> bool:
        """Whether no node is in more than one group, and none by a weight: members are alike."""
        return self.weight is None and (self.num_nodes == 0 or int(self._counts.max()) <= 1)

    def codes(self) -> NDArray[np.int64]:
        """The group of each node, -1 for none; only where no node is in several groups."""
        if not self.single:
            raise DataError("some nodes are in several groups, so a node has no single group")
        node_codes = np.full(self.num_nodes, -1, dtype=np.int64)
        node_codes[self._counts > 0] = self.group
        return node_codes

    @property
    def weighted(self) -> bool:
        """Whether memberships carry weights; pairs that share several groups weigh more anyway."""
        return self.weight is not None

    @property
    def num_edges(self) -> int:
        """Implied undirected edges, from group sizes: a pair counts once per group it shares."""
        # In Python integers: the edges among billions of memberships exceed 64 bits
        distinct_sizes, size_counts = (
            size_column.tolist() for size_column in np.unique(self.sizes, return_counts=True)
        )
        return sum(
            n * group_size * (group_size - 1) // 2 for group_size, n in zip(distinct_sizes, size_counts, strict=True)
        )

    def incidence(self) -> sp.csr_array:
        """Node by group matrix of the weights, ones where there are none; its numbers are read-only."""
        return same_matrix(self._incidence)

    @cached_property
    def _incidence(self) -> sp.csr_array:
        return self._matrix(np.ones(self.num_memberships) if self.weight is None else self.weight)

    @property
    def num_entries(self) -> int:
        """Its memberships."""
        return self.num_memberships

    def columns(self, nodes: pd.Index) -> tuple[sp.csr_array, pd.Index]:
        """A column per group."""
        return self.incidence(), self.group_names

    def neighbour_sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """For each node the sum over those it shares a group with; what it gives to its groups is taken off again."""
        inside = self.incidence()
        own_share = np.asarray(inside.multiply(inside).sum(axis=1)).reshape(-1, *[1] * (values.ndim - 1))
        neighbour_totals: NDArray[Any] = np.asarray(inside @ (inside.T @ values)) - own_share * values
        return neighbour_totals

    def to_edges(self) -> EdgeLayer:
        """The implied edges, all of them; a pair has the weight sum over shared groups of w_ig w_jg.

        Where memberships have no weights, that is the number of groups the pair shares.
        """
        group_incidence = self.incidence()
        if self.weight is None:
            group_incidence = group_incidence.astype(np.int32)
        member_pairs = sp.triu(group_incidence @ group_incidence.T, k=1).tocoo()
        has_weights = self.weighted or (member_pairs.data.size > 0 and int(member_pairs.data.max()) > 1)
        return EdgeLayer(
            self.num_nodes,
            member_pairs.row,
            member_pairs.col,
            member_pairs.data if has_weights else None,
            nodes=self._present,
        )

    def degrees(self) -> NDArray[np.int64]:
        """Neighbours of each node, a neighbour counted once per shared group."""
        running_others = np.concatenate([[0], np.cumsum(self.sizes[self.group] - 1)]).astype(np.int64)
        last_membership = np.cumsum(self._counts, dtype=np.int64)
        return np.asarray(running_others[last_membership] - running_others[last_membership - self._counts])

    def neighbours(self, node: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Positions of the nodes that share a group with ``node``, and the weight of each.

        The weight is the sum of w_ig w_jg over the shared groups: their number without weights.
        """
        node = self._position(node)
        incidence = self.incidence()
        shared_weights = incidence @ incidence[[node]].toarray().ravel()
        shared_weights[node] = 0
        neighbour_nodes = np.flatnonzero(shared_weights)
        return neighbour_nodes, shared_weights[neighbour_nodes]

    def subset(self, nodes: NDArray[np.int64]) -> MembershipLayer:
        """The memberships of the given nodes, which are numbered anew; emptied groups go."""
        return self._of_rows(self._numbered()[nodes], self.group_names, self.present[nodes])

    def with_entries(self, kept: NDArray[np.bool_]) -> MembershipLayer:
        """The layer with some of its memberships and all of its nodes; emptied groups go."""
        kept_counts = np.bincount(self.node[kept], minlength=self.num_nodes)
        indptr = np.concatenate([[0], np.cumsum(kept_counts)])
        entries = (np.flatnonzero(kept), self.group[kept].astype(np.int32), indptr)
        entry_rows = sp.csr_array(entries, shape=(self.num_nodes, self.num_groups))
        return self._of_rows(entry_rows, self.group_names, self.present)

    def reordered(self, nodes: NDArray[np.int64] | None, groups: NDArray[np.int64] | None) -> MembershipLayer:
        """All memberships with nodes and groups in another order, given as positions in this one."""
        entry_rows = self._numbered() if nodes is None else self._numbered()[nodes]
        ordered_names = self.group_names
        if groups is not None:
            new_codes = np.empty(groups.size, dtype=entry_rows.indices.dtype)
            new_codes[groups] = np.arange(groups.size)
            entry_rows = sp.csr_array(
                (entry_rows.data, new_codes[entry_rows.indices], entry_rows.indptr), entry_rows.shape
            )
            entry_rows.sort_indices()
            ordered_names = ordered_names[groups]
        present_nodes = self.present if nodes is None else self.present[nodes]
        return self._of_rows(entry_rows, ordered_names, present_nodes, self.duplicates_merged)

    def _of_rows(
        self, rows: sp.csr_array, names: pd.Index, present: BoolArray, duplicates_merged: int = 0
    ) -> MembershipLayer:
        """A layer of some of the memberships, whose numbers are the entries of a node by group matrix."""
        layer = MembershipLayer.__new__(MembershipLayer)
        layer.num_nodes = rows.shape[0]
        layer.feature_names = self.feature_names
        kept_weights = None if self.weight is None else self.weight[rows.data]
        kept_features = None if self.features is None else frozen(self.features[rows.data])
        layer._set(np.diff(rows.indptr), rows.indices, names, present, kept_weights, kept_features)
        layer.duplicates_merged = duplicates_merged
        return layer

    def _numbered(self) -> sp.csr_array:
        """The node by group matrix with the number of each membership as its value."""
        return self._matrix(np.arange(self.num_memberships))

    def _matrix(self, values: NDArray[Any]) -> sp.csr_array:
        indptr = np.concatenate([[0], np.cumsum(self._counts, dtype=np.int64)])
        return sp.csr_array((values, self.group.astype(np.int32), indptr), shape=(self.num_nodes, self.num_groups))

    def members(self) -> Sequence[NDArray[np.int64]]:
        """The nodes of each group, in the order of ``group_names``."""
        if not self.num_groups:
            return []
        member_order = np.argsort(self.group, kind="stable")
        return np.split(self.node[member_order].astype(np.int64), np.cumsum(self.sizes)[:-1])

    def __eq__(self, other: object) -> bool:
        """Equal nodes, groups by name, memberships and their features; the order of groups does not count."""
        if not (
            isinstance(other, MembershipLayer)
            and self.num_nodes == other.num_nodes
            and self.num_memberships == other.num_memberships
            and self.num_groups == other.num_groups
            and self.weighted == other.weighted
            and same_values(self._counts, other._counts)
            and same_values(self._present, other._present)
        ):
            return False
        name_positions = self.group_names.get_indexer(other.group_names)
        if (name_positions < 0).any():
            return False
        node_keys = self.node.astype(np.int64) * self.num_groups
        own_keys, other_keys = node_keys + self.group, node_keys + name_positions[other.group]
        own_order, other_order = np.argsort(own_keys), np.argsort(other_keys)

        def agree(own: FloatArray | None, others: FloatArray | None) -> bool:
            return same_values(None if own is None else own[own_order], None if others is None else others[other_order])

        return (
            np.array_equal(own_keys[own_order], other_keys[other_order])
            and agree(self.weight, other.weight)
            and self.feature_names == other.feature_names
            and agree(self.features, other.features)
        )

    __hash__ = None  # type: ignore[assignment]  # it holds arrays; compare with ==

    def __repr__(self) -> str:
        words = [f"{self.num_present} nodes", f"{self.num_groups} groups", f"{self.num_edges} implied edges"]
        words += ["weighted"] if self.weighted else []
        words += [] if self.features is None else [f"{self.features.shape[1]} features"]
        return f"MembershipLayer({', '.join(words)})"


def _numbered_groups(group: ArrayLike, group_names: Iterable[Any] | None) -> tuple[NDArray[np.int64], pd.Index]:
    """Group numbers as positions among names; numbers that leave wide gaps are closed up first."""
    what = "the groups of the members"
    if group_names is not None:
        known_names = name_index(group_names, what="group")
        return index_array(group, len(known_names), what, "group"), known_names
    group_numbers = whole_numbers(group, what)
    group_count = int(group_numbers.max(initial=-1)) + 1
    if group_count > 10 * group_numbers.size + 1000 and int(group_numbers.min()) >= 0:
        distinct_numbers, number_positions = np.unique(group_numbers, return_inverse=True)
        return number_positions.astype(np.int64), name_index(distinct_numbers)
    return index_array(group_numbers, group_count, what, "group"), pd.RangeIndex(group_count)
