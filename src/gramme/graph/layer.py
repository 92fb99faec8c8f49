"""What every layer of a graph can do, whatever it is made of.

A layer is one kind of relation among the nodes of a :class:`~gramme.MultilayerGraph`. Nodes are
positions 0 .. N - 1 here; their names live in the graph. A layer may hold only some of the nodes
(:attr:`Layer.present`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from gramme.errors import DataError

from .arrays import BoolArray, FloatArray, Frozen, frozen, index_array

if TYPE_CHECKING:
    from .edge_layer import EdgeLayer
    from .membership_layer import MembershipLayer


class Layer(Frozen, ABC):
    """One relation among ``num_nodes`` nodes, immutable once made.

    Attributes
    ----------
    num_nodes : int
        Nodes of the whole graph, present in this layer or not.
    directed, weighted : bool
        Whether edges have a direction, and weights other than 1.
    self_loops_dropped, duplicates_merged : int
        What was left out of the input when the layer was made.
    made_of : {"edges", "groups"}
        Whether the layer is given by its edges or by the groups that its nodes are in.
    group_names : pandas.Index or None
        Names of the groups; None for a layer of edges.
    features : array of float64, shape (num_entries, columns), or None
        Numbers that describe each edge or membership.
    feature_names : tuple of str or None
        The names of the columns of ``features``.
    """

    made_of: ClassVar[Literal["edges", "groups"]]
    group_names: pd.Index | None
    num_nodes: int
    directed: bool
    self_loops_dropped: int
    duplicates_merged: int
    features: FloatArray | None
    feature_names: tuple[str, ...] | None
    _present: BoolArray | None

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Layers that were pickled before entries had features have none
        super().__setstate__({"features": None, "feature_names": None} | state)

    @property
    @abstractmethod
    def num_edges(self) -> int:
        """Edges of the layer: an undirected edge counts once, a self loop never."""

    @property
    @abstractmethod
    def weighted(self) -> bool:
        """Whether edges carry weights."""

    @property
    @abstractmethod
    def num_entries(self) -> int:
        """What the layer is made of, counted: its edges, or its memberships."""

    @abstractmethod
    def columns(self, nodes: pd.Index) -> tuple[sp.csr_array, pd.Index]:
        """The layer as a table, a row per node and a column per group or per neighbour, and the columns' names.

        ``nodes`` are the names of the graph's nodes.
        """

    @abstractmethod
    def neighbour_sums(self, values: NDArray[Any]) -> NDArray[Any]:
        """For each node the sum of the rows of its neighbours, each times the weight of its edge.

        The cost is that of the edges, or of the memberships: the edges that groups imply are never built.
        """

    @abstractmethod
    def to_edges(self) -> EdgeLayer:
        """The layer as explicit edges."""

    @abstractmethod
    def degrees(self) -> NDArray[np.int64]:
        """Neighbours of each node (out-neighbours where edges are directed)."""

    @abstractmethod
    def neighbours(self, node: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Positions of the nodes that ``node`` listens to, and the weight of each."""

    @abstractmethod
    def subset(self, nodes: NDArray[np.int64]) -> Self:
        """The layer among the given nodes, distinct positions, numbered anew in that order."""

    @abstractmethod
    def with_entries(self, kept: NDArray[np.bool_]) -> Self:
        """The layer with some of its edges, or of its memberships, and all of its nodes."""

    def as_groups(self) -> MembershipLayer | None:
        """The layer itself if it is made of groups; None for one that is made of edges."""
        return None

    def incidence(self) -> sp.csr_array | None:
        """Node by group matrix for a layer that is made of groups; None for one that is made of edges."""
        return None

    def to_scipy(self) -> sp.csr_array:
        """Adjacency matrix: entry (i, j) is the weight of the edge from i to j; no diagonal."""
        return self.to_edges().to_scipy()

    @property
    def part(self) -> Any:
        """What one process has of a layer whose rest others have (``gramme.ops.parts``); None for a whole layer."""
        return None

    @property
    def present(self) -> BoolArray:
        """For each node, whether this layer holds it."""
        if self._present is None:
            return frozen(np.ones(self.num_nodes, dtype=bool))
        return self._present

    @property
    def holds_all_nodes(self) -> bool:
        """Whether no node is absent from this layer."""
        return self._present is None

    @property
    def num_present(self) -> int:
        """How many nodes this layer holds."""
        return self.num_nodes if self._present is None else int(self._present.sum())

    def _position(self, node: int) -> int:
        """A node's position, or an error if there is no such node."""
        return int(index_array([node], self.num_nodes, "the node asked for")[0])


def presence(nodes: ArrayLike | None, num_nodes: int) -> BoolArray | None:
    """A mask of the nodes a layer holds, from a mask or positions; None if it holds them all."""
    if nodes is None:
        return None
    given_nodes = np.asarray(nodes)
    if given_nodes.dtype == bool and given_nodes.size:
        if given_nodes.shape != (num_nodes,):
            raise DataError(
                f"the nodes of a layer were given as a mask of shape {given_nodes.shape}; there are {num_nodes} nodes"
            )
        present_mask = given_nodes.copy()
    else:
        present_mask = np.zeros(num_nodes, dtype=bool)
        present_mask[index_array(given_nodes, num_nodes, "the nodes of a layer")] = True
    return None if present_mask.all() else frozen(present_mask)
