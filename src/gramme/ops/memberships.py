"""Neighbourhood sums of nodes that share groups, without the edges that this implies.

With the incidence B (rows x groups), whose entry w_ig says how strongly i belongs to g (1 as a rule), two nodes are
joined by the weight sum over g of w_ig w_jg. Then

    S(V)_i = V_i + sum over g of w_ig sum over j in g, j != i, of w_jg V_j
           = (B B^T V)_i + (1 - sum over g of w_ig^2) V_i.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gramme.ops.bags import Bags, hold
from gramme.ops.neighbourhood import NeighbourhoodSum

MAX_OWN_SHARE = 64.0
"""A node's own term B B^T adds and the correction takes away again. Where it is more than so many times the rest,
rounding in single precision would show, and the sum runs in double precision."""


MANY_MEMBERSHIPS = 2_000_000
"""From which groups are summed for the outputs alone; below, the sums of all groups cost little and serve everybody."""


class MembershipSum(NeighbourhoodSum):
    """S for nodes that share groups: sum each group, then give each node the sums of its groups.

    Cost: memberships x columns, never the edges; of some outputs, the memberships of their groups. A row in no group
    gets one of its own.

    Parameters
    ----------
    incidence : scipy CSR, shape (rows, groups)
        How strongly each row belongs to each group; ones as a rule.
    outputs : array of int, optional
        The rows whose sums are wanted; all if not given.
    """

    correction: Tensor | None
    chosen: Tensor | None

    def __init__(self, incidence: sp.csr_array, outputs: NDArray[np.int64] | None = None) -> None:
        super().__init__()
        incidence = with_own_groups(incidence)
        wanted = incidence if outputs is None else sp.csr_array(incidence[outputs])
        self.rows, self.outputs = incidence.shape[0], wanted.shape[0]
        self.cheaper_in_part = incidence.nnz > MANY_MEMBERSHIPS and not self.across_processes
        self.in_double = self._rounding_shows(incidence)
        # one group per node is the common case: giving back is a plain row look-up, with nothing to correct
        plain = one_each(incidence)
        back = _Lookup if plain else Bags
        if outputs is not None and self.cheaper_in_part:
            # what nobody among the outputs hears is not summed; rows in none of the groups left get nothing back
            heard = np.unique(wanted.indices)
            incidence, wanted = sp.csr_array(incidence[:, heard]), sp.csr_array(wanted[:, heard])
            back = Bags
        own = 1 - np.asarray(wanted.power(2).sum(axis=1), dtype=np.float64).reshape(-1, 1)
        self.groups, self.back = Bags(sp.csr_array(incidence.T.tocsr())), back(wanted)
        # the transpose takes from the outputs and gives to all rows
        self.taken, self.back_to_all = self.groups, self.back
        if outputs is not None:
            self.taken, self.back_to_all = Bags(sp.csr_array(wanted.T.tocsr())), back(incidence)
        hold(self, "correction", None if plain else torch.from_numpy(own))
        hold(self, "chosen", None if outputs is None else torch.as_tensor(outputs))

    def forward(self, values: Tensor) -> Tensor:
        work = values.double() if self.in_double else values
        sums = self.back(self._whole(self.groups(work)))
        if self.correction is not None:
            own = work if self.chosen is None else work.index_select(0, self.chosen)
            sums.addcmul_(self.correction.to(work.dtype), own)
        return sums.to(values.dtype)

    def transposed(self, values: Tensor) -> Tensor:
        """S itself where all outputs are wanted, since sharing a group is mutual."""
        if self.chosen is None:
            return self.forward(values)
        work = values.double() if self.in_double else values
        sums = self.back_to_all(self._whole(self.taken(work)))
        if self.correction is not None:
            sums.index_add_(0, self.chosen, work * self.correction.to(work.dtype))
        return sums.to(values.dtype)

    def _whole(self, sums: Tensor) -> Tensor:
        """Sums of groups over all their members, wherever these are; here all are."""
        return sums

    def _rounding_shows(self, incidence: sp.csr_array) -> bool:
        """Whether some row's own term in B B^T is so large that single precision would lose the rest."""
        if (incidence.data == 1).all():
            return False
        return (
            own_share(incidence, np.asarray(incidence.sum(axis=0), np.float64).ravel())
            > MAX_OWN_SHARE
        )


class _Lookup(nn.Module):
    """Gives each row the sum of its one group."""

    codes: Tensor

    def __init__(self, incidence: sp.csr_array) -> None:
        super().__init__()
        hold(self, "codes", torch.from_numpy(incidence.indices.astype(np.int64)))

    def forward(self, sums: Tensor) -> Tensor:
        return sums.index_select(0, self.codes)


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

    member_of: Tensor

    def __init__(self, incidences: Sequence[sp.csr_array]) -> None:
        super().__init__()
        filled = [with_own_groups(one) for one in incidences]
        if not all(one_each(one) for one in filled):
            raise ValueError(
                "a group can stand for its members only where memberships are 1 and single"
            )
        self.size = max((one.shape[1] for one in filled), default=0)
        codes = [one.indices + layer * self.size for layer, one in enumerate(filled)]
        member_of = np.concatenate(codes).astype(np.int64) if codes else np.zeros(0, np.int64)
        self.rows = member_of.size
        self.outputs = len(filled) * self.size
        ones = np.ones(self.rows, dtype=np.float32)
        shape = (self.outputs, self.rows)
        self.groups = Bags(sp.csr_array((ones, (member_of, np.arange(self.rows))), shape=shape))
        hold(self, "member_of", torch.from_numpy(member_of))

    def forward(self, values: Tensor) -> Tensor:
        return self.groups(values)

    def transposed(self, values: Tensor) -> Tensor:
        """Each member is given its group's row."""
        return values.index_select(0, self.member_of)

    def to_members(self, values: Tensor) -> Tensor:
        """Each member's copy of its group's row, which every process that has members of the group holds."""
        return values.index_select(0, self.member_of)

    def of_members(self, values: Tensor) -> Tensor:
        """The sums over the members that are here: the transpose of :meth:`to_members`."""
        return self.groups(values)


def one_each(incidence: sp.csr_array) -> bool:
    """Whether no row is in two groups and every membership counts 1.

    >>> one_each(sp.csr_array([[1.0, 0.0], [0.0, 0.0]])), one_each(sp.csr_array([[0.5]]))
    (True, False)
    """
    single = np.diff(incidence.indptr).max(initial=0) <= 1
    return bool(single and (incidence.data == 1).all())


def without_single_members(incidence: sp.csr_array) -> sp.csr_array:
    """The incidence without the groups that nobody shares: they join no two rows, and a row's own term is 1 anyway.

    >>> without_single_members(sp.csr_array([[1.0, 1.0], [1.0, 0.0]])).toarray().tolist()
    [[1.0], [1.0]]
    """
    shared = np.bincount(incidence.indices, minlength=incidence.shape[1]) > 1
    return incidence if shared.all() else sp.csr_array(incidence[:, np.flatnonzero(shared)])


def with_own_groups(incidence: sp.csr_array) -> sp.csr_array:
    """The incidence with a further group for every row that is in none."""
    rows = incidence.shape[0]
    alone = np.flatnonzero(np.diff(incidence.indptr) == 0)
    if not alone.size:
        return incidence
    ones = np.ones(alone.size)
    own = sp.csr_array((ones, (alone, np.arange(alone.size))), shape=(rows, alone.size))
    return sp.csr_array(sp.hstack([incidence, own], format="csr"))


def own_share(incidence: sp.csr_array, sums: NDArray[np.float64]) -> float:
    """The largest ratio of a row's own term in B B^T to all else that it hears, with the sums of the groups."""
    own = np.asarray(incidence.power(2).sum(axis=1)).ravel()
    everything = incidence @ sums
    return float((own / np.maximum(1 + everything - own, 1)).max(initial=0.0))
