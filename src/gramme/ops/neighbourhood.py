"""The neighbourhood sum, the one thing attention needs from a graph.

For a value per node and column, ``V`` of shape (rows, columns),

    S(V)_i = V_i + sum over j in N(i) of c_ij V_j,

where N(i) are the nodes that i listens to and c_ij is the weight of the edge (1 where there are none). Every kind of
layer supplies S and its transpose as cheaply as its structure allows; nothing per edge is ever stored but the
structure itself. Rows are the nodes of one layer, or the copies of the nodes in several layers stacked.

On the CPU the sums run as ``embedding_bag``, whose compiled kernel gathers and adds rows without reading a matrix of
ones: 1.2 to 1.6 times faster here than a sparse product (``benchmarks/bench_attention.py`` prints the ratio).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor


class NeighbourhoodSum(ABC):
    """S and its transpose for one structure of ``rows`` rows. Plain arithmetic: gradients are the caller's business."""

    rows: int

    @abstractmethod
    def __call__(self, values: Tensor) -> Tensor:
        """S(V) for values of shape (rows, columns)."""

    @abstractmethod
    def transposed(self, values: Tensor) -> Tensor:
        """The transpose of S applied to values of shape (rows, columns)."""

    @abstractmethod
    def to(self, device: torch.device) -> Self:
        """The same structure on another device."""


class Bags:
    """Rows that are sums of other rows: output b is the weighted sum of the members of bag b.

    Parameters
    ----------
    matrix : scipy CSR, shape (bags, inputs)
        Row b holds the members of bag b and their weights; weights that are all 1 are not stored.
    """

    def __init__(self, matrix: sp.csr_array) -> None:
        kind = np.int32 if max(matrix.nnz, *matrix.shape) < 2**31 else np.int64
        self.members = torch.from_numpy(matrix.indices.astype(kind))
        self.offsets = torch.from_numpy(matrix.indptr.astype(kind))
        plain = bool((matrix.data == 1).all())
        self.weights = None if plain else torch.from_numpy(matrix.data.astype(np.float64))

    def __call__(self, values: Tensor) -> Tensor:
        """The sum of each bag, shape (bags, columns)."""
        weights = None
        if self.weights is not None:
            if self.weights.dtype != values.dtype:
                # kept in double precision until the first use says which precision is wanted
                self.weights = self.weights.to(values.dtype)
            weights = self.weights
        return F.embedding_bag(
            self.members,
            values.contiguous(),
            self.offsets,
            mode="sum",
            per_sample_weights=weights,
            include_last_offset=True,
        )

    def to(self, device: torch.device) -> Bags:
        """The same bags on another device."""
        moved = Bags.__new__(Bags)
        moved.members = self.members.to(device)
        moved.offsets = self.offsets.to(device)
        moved.weights = None if self.weights is None else self.weights.to(device)
        return moved


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

    def to(self, device: torch.device) -> EdgeSum:
        moved = EdgeSum.__new__(EdgeSum)
        moved.rows = self.rows
        moved.forward = self.forward.to(device)
        same = self.backward is self.forward
        moved.backward = moved.forward if same else self.backward.to(device)
        return moved


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
        counts = np.diff(incidence.indptr)
        alone = np.flatnonzero(counts == 0)
        if alone.size:
            own = sp.csr_array(
                (np.ones(alone.size), (alone, np.arange(alone.size))),
                shape=(self.rows, alone.size),
            )
            incidence = sp.csr_array(sp.hstack([incidence, own], format="csr"))
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
        assert self.several is not None and self.correction is not None
        if self.correction.dtype != values.dtype:
            self.correction = self.correction.to(values.dtype)
        return self.several(sums).addcmul_(self.correction, values)

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
