"""The neighbourhood sum, the one thing attention needs from a graph.

For a value per node and column, ``V`` of shape (rows, columns),

    S(V)_i = V_i + sum over j in N(i) of c_ij V_j,

where N(i) are the nodes that i listens to and c_ij is the weight of the edge (1 where there are none). Every kind of
layer supplies S and its transpose as cheaply as its structure allows; nothing per edge is ever stored but the
structure itself. Rows are the nodes of one layer, or the copies of the nodes in several layers stacked.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from gramme.errors import DataError

from .communicator import SINGLE_PROCESS, Communicator
from .kernels import compiled

# A linear map with a gradient, and gradients in general: compiled code has first derivatives only.
Backward = TypeVar("Backward", bound=Callable[..., Any])


def first_derivatives(backward: Backward) -> Backward:
    """Refuse second derivatives in the backward pass of an autograd function, where they would be lost in silence."""

    @wraps(backward)
    def guarded(ctx: Any, *grads: Tensor) -> Any:
        if torch.is_grad_enabled():
            raise DataError(
                "compiled attention has first derivatives only, so create_graph=True, as a gradient penalty needs it, "
                'cannot go through it; take kernels="torch"'
            )
        return backward(ctx, *grads)

    return cast(Backward, guarded)


def linear(values: Tensor, forth: Callable[[Tensor], Tensor], back: Callable[[Tensor], Tensor]) -> Tensor:
    """A linear map of values whose gradient is the transposed map, ``back``."""
    if plain_torch():
        return forth(values)
    mapped_values: Tensor = _Linear.apply(values, forth, back)  # type: ignore[no-untyped-call]
    return mapped_values


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, values: Tensor, forth: Callable[[Tensor], Tensor], back: Callable[[Tensor], Tensor]
    ) -> Tensor:
        ctx.back = back
        return forth(values)

    @staticmethod
    @first_derivatives
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        return ctx.back(grads[0]), None, None


_PLAIN: ContextVar[bool] = ContextVar("gramme_plain_torch", default=False)


def plain_torch() -> bool:
    """Whether everything is to be computed by torch's own operations: within :func:`in_plain_torch`."""
    return _PLAIN.get()


@contextmanager
def in_plain_torch(wanted: bool = True) -> Iterator[None]:
    """Within this, attention is made of torch's own operations, to be exported, vmapped or differentiated twice.

    Slower than compiled kernels. Scores should be within 700 of each other.
    """
    before = _PLAIN.set(wanted)
    try:
        yield
    finally:
        _PLAIN.reset(before)


class NeighbourhoodSum(nn.Module, ABC):
    """S and its transpose for one structure. Plain arithmetic: gradients are the caller's business.

    A module, so that ``.to(device)`` moves it. It has no parameters and adds nothing to a ``state_dict``.

    Attributes
    ----------
    rows : int
        Rows of V.
    outputs : int
        Rows of S(V): those of V, unless only some are wanted or rows that hear the same are kept once.
    supports_subset : bool
        Whether S for some of its outputs costs less than S for all, as with edges. The sums of groups serve everybody,
        unless there are millions of memberships.
    communicator : Communicator
        The processes that hold the rows; several must ask for the same sums in the same order.
    featured : bool
        Whether there are weights that are learned from features, so that attention goes by ``weighted``, as
        ``FeatureSum`` has it.
    """

    rows: int
    outputs: int
    supports_subset: bool = False
    featured: bool = False

    def __init__(self, communicator: Communicator = SINGLE_PROCESS) -> None:
        super().__init__()
        self.communicator = communicator

    @abstractmethod
    def forward(self, values: Tensor) -> Tensor:
        """S(V), shape (outputs, columns), for values of shape (rows, columns)."""

    @abstractmethod
    def transposed(self, values: Tensor) -> Tensor:
        """The transpose of S, shape (rows, columns), for values of shape (outputs, columns)."""

    def range_of(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """The lowest and the highest of each column over the rows of all processes."""
        if scores.numel():
            lowest_scores, highest_scores = scores.aminmax(dim=0)
        else:
            highest_scores = scores.new_full(scores.shape[1:], 0 if self.communicator.alone else -torch.inf)
            lowest_scores = -highest_scores
        score_bounds = self.communicator.all_max_(torch.stack([-lowest_scores, highest_scores]))
        return -score_bounds[0], score_bounds[1]

    def levels_of(self, bands: Tensor) -> list[float]:
        """The distinct numbers among the rows of all processes, ascending."""
        own_levels = np.array(sorted(set(bands.flatten().tolist())), dtype=np.float64)
        all_levels: list[float] = np.unique(np.concatenate(self.communicator.gather(own_levels))).tolist()
        return all_levels

    def entry_weights(self, layer: int, coefficients: Tensor, bound: float | None) -> Tensor | None:
        """What features multiply each edge or membership of a layer with, (entries, heads); None without features."""
        return None

    if TYPE_CHECKING:

        def __call__(self, values: Tensor) -> Tensor: ...

    def __repr__(self) -> str:
        some = "" if self.outputs == self.rows else f", {self.outputs} outputs"
        return f"{type(self).__name__}({self.rows} rows{some})"


class EdgeSum(NeighbourhoodSum):
    """S for explicit edges: each row's bag holds the row itself and its neighbours. Cost: edges x columns.

    ``adjacency`` (rows, rows): Entry (i, j) is the weight with which i listens to j; the diagonal is empty;
    ``symmetric``: Whether the matrix equals its transpose, which then needs no copy of its own; ``outputs``: The rows
    whose sums are wanted; all if not given; ``include_self``: Whether V_i is part of the sum; without it these are
    further edges for another structure.
    """

    supports_subset = True

    def __init__(
        self,
        adjacency: sp.csr_array,
        *,
        symmetric: bool,
        outputs: NDArray[np.int64] | None = None,
        include_self: bool = True,
    ) -> None:
        super().__init__()
        self.rows = adjacency.shape[0]
        self_rows = sp.eye_array(self.rows, format="csr")
        if outputs is not None:
            adjacency, self_rows, symmetric = adjacency[outputs], self_rows[outputs], False
        listening_matrix = sp.csr_array(adjacency + self_rows) if include_self else sp.csr_array(adjacency)
        self.outputs = listening_matrix.shape[0]
        self.heard = SparseRowSum(listening_matrix)
        self.listeners = self.heard if symmetric else SparseRowSum(sp.csr_array(listening_matrix.T.tocsr()))

    def forward(self, values: Tensor) -> Tensor:
        return self.heard(values)

    def transposed(self, values: Tensor) -> Tensor:
        return self.listeners(values)


# SparseRowSum: rows that are sums of other rows, the compiled loop under every neighbourhood sum.
CHUNK = 4096
"""Members that are added one after the other. A larger bag is cut into chunks whose sums are added in turn: the
rounding error grows with the chunk, not with the bag, and one large bag can occupy many threads."""


class SparseRowSum(nn.Module):
    """Output b is the weighted sum of the members of bag b.

    ``matrix`` (bags, inputs): Row b holds the members of bag b and their weights; weights that are all 1 are not
    stored.
    """

    members: Tensor
    offsets: Tensor
    weights: Tensor | None
    _rounded: Tensor | None

    def __init__(self, matrix: sp.csr_array) -> None:
        super().__init__()
        index_type = np.int32 if max(matrix.nnz, *matrix.shape) < 2**31 else np.int64
        self.bags = int(matrix.shape[0])
        unweighted = bool((matrix.data == 1).all())
        member_weights = None if unweighted else torch.from_numpy(matrix.data.astype(np.float64))
        offsets, chunk_matrix = _chunked(matrix.indptr)
        hold(self, "members", torch.from_numpy(matrix.indices.astype(index_type)))
        hold(self, "offsets", torch.from_numpy(offsets.astype(index_type)))
        hold(self, "weights", member_weights)
        hold(self, "_rounded", None)  # the weights in the precision of the last values
        self.joint = None if chunk_matrix is None else SparseRowSum(chunk_matrix)

    def forward(self, values: Tensor) -> Tensor:
        """The sum of each bag, shape (bags, columns)."""
        if not self.members.numel():
            return values.new_zeros(self.bags, values.shape[1])
        if plain_torch():
            member_values = values.index_select(0, self.members)
            if self.weights is not None:
                member_values = member_values * self.weights[:, None].to(values.dtype)
            return values.new_zeros(self.bags, values.shape[1]).index_add(0, self.bag_of_members(), member_values)
        if self._slow_in_torch(values):
            bag_sums = values.new_zeros(self.offsets.numel() - 1, values.shape[1])
            _add_members(values.contiguous().numpy(), self.members.numpy(), self.offsets.numpy(), bag_sums.numpy())
            return bag_sums if self.joint is None else self.joint(bag_sums)
        bag_sums = F.embedding_bag(
            self.members,
            values.contiguous(),
            self.offsets,
            mode="sum",
            per_sample_weights=self._weights_like(values),
            include_last_offset=True,
        )
        return bag_sums if self.joint is None else self.joint(bag_sums)

    def bag_of_members(self) -> Tensor:
        """The bag of each member."""
        member_places = torch.arange(self.members.numel(), dtype=self.offsets.dtype, device=self.members.device)
        member_chunk = torch.searchsorted(self.offsets, member_places, right=True) - 1
        return member_chunk if self.joint is None else self.joint.bag_of_members().index_select(0, member_chunk)

    def _slow_in_torch(self, values: Tensor) -> bool:
        """Torch has no quick sum of doubles without weights: a loop of our own takes a tenth of its time."""
        return (
            self.weights is None
            and values.dtype == torch.float64
            and values.device.type == "cpu"
            and not values.requires_grad
        )

    if TYPE_CHECKING:

        def __call__(self, values: Tensor) -> Tensor: ...

    def _weights_like(self, values: Tensor) -> Tensor | None:
        if self.weights is None or self.weights.dtype == values.dtype:
            return self.weights
        if self._rounded is None or self._rounded.dtype != values.dtype:
            self._rounded = self.weights.to(values.dtype)
        return self._rounded


def hold(module: nn.Module, name: str, tensor: Tensor | None) -> None:
    """Keep a tensor that moves with its module but is not saved with the network."""
    module.register_buffer(name, tensor, persistent=False)


def _chunked(indptr: np.ndarray) -> tuple[np.ndarray, sp.csr_array | None]:
    """Where chunks start, and which chunks make a bag; the bags themselves where none is large."""
    bag_sizes = np.diff(indptr).astype(np.int64)
    if bag_sizes.max(initial=0) <= CHUNK:
        return indptr, None
    chunk_counts = np.maximum(1, -(-bag_sizes // CHUNK))
    chunk_ends = np.concatenate([[0], np.cumsum(chunk_counts)])
    chunk_place = np.arange(chunk_ends[-1]) - np.repeat(chunk_ends[:-1], chunk_counts)
    chunk_starts = np.repeat(indptr[:-1].astype(np.int64), chunk_counts) + CHUNK * chunk_place
    chunk_offsets = np.concatenate([chunk_starts, indptr[-1:]])
    chunk_weights = np.ones(chunk_ends[-1], dtype=np.float32)
    return chunk_offsets, sp.csr_array(
        (chunk_weights, np.arange(chunk_ends[-1]), chunk_ends), shape=(bag_sizes.size, chunk_ends[-1])
    )


@compiled
def _add_members(
    values: NDArray[np.float64], members: NDArray[np.int64], offsets: NDArray[np.int64], sums: NDArray[np.float64]
) -> None:
    """Add each bag's members to its row of the sums, one after the other."""
    for bag in range(offsets.size - 1):
        for place in range(offsets[bag], offsets[bag + 1]):
            row = members[place]
            for column in range(values.shape[1]):
                sums[bag, column] += values[row, column]


# Neighbourhood sums of nodes that share groups, without the edges that this implies.
MAX_OWN_SHARE = 64.0
"""A node's own term B B^T adds and the correction takes away again. Where it is more than so many times the rest,
rounding in single precision would show, and the sum runs in double precision."""


MANY_MEMBERSHIPS = 2_000_000
"""From which groups are summed for the outputs alone; below, the sums of all groups cost little and serve everybody."""


class MembershipSum(NeighbourhoodSum):
    """S for nodes that share groups: sum each group, then give each node the sums of its groups.

    Cost: memberships x columns, never the edges; of some outputs, the memberships of their groups. A row in no group
    gets one of its own.

    ``incidence`` (rows, groups): How strongly each row belongs to each group; ones as a rule; ``outputs``: The rows
    whose sums are wanted; all if not given; ``shared``: The groups that other processes have members of.
    """

    correction: Tensor | None
    chosen: Tensor | None

    def __init__(
        self, incidence: sp.csr_array, outputs: NDArray[np.int64] | None = None, shared: SharedGroups | None = None
    ) -> None:
        super().__init__(SINGLE_PROCESS if shared is None else shared.communicator)
        self.shared = shared
        incidence = with_own_groups(incidence)
        output_incidence = incidence if outputs is None else sp.csr_array(incidence[outputs])
        self.rows, self.outputs = incidence.shape[0], output_incidence.shape[0]
        self.supports_subset = incidence.nnz > MANY_MEMBERSHIPS and self.communicator.alone
        self.in_double = self._rounding_shows(incidence)
        # one group per node is the common case: giving back is a plain row look-up, with nothing to correct
        single_groups = one_each(incidence)
        give_back = _Lookup if single_groups else SparseRowSum
        if outputs is not None and self.supports_subset:
            # what nobody among the outputs hears is not summed; rows in none of the groups left get nothing back
            heard_groups = np.unique(output_incidence.indices)
            incidence, output_incidence = (
                sp.csr_array(incidence[:, heard_groups]),
                sp.csr_array(output_incidence[:, heard_groups]),
            )
            give_back = SparseRowSum
        own_correction = 1 - np.asarray(output_incidence.power(2).sum(axis=1), dtype=np.float64).reshape(-1, 1)
        self.groups, self.back = SparseRowSum(sp.csr_array(incidence.T.tocsr())), give_back(output_incidence)
        # the transpose takes from the outputs and gives to all rows
        self.taken, self.to_all_nodes = self.groups, self.back
        if outputs is not None:
            self.taken, self.to_all_nodes = (
                SparseRowSum(sp.csr_array(output_incidence.T.tocsr())),
                give_back(incidence),
            )
        hold(self, "correction", None if single_groups else torch.from_numpy(own_correction))
        hold(self, "chosen", None if outputs is None else torch.as_tensor(outputs))

    def forward(self, values: Tensor) -> Tensor:
        work_values = values.double() if self.in_double else values
        row_sums = self.back(whole_(self.groups(work_values), self.shared))
        if self.correction is not None:
            own_values = work_values if self.chosen is None else work_values.index_select(0, self.chosen)
            row_sums.addcmul_(self.correction.to(work_values.dtype), own_values)
        return row_sums.to(values.dtype)

    def transposed(self, values: Tensor) -> Tensor:
        """S itself where all outputs are wanted, since sharing a group is mutual."""
        if self.chosen is None:
            return self.forward(values)
        work_values = values.double() if self.in_double else values
        row_sums = self.to_all_nodes(whole_(self.taken(work_values), self.shared))
        if self.correction is not None:
            row_sums.index_add_(0, self.chosen, work_values * self.correction.to(work_values.dtype))
        return row_sums.to(values.dtype)

    def _rounding_shows(self, incidence: sp.csr_array) -> bool:
        """Whether some row's own term in B B^T is so large that single precision would lose the rest."""
        if not self.communicator.any(bool((incidence.data != 1).any())):
            return False
        local_sums = torch.from_numpy(np.array(incidence.sum(axis=0), dtype=np.float64).reshape(-1, 1))
        group_sums = whole_(local_sums, self.shared).numpy().ravel()
        return self.communicator.any(own_share(incidence, group_sums) > MAX_OWN_SHARE)


class SharedGroups(nn.Module):
    """Adds up the sums of groups that have members on several processes.

    ``shared`` has the number of each group here among all ``count`` that are shared, -1 for one that is not.
    """

    here: Tensor
    number: Tensor

    def __init__(self, communicator: Communicator, shared: NDArray[np.int64], count: int) -> None:
        super().__init__()
        self.communicator, self.count = communicator, count
        shared_here = np.flatnonzero(shared >= 0)
        hold(self, "here", torch.from_numpy(shared_here))
        hold(self, "number", torch.from_numpy(shared[shared_here]))

    def whole_(self, sums: Tensor) -> Tensor:
        """Sums over all members from sums over those here, in place."""
        if not self.count:
            return sums
        buffer = sums.new_zeros(self.count, *sums.shape[1:])
        buffer.index_copy_(0, self.number, sums.index_select(0, self.here))
        self.communicator.all_sum_(buffer)
        return sums.index_copy_(0, self.here, buffer.index_select(0, self.number))


def whole_(sums: Tensor, shared: SharedGroups | None) -> Tensor:
    """Sums of groups over all their members, wherever these are, from sums over those here, in place."""
    return sums if shared is None else shared.whole_(sums)


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

    ``incidences`` (nodes, groups): One per layer; no node in two groups. Layers are padded with empty groups to the
    same number of them. ``shared``: The output rows of groups that other processes have members of. Each of these has
    such a row and gets a part of its gradient; the parts are added up on the way back.

    ``size``: Groups per layer after padding: ``outputs = layers * size``; ``member_of`` (rows,): The output row of each
    row.
    """

    member_of: Tensor

    def __init__(self, incidences: Sequence[sp.csr_array], shared: SharedGroups | None = None) -> None:
        super().__init__(SINGLE_PROCESS if shared is None else shared.communicator)
        self.shared = shared
        filled_incidences = [with_own_groups(one) for one in incidences]
        if not all(one_each(one) for one in filled_incidences):
            raise ValueError("a group can stand for its members only where memberships are 1 and single")
        self.size = max((one.shape[1] for one in filled_incidences), default=0)
        group_codes = [one.indices + layer * self.size for layer, one in enumerate(filled_incidences)]
        member_of = np.concatenate(group_codes).astype(np.int64) if group_codes else np.zeros(0, np.int64)
        self.rows = member_of.size
        self.outputs = len(filled_incidences) * self.size
        ones = np.ones(self.rows, dtype=np.float32)
        shape = (self.outputs, self.rows)
        self.groups = SparseRowSum(sp.csr_array((ones, (member_of, np.arange(self.rows))), shape=shape))
        hold(self, "member_of", torch.from_numpy(member_of))

    def forward(self, values: Tensor) -> Tensor:
        return whole_(self.groups(values), self.shared)

    def transposed(self, values: Tensor) -> Tensor:
        """Each member is given its group's row."""
        group_rows = values if self.shared is None else self.shared.whole_(values.clone())
        return group_rows.index_select(0, self.member_of)

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
    single_groups = np.diff(incidence.indptr).max(initial=0) <= 1
    return bool(single_groups and (incidence.data == 1).all())


def without_single_members(incidence: sp.csr_array) -> sp.csr_array:
    """The incidence without the groups that nobody shares: they join no two rows, and a row's own term is 1 anyway.

    >>> without_single_members(sp.csr_array([[1.0, 1.0], [1.0, 0.0]])).toarray().tolist()
    [[1.0], [1.0]]
    """
    is_shared = np.bincount(incidence.indices, minlength=incidence.shape[1]) > 1
    return incidence if is_shared.all() else sp.csr_array(incidence[:, np.flatnonzero(is_shared)])


def with_own_groups(incidence: sp.csr_array) -> sp.csr_array:
    """The incidence with a further group for every row that is in none."""
    rows = incidence.shape[0]
    lone_rows = np.flatnonzero(np.diff(incidence.indptr) == 0)
    if not lone_rows.size:
        return incidence
    ones = np.ones(lone_rows.size)
    own_groups = sp.csr_array((ones, (lone_rows, np.arange(lone_rows.size))), shape=(rows, lone_rows.size))
    return sp.csr_array(sp.hstack([incidence, own_groups], format="csr"))


def own_share(incidence: sp.csr_array, sums: NDArray[np.float64]) -> float:
    """The largest ratio of a row's own term in B B^T to all else that it hears, with the sums of the groups."""
    own_terms = np.asarray(incidence.power(2).sum(axis=1)).ravel()
    all_terms = incidence @ sums
    return float((own_terms / np.maximum(1 + all_terms - own_terms, 1)).max(initial=0.0))


def spread(values: Tensor, groups: GroupSum) -> Tensor:
    """From one row per group, (layers, size, ...), to one per node, (layers, nodes, ...)."""
    result = linear(values.flatten(0, 1).flatten(1), groups.to_members, groups.of_members)
    return result.view(values.shape[0], -1, *values.shape[2:])
