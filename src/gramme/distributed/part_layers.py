"""The layers of a graph as one process holds them: the edges of its nodes, and its members of the groups."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.distributed.halo import Links
from gramme.errors import DataError
from gramme.graph import EdgeLayer, Layer, MembershipLayer
from gramme.graph.arrays import BoolArray

Ints = NDArray[np.int64]


class PartEdges(Layer):
    """The edges of one process's nodes to nodes anywhere.

    Attributes
    ----------
    num_nodes : int
        Nodes of this process.
    links : Links
        Who of them listens to whom.
    halo_place : array of int
        Positions in the whole graph of the nodes of others that they listen to.
    """

    made_of = "edges"
    group_names = None
    links: Links
    halo_place: Ints
    _weighted: bool
    _edges: int

    def __init__(
        self,
        links: Links,
        halo_place: Ints,
        *,
        directed: bool,
        weighted: bool,
        num_edges: int,
        present: BoolArray | None,
    ) -> None:
        self.num_nodes = links.rows
        self.links, self.halo_place = links, halo_place
        self.directed, self._weighted, self._edges = directed, weighted, num_edges
        self.self_loops_dropped = self.duplicates_merged = 0
        self._present = present

    @property
    def num_edges(self) -> int:
        """Edges of the whole layer, at all processes."""
        return self._edges

    @property
    def weighted(self) -> bool:
        return self._weighted

    @property
    def num_entries(self) -> int:
        """The same: edges of the whole layer."""
        return self._edges

    def degrees(self) -> NDArray[np.int64]:
        return np.diff(self.links.matrix.indptr).astype(np.int64)

    def heard_places(self, places: Ints) -> Ints:
        """Positions in the whole graph of the columns of ``links.matrix``, from those of this process's nodes."""
        return np.concatenate([places, self.halo_place])

    def columns(self, nodes: pd.Index) -> tuple[sp.csr_array, pd.Index]:
        _refuse("the columns of a layer")

    def neighbour_sums(self, values: NDArray[Any]) -> NDArray[Any]:
        _refuse("sums over neighbours")

    def with_entries(self, kept: NDArray[np.bool_]) -> Any:
        _refuse("some edges of a layer")

    def to_edges(self) -> EdgeLayer:
        _refuse("the edges of a layer")

    def to_scipy(self) -> sp.csr_array:
        _refuse("the matrix of a layer")

    def neighbours(self, node: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        _refuse("the neighbours of a node")

    def subset(self, nodes: NDArray[np.int64]) -> Any:
        _refuse("some nodes of a layer")

    def __repr__(self) -> str:
        return f"PartEdges({self.num_nodes} nodes here, {self.num_edges} edges in all)"


class PartGroups(MembershipLayer):
    """The members that one process has of groups.

    Attributes
    ----------
    group_names : pandas.Index
        Of the groups with members here.
    sizes : array of int
        Members of each of them, at all processes.
    group_place : array of int
        The number of each in the whole layer.
    shared : array of int
        The number of each among the groups that have members at several processes, -1 for others.
    shared_count : int
        How many such groups there are.
    """

    group_place: Ints
    shared: Ints
    shared_count: int
    _facts: dict[str, Any]

    def __init__(
        self,
        num_nodes: int,
        counts: NDArray[Any],
        group: NDArray[Any],
        group_names: pd.Index,
        *,
        weight: NDArray[np.float64] | None,
        sizes: Ints,
        group_place: Ints,
        shared: Ints,
        facts: dict[str, Any],
        present: BoolArray | None,
    ) -> None:
        self.num_nodes = num_nodes
        self.group, self.group_names, self.weight = group, group_names, weight
        self.sizes, self._counts, self._present = sizes, counts, present
        self.group_place, self.shared, self.shared_count = group_place, shared, facts["shared"]
        self.duplicates_merged = 0
        self._facts = facts

    @property
    def single(self) -> bool:
        """Whether no node anywhere is in more than one group, and none by a weight."""
        return bool(self._facts["single"])

    @property
    def weighted(self) -> bool:
        return bool(self._facts["weighted"])

    @property
    def num_edges(self) -> int:
        """Implied edges of the whole layer."""
        return int(self._facts["edges"])

    @property
    def groups_in_all(self) -> int:
        """Groups of the whole layer."""
        return int(self._facts["groups"])

    @property
    def num_entries(self) -> int:
        """Memberships of the whole layer."""
        return int(self._facts["memberships"])

    def neighbour_sums(self, values: NDArray[Any]) -> NDArray[Any]:
        _refuse("sums over neighbours")

    def with_entries(self, kept: NDArray[np.bool_]) -> Any:
        _refuse("some memberships of a layer")

    def subset(self, nodes: NDArray[np.int64]) -> Any:
        _refuse("some nodes of a layer")

    def to_edges(self) -> EdgeLayer:
        _refuse("the edges of a layer")

    def neighbours(self, node: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        _refuse("the neighbours of a node")

    def __repr__(self) -> str:
        return f"PartGroups({self.num_nodes} nodes here, {self.groups_in_all} groups in all)"


def _refuse(what: str) -> NoReturn:
    raise DataError(
        f"{what} cannot be listed at one process: the graph is spread over several; read it whole for that"
    )
