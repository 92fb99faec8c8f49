"""Neighbourhood sums of the rows of one process, whose neighbours may be anywhere.

- *Edges*: the rows of the halo are fetched while the own rows are summed; gradients travel back along the same lists.
- *Memberships*: each process sums its members of a group, and the sums of groups that several processes share are
  added up. No row travels.
- *The supra graph*: a node's copies live together, so that pillars are local; couplings are edges.

Every sum here is a collective: all processes take it together, and in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from gramme._types import Ints
from gramme.ops import GroupSum, MembershipSum, NeighbourhoodSum, SideBySide, SparseRowSum, SupraSum
from gramme.ops.neighbourhood import MAX_OWN_SHARE, hold, own_share, with_own_groups

from .communicator import Communicator

# The halo: the rows of other processes that the edges of this one lead to, and how they come and
# go.


@dataclass(frozen=True)
class Links:
    """Who listens to whom among the rows of one process and those of others.

    Attributes
    ----------
    matrix : scipy CSR, shape (rows, rows + halo)
        The weight with which a row listens to each of its own process's rows and, after them, of the halo.
    owner, row : array of int, shape (halo,)
        The process that has a row of the halo, in ascending order, and which of its rows it is.
    """

    matrix: sp.csr_array
    owner: Ints
    row: Ints

    @property
    def rows(self) -> int:
        """Rows of this process."""
        return int(self.matrix.shape[0])

    def at(self, outputs: Ints | None) -> Links:
        """The same for some listeners; the rows that none of them needs are gone from the halo."""
        if outputs is None:
            return self
        matrix = sp.csr_array(self.matrix[outputs])
        inside = self.matrix.shape[1] - self.owner.size
        used = np.unique(matrix.indices)
        used = used[used >= inside]
        number = np.zeros(self.matrix.shape[1], dtype=matrix.indices.dtype)
        number[:inside] = np.arange(inside)
        number[used] = inside + np.arange(used.size)
        narrowed = sp.csr_array(
            (matrix.data, number[matrix.indices], matrix.indptr), shape=(matrix.shape[0], inside + used.size)
        )
        return Links(narrowed, self.owner[used - inside], self.row[used - inside])


def stacked_links(links: list[Links], sizes: Ints) -> Links:
    """Links of several layers as one, the rows of the first layer first; ``sizes`` are the rows of each process."""
    if len(links) == 1:
        return links[0]
    own = links[0].rows
    halos = [one.owner.size for one in links]
    owner = np.concatenate([one.owner for one in links])
    row = np.concatenate([one.row + place * sizes[one.owner] for place, one in enumerate(links)])
    order = np.argsort(owner, kind="stable")
    renamed = np.empty(order.size, dtype=np.int64)
    renamed[order] = np.arange(order.size)
    rows = len(links) * own
    kind = np.int32 if rows + order.size < 2**31 else np.int64
    indices, start = [], 0
    for place, (one, halo) in enumerate(zip(links, halos, strict=True)):
        number = np.concatenate([np.arange(own) + place * own, rows + renamed[start : start + halo]])
        indices.append(number.astype(kind)[one.matrix.indices])
        start += halo
    counts = [np.diff(one.matrix.indptr).astype(np.int64) for one in links]
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    data = np.concatenate([one.matrix.data for one in links])
    shape = (rows, rows + order.size)
    matrix = sp.csr_array((data, np.concatenate(indices), indptr), shape=shape)
    return Links(matrix, owner[order], row[order])


class Exchange(nn.Module):
    """Brings values of the halo's rows, and takes gradients back; agreed on once between all processes.

    A module, so that its lists move with the sum that it serves. ``owner`` and ``row`` are those of :class:`Links`.
    """

    rows_sent: Tensor

    def __init__(self, communicator: Communicator, owner: Ints, row: Ints) -> None:
        super().__init__()
        self.communicator = communicator
        counts, one_each = np.bincount(owner, minlength=communicator.size).astype(np.int64), [1] * communicator.size
        self.receive: list[int] = counts.tolist()
        asked = communicator.exchange(torch.from_numpy(counts), one_each, one_each)
        self.send: list[int] = communicator.finish(asked).tolist()
        wanted = torch.from_numpy(row.astype(np.int64))
        hold(self, "rows_sent", communicator.finish(communicator.exchange(wanted, self.receive, self.send)))
        self.largest = int(communicator.all_max(max(sum(self.receive), sum(self.send))))

    def start(self, values: Tensor) -> Any:
        """Begin to fetch the halo's rows of some values; the own part of a sum can run meanwhile."""
        return self.communicator.exchange(values.index_select(0, self.rows_sent), self.send, self.receive)

    def finish(self, started: Any) -> Tensor:
        """The halo's rows, shape (halo, columns)."""
        return self.communicator.finish(started)

    def start_back(self, gradients: Tensor) -> Any:
        """Begin to send what the halo's rows get, shape (halo, columns), to their owners."""
        return self.communicator.exchange(gradients, self.receive, self.send)

    def finish_back(self, started: Any, sums: Tensor) -> Tensor:
        """Add what others sent to the own rows, in place."""
        return sums.index_add_(0, self.rows_sent, self.communicator.finish(started))

    def peers(self) -> Iterator[tuple[slice, slice, list[int], list[int]]]:
        """Rounds in which each process fetches from one other alone: halo rows, rows sent, and both counts."""
        size, rank = self.communicator.size, self.communicator.rank
        takes = np.concatenate([[0], np.cumsum(self.receive)])
        gives = np.concatenate([[0], np.cumsum(self.send)])
        for step in range(1, size):
            source, target = (rank + step) % size, (rank - step) % size
            send, receive = [0] * size, [0] * size
            send[target], receive[source] = self.send[target], self.receive[source]
            yield (
                slice(int(takes[source]), int(takes[source + 1])),
                slice(int(gives[target]), int(gives[target + 1])),
                send,
                receive,
            )


MAX_HALO_BYTES = 1 << 28
"""Beyond so many bytes the halo is not held at once: its rows come process by process and are added up."""


class AcrossProcesses(NeighbourhoodSum):
    """What every sum of a part asks the other processes."""

    across_processes = True

    def __init__(self, communicator: Communicator, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.communicator = communicator

    def range_of(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        columns = scores.shape[1:]
        if scores.numel():
            low, high = scores.aminmax(dim=0)
        else:
            low = scores.new_full(columns, torch.inf)
            high = -low
        both = self.communicator.all_max_(torch.stack([-low, high]))
        return -both[0], both[1]

    def levels_of(self, bands: Tensor) -> list[float]:
        found = np.array(sorted(set(bands.flatten().tolist())), dtype=np.float64)
        every: list[float] = np.unique(np.concatenate(self.communicator.gather(found))).tolist()
        return every

    def anywhere(self, flag: bool) -> bool:
        return self.communicator.any(flag)


class PartEdgeSum(AcrossProcesses):
    """S for the edges of one process's rows. Cost: its edges x columns, and the halo's rows x columns to fetch.

    ``symmetric`` says whether the edges of all processes together go both ways. ``outputs`` are the rows whose sums are
    wanted; every process says some or none does.
    """

    supports_subset = True

    def __init__(
        self,
        communicator: Communicator,
        links: Links,
        *,
        symmetric: bool,
        outputs: Ints | None = None,
        include_self: bool = True,
    ) -> None:
        super().__init__(communicator)
        self.rows = links.rows
        own = sp.eye_array(self.rows, format="csr", dtype=links.matrix.dtype)
        if outputs is not None:
            links, own, symmetric = links.at(outputs), own[outputs], False
        self.outputs, self.symmetric = links.rows, symmetric
        inside = sp.csr_array(links.matrix[:, : self.rows])
        inside = sp.csr_array(inside + own) if include_self else inside
        self.heard = SparseRowSum(inside)
        self.listeners = self.heard if symmetric else SparseRowSum(sp.csr_array(inside.T.tocsr()))
        self.exchange = Exchange(communicator, links.owner, links.row)
        self._outside = sp.csr_array(links.matrix[:, self.rows :])
        self.outside = SparseRowSum(self._outside)
        self.back: SparseRowSum | None = None if symmetric else SparseRowSum(_turned(self._outside))
        self._by_peer: list[tuple[SparseRowSum, SparseRowSum | None]] | None = None

    def forward(self, values: Tensor) -> Tensor:
        if self._too_large(values):
            return self._peer_by_peer(values)
        started = self.exchange.start(values)
        sums = self.heard(values)
        halo = self.exchange.finish(started)
        return sums.add_(self.outside(halo))

    def transposed(self, values: Tensor) -> Tensor:
        if self.symmetric:
            return self.forward(values)
        if self._too_large(values):
            return self._peer_by_peer_back(values)
        assert self.back is not None
        started = self.exchange.start_back(self.back(values))
        return self.exchange.finish_back(started, self.listeners(values))

    # Where the halo is large: from one process at a time

    def _too_large(self, values: Tensor) -> bool:
        size = self.exchange.largest * values.shape[1] * values.element_size()
        return self.communicator.size > 2 and size > MAX_HALO_BYTES

    def _peer_by_peer(self, values: Tensor) -> Tensor:
        sums = self.heard(values)
        for (bags, _), (_, given, send, receive) in zip(self._peers(), self.exchange.peers(), strict=True):
            rows = values.index_select(0, self.exchange.rows_sent[given])
            fetched = self.communicator.finish(self.communicator.exchange(rows, send, receive))
            sums += bags(fetched)
        return sums

    def _peer_by_peer_back(self, values: Tensor) -> Tensor:
        sums = self.listeners(values)
        for (_, back), (_, given, send, receive) in zip(self._peers(), self.exchange.peers(), strict=True):
            assert back is not None
            came = self.communicator.finish(self.communicator.exchange(back(values), receive, send))
            sums.index_add_(0, self.exchange.rows_sent[given], came)
        return sums

    def _peers(self) -> list[tuple[SparseRowSum, SparseRowSum | None]]:
        """The halo's part of the sum by the process it comes from, in the order of the rounds."""
        if self._by_peer is None:
            columns = self._outside.tocsc()
            self._by_peer = []
            device = self.exchange.rows_sent.device
            for taken, *_ in self.exchange.peers():
                some = sp.csr_array(columns[:, taken].tocsr())
                back = None if self.symmetric else SparseRowSum(_turned(some)).to(device)
                self._by_peer.append((SparseRowSum(some).to(device), back))
        return self._by_peer


class SharedGroups(nn.Module):
    """Adds up the sums of groups that have members on several processes.

    ``shared`` has the number of each group here among all ``count`` that are shared, -1 for one that is not.
    """

    here: Tensor
    number: Tensor

    def __init__(self, communicator: Communicator, shared: Ints, count: int) -> None:
        super().__init__()
        self.communicator, self.count = communicator, count
        here = np.flatnonzero(shared >= 0)
        hold(self, "here", torch.from_numpy(here))
        hold(self, "number", torch.from_numpy(shared[here]))

    def whole_(self, sums: Tensor) -> Tensor:
        """Sums over all members from sums over those here, in place."""
        if not self.count:
            return sums
        buffer = sums.new_zeros(self.count, *sums.shape[1:])
        buffer.index_copy_(0, self.number, sums.index_select(0, self.here))
        self.communicator.all_sum_(buffer)
        return sums.index_copy_(0, self.here, buffer.index_select(0, self.number))


def padded(shared: Ints, groups: int) -> Ints:
    """Shared numbers for more groups than have one: those that were added are nobody else's."""
    return np.concatenate([shared, np.full(groups - shared.size, -1, dtype=np.int64)])


class PartMembershipSum(AcrossProcesses, MembershipSum):
    """S for the members that one process has of groups; the sums of those it shares are added up."""

    def __init__(
        self, communicator: Communicator, incidence: sp.csr_array, shared: Ints, count: int, outputs: Ints | None = None
    ) -> None:
        super().__init__(communicator, incidence, outputs)
        self._groups = SharedGroups(communicator, padded(shared, self.groups.bags), count)
        self.in_double = self._rounding_shows_somewhere(with_own_groups(incidence))

    def _whole(self, sums: Tensor) -> Tensor:
        return self._groups.whole_(sums)

    def _rounding_shows(self, incidence: sp.csr_array) -> bool:
        return False  # asked below, by all processes together

    def _rounding_shows_somewhere(self, incidence: sp.csr_array) -> bool:
        if not self.communicator.any(bool((incidence.data != 1).any())):
            return False
        here = torch.from_numpy(np.asarray(incidence.sum(axis=0), dtype=np.float64).reshape(-1, 1))
        sums = self._groups.whole_(here).numpy().ravel()
        return self.communicator.any(own_share(incidence, sums) > MAX_OWN_SHARE)


class PartGroupSum(AcrossProcesses, GroupSum):
    """S with one row per group that has members here; a shared group's row is at every process that has members.

    Gradients of a shared group's row come in parts, one from each of these processes, and are added up on the way back.
    """

    def __init__(
        self,
        communicator: Communicator,
        incidences: Sequence[sp.csr_array],
        shared: Sequence[Ints],
        counts: Sequence[int],
    ) -> None:
        super().__init__(communicator, incidences)
        numbers, start = [], 0
        for one, count in zip(shared, counts, strict=True):
            numbers.append(padded(np.where(one >= 0, one + start, -1), self.size))
            start += count
        every = np.concatenate(numbers) if numbers else np.zeros(0, np.int64)
        self._groups = SharedGroups(communicator, every, start)

    def forward(self, values: Tensor) -> Tensor:
        return self._groups.whole_(self.groups(values))

    def transposed(self, values: Tensor) -> Tensor:
        return self._groups.whole_(values.clone()).index_select(0, self.member_of)


class PartSideBySide(AcrossProcesses, SideBySide):
    """Several structures of a part one below the other."""


class PartSupraSum(AcrossProcesses, SupraSum):
    """S on the supra graph of a part: a node's copies are all here."""


def _turned(matrix: sp.csr_array) -> sp.csr_array:
    return sp.csr_array(matrix.T.tocsr())
