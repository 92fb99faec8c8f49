"""The neighbourhood sum, the one thing attention needs from a graph.

For a value per node and column, ``V`` of shape (rows, columns),

    S(V)_i = V_i + sum over j in N(i) of c_ij V_j,

where N(i) are the nodes that i listens to and c_ij is the weight of the edge (1 where there are none). Every kind of
layer supplies S and its transpose as cheaply as its structure allows; nothing per edge is ever stored but the
structure itself. Rows are the nodes of one layer, or the copies of the nodes in several layers stacked.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from gramme.ops.bags import Bags


class NeighbourhoodSum(ABC):
    """S and its transpose for one structure of ``rows`` rows. Plain arithmetic: gradients are the caller's business."""

    rows: int

    @property
    def outputs(self) -> int:
        """Rows of S(V): one per row of V, unless rows that hear the same are kept once (:class:`GroupSum`)."""
        return self.rows

    @abstractmethod
    def __call__(self, values: Tensor) -> Tensor:
        """S(V) for values of shape (rows, columns)."""

    @abstractmethod
    def transposed(self, values: Tensor) -> Tensor:
        """The transpose of S applied to values of shape (outputs, columns)."""

    @abstractmethod
    def to(self, device: torch.device) -> Self:
        """The same structure on another device."""

    def part(self, chosen: Tensor) -> NeighbourhoodSum | None:
        """S for some of its outputs alone; None where that saves nothing, as with groups, whose sums serve everybody.

        The last hop of a network needs no more than the nodes that are asked about: in training, the labelled ones.
        """
        return None


class EdgeSum(NeighbourhoodSum):
    """S for explicit edges: each row's bag holds the row itself and its neighbours. Cost: edges x columns.

    Parameters
    ----------
    adjacency : scipy CSR, shape (rows, rows)
        Entry (i, j) is the weight with which i listens to j; the diagonal is empty.
    symmetric : bool
        Whether the matrix equals its transpose, which then needs no copy of its own.
    """

    def __init__(self, adjacency: sp.csr_array, *, symmetric: bool) -> None:
        self.rows = adjacency.shape[0]
        with_self = sp.csr_array(adjacency + sp.eye_array(self.rows, format="csr"))
        self.forward = Bags(with_self)
        self.backward = self.forward if symmetric else Bags(sp.csr_array(with_self.T.tocsr()))

    def __call__(self, values: Tensor) -> Tensor:
        return self.forward(values)

    def transposed(self, values: Tensor) -> Tensor:
        return self.backward(values)

    @property
    def outputs(self) -> int:
        return self.forward.bags

    def to(self, device: torch.device) -> EdgeSum:
        forward = self.forward.to(device)
        same = self.backward is self.forward
        return self._made(self.rows, forward, forward if same else self.backward.to(device))

    def part(self, chosen: Tensor) -> EdgeSum:
        """S for some rows: only their edges are summed."""
        matrix = sp.csr_array(self.forward.matrix(self.rows)[chosen.cpu().numpy()])
        both = (Bags(one).to(chosen.device) for one in (matrix, sp.csr_array(matrix.T.tocsr())))
        return self._made(self.rows, *both)

    @classmethod
    def _made(cls, rows: int, forward: Bags, backward: Bags) -> EdgeSum:
        made = cls.__new__(cls)
        made.rows, made.forward, made.backward = rows, forward, backward
        return made


class MembershipSum(NeighbourhoodSum):
    """S for nodes that share groups: sum each group, then give each node the sums of its groups.

    With the incidence B (rows x groups) this is B(B^T V), corrected so that a node in k groups counts itself once:
    plus (1 - k) V. Cost: memberships x columns, never the edges. A row in no group gets one of its own.

    Parameters
    ----------
    incidence : scipy CSR of ones, shape (rows, groups)
    """

    def __init__(self, incidence: sp.csr_array) -> None:
        self.rows = incidence.shape[0]
        incidence = with_own_groups(incidence)
        counts = np.diff(incidence.indptr)
        self.groups = Bags(sp.csr_array(incidence.T.tocsr()))
        self.single: Tensor | None = None
        self.several: Bags | None = None
        self.correction: Tensor | None = None
        if counts.size == 0 or counts.max() == 1:
            # the common case: one group per node, so that giving back is a plain row look-up
            self.single = torch.from_numpy(incidence.indices.astype(np.int64))
        else:
            self.several = Bags(incidence)
            self.correction = torch.from_numpy((1 - counts).astype(np.float64))[:, None]

    def __call__(self, values: Tensor) -> Tensor:
        sums = self.groups(values)
        if self.single is not None:
            return sums.index_select(0, self.single)
        assert self.several is not None
        assert self.correction is not None
        return self.several(sums).addcmul_(self.correction.to(values.dtype), values)

    def transposed(self, values: Tensor) -> Tensor:
        """S itself: sharing a group is mutual."""
        return self(values)

    def to(self, device: torch.device) -> MembershipSum:
        moved = MembershipSum.__new__(MembershipSum)
        moved.rows = self.rows
        moved.groups = self.groups.to(device)
        moved.single = None if self.single is None else self.single.to(device)
        moved.several = None if self.several is None else self.several.to(device)
        moved.correction = None if self.correction is None else self.correction.to(device)
        return moved


class GroupSum(NeighbourhoodSum):
    """S where every node is in one group, with one row per group instead of one per node.

    All members of a group hear the same, so what attention gives them is equal and need be computed once. From then
    on a group can stand for its members: the mean over equal rows is that row, so a further hop needs no sum at all.

    Parameters
    ----------
    incidences : sequence of scipy CSR of ones, each of shape (nodes, groups)
        One per layer; no node in two groups. Layers are padded with empty groups to the same number of them.

    Attributes
    ----------
    size : int
        Groups per layer after padding: ``outputs = layers * size``.
    member_of : tensor of int, shape (rows,)
        The output row of each row.
    """

    def __init__(self, incidences: list[sp.csr_array]) -> None:
        filled = [with_own_groups(one) for one in incidences]
        self.size = max((one.shape[1] for one in filled), default=0)
        codes = [one.indices + layer * self.size for layer, one in enumerate(filled)]
        member_of = np.concatenate(codes).astype(np.int64) if codes else np.zeros(0, np.int64)
        self.rows = member_of.size
        ones = np.ones(self.rows, dtype=np.float32)
        shape = (len(filled) * self.size, self.rows)
        self.groups = Bags(sp.csr_array((ones, (member_of, np.arange(self.rows))), shape=shape))
        self.member_of = torch.from_numpy(member_of)

    @property
    def outputs(self) -> int:
        """One row per group, padded."""
        return self.groups.bags

    def __call__(self, values: Tensor) -> Tensor:
        return self.groups(values)

    def transposed(self, values: Tensor) -> Tensor:
        """Each member is given its group's row."""
        return values.index_select(0, self.member_of)

    def to(self, device: torch.device) -> GroupSum:
        moved = GroupSum.__new__(GroupSum)
        moved.rows, moved.size = self.rows, self.size
        moved.groups, moved.member_of = self.groups.to(device), self.member_of.to(device)
        return moved


def with_own_groups(incidence: sp.csr_array) -> sp.csr_array:
    """The incidence with a further group for every row that is in none."""
    rows = incidence.shape[0]
    alone = np.flatnonzero(np.diff(incidence.indptr) == 0)
    if not alone.size:
        return incidence
    ones = np.ones(alone.size)
    own = sp.csr_array((ones, (alone, np.arange(alone.size))), shape=(rows, alone.size))
    return sp.csr_array(sp.hstack([incidence, own], format="csr"))
