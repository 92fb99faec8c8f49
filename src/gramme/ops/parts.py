"""Neighbourhood sums of the rows of one process, whose neighbours may be anywhere.

- *Edges*: the rows of the halo are fetched while the own rows are summed; gradients travel back along the same lists.
- *Memberships*: each process sums its members of a group, and the sums of groups that several processes share are
  added up. No row travels.
- *The supra graph*: a node's copies live together, so that pillars are local; couplings are edges.

Every sum here is a collective: all processes take it together, and in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from gramme._types import Ints

from .communicator import Communicator
from .neighbourhood import NeighbourhoodSum, SparseRowSum, hold

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
    sizes : array of int, shape (processes,)
        The nodes of each process.
    communicator : Communicator
    """

    matrix: sp.csr_array
    owner: Ints
    row: Ints
    sizes: Ints
    communicator: Communicator

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
        return replace(self, matrix=narrowed, owner=self.owner[used - inside], row=self.row[used - inside])


def stacked_links(links: list[Links]) -> Links:
    """Links of several layers as one, the rows of the first layer first."""
    if len(links) == 1:
        return links[0]
    own = links[0].rows
    halos = [one.owner.size for one in links]
    owner = np.concatenate([one.owner for one in links])
    row = np.concatenate([one.row + place * one.sizes[one.owner] for place, one in enumerate(links)])
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
    return replace(links[0], matrix=matrix, owner=owner[order], row=row[order])


class Exchange(nn.Module):
    """Brings values of the halo's rows, and takes gradients back; agreed on once between all processes.

    A module, so that its lists move with the sum that it serves.
    """

    rows_sent: Tensor

    def __init__(self, links: Links) -> None:
        super().__init__()
        self.communicator = communicator = links.communicator
        owner, row = links.owner, links.row
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


class PartEdgeSum(NeighbourhoodSum):
    """S for the edges of one process's rows. Cost: its edges x columns, and the halo's rows x columns to fetch.

    ``symmetric`` says whether the edges of all processes together go both ways. ``outputs`` are the rows whose sums are
    wanted; every process says some or none does.
    """

    supports_subset = True

    def __init__(
        self, links: Links, *, symmetric: bool, outputs: Ints | None = None, include_self: bool = True
    ) -> None:
        super().__init__(links.communicator)
        self.rows = links.rows
        own = sp.eye_array(self.rows, format="csr", dtype=links.matrix.dtype)
        if outputs is not None:
            links, own, symmetric = links.at(outputs), own[outputs], False
        self.outputs, self.symmetric = links.rows, symmetric
        inside = sp.csr_array(links.matrix[:, : self.rows])
        inside = sp.csr_array(inside + own) if include_self else inside
        self.heard = SparseRowSum(inside)
        self.listeners = self.heard if symmetric else SparseRowSum(sp.csr_array(inside.T.tocsr()))
        self.exchange = Exchange(links)
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


def _turned(matrix: sp.csr_array) -> sp.csr_array:
    return sp.csr_array(matrix.T.tocsr())
