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
        """The links of some listeners; the rows that none of them needs are gone from the halo."""
        if outputs is None:
            return self
        output_matrix = sp.csr_array(self.matrix[outputs])
        own_columns = self.matrix.shape[1] - self.owner.size
        used_halo = np.unique(output_matrix.indices)
        used_halo = used_halo[used_halo >= own_columns]
        new_columns = np.zeros(self.matrix.shape[1], dtype=output_matrix.indices.dtype)
        new_columns[:own_columns] = np.arange(own_columns)
        new_columns[used_halo] = own_columns + np.arange(used_halo.size)
        narrowed_matrix = sp.csr_array(
            (output_matrix.data, new_columns[output_matrix.indices], output_matrix.indptr),
            shape=(output_matrix.shape[0], own_columns + used_halo.size),
        )
        return replace(
            self,
            matrix=narrowed_matrix,
            owner=self.owner[used_halo - own_columns],
            row=self.row[used_halo - own_columns],
        )


def stacked_links(links: list[Links]) -> Links:
    """Links of several layers as one, the rows of the first layer first."""
    if len(links) == 1:
        return links[0]
    own_rows = links[0].rows
    halo_sizes = [one.owner.size for one in links]
    halo_owner = np.concatenate([one.owner for one in links])
    halo_row = np.concatenate([one.row + place * one.sizes[one.owner] for place, one in enumerate(links)])
    owner_order = np.argsort(halo_owner, kind="stable")
    new_halo = np.empty(owner_order.size, dtype=np.int64)
    new_halo[owner_order] = np.arange(owner_order.size)
    row_count = len(links) * own_rows
    index_type = np.int32 if row_count + owner_order.size < 2**31 else np.int64
    indices, halo_start = [], 0
    for place, (one, halo) in enumerate(zip(links, halo_sizes, strict=True)):
        new_columns = np.concatenate(
            [np.arange(own_rows) + place * own_rows, row_count + new_halo[halo_start : halo_start + halo]]
        )
        indices.append(new_columns.astype(index_type)[one.matrix.indices])
        halo_start += halo
    row_entries = [np.diff(one.matrix.indptr).astype(np.int64) for one in links]
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(row_entries))])
    all_weights = np.concatenate([one.matrix.data for one in links])
    matrix_shape = (row_count, row_count + owner_order.size)
    stacked_matrix = sp.csr_array((all_weights, np.concatenate(indices), indptr), shape=matrix_shape)
    return replace(links[0], matrix=stacked_matrix, owner=halo_owner[owner_order], row=halo_row[owner_order])


class Exchange(nn.Module):
    """Brings values of the halo's rows, and takes gradients back; agreed on once between all processes.

    A module, so that its lists move with the sum that it serves.
    """

    rows_sent: Tensor

    def __init__(self, links: Links) -> None:
        super().__init__()
        self.communicator = communicator = links.communicator
        halo_owner, halo_row = links.owner, links.row
        row_counts, one_each = (
            np.bincount(halo_owner, minlength=communicator.size).astype(np.int64),
            [1] * communicator.size,
        )
        self.receive: list[int] = row_counts.tolist()
        asked_counts = communicator.exchange(torch.from_numpy(row_counts), one_each, one_each)
        self.send: list[int] = communicator.finish(asked_counts).tolist()
        wanted_rows = torch.from_numpy(halo_row.astype(np.int64))
        hold(self, "rows_sent", communicator.finish(communicator.exchange(wanted_rows, self.receive, self.send)))
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
        worker_count, own_rank = self.communicator.size, self.communicator.rank
        halo_bounds = np.concatenate([[0], np.cumsum(self.receive)])
        sent_bounds = np.concatenate([[0], np.cumsum(self.send)])
        for step in range(1, worker_count):
            source_rank, target_rank = (own_rank + step) % worker_count, (own_rank - step) % worker_count
            send_counts, receive_counts = [0] * worker_count, [0] * worker_count
            send_counts[target_rank], receive_counts[source_rank] = self.send[target_rank], self.receive[source_rank]
            yield (
                slice(int(halo_bounds[source_rank]), int(halo_bounds[source_rank + 1])),
                slice(int(sent_bounds[target_rank]), int(sent_bounds[target_rank + 1])),
                send_counts,
                receive_counts,
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
        self_rows = sp.eye_array(self.rows, format="csr", dtype=links.matrix.dtype)
        if outputs is not None:
            links, self_rows, symmetric = links.at(outputs), self_rows[outputs], False
        self.outputs, self.symmetric = links.rows, symmetric
        own_matrix = sp.csr_array(links.matrix[:, : self.rows])
        own_matrix = sp.csr_array(own_matrix + self_rows) if include_self else own_matrix
        self.heard = SparseRowSum(own_matrix)
        self.listeners = self.heard if symmetric else SparseRowSum(sp.csr_array(own_matrix.T.tocsr()))
        self.exchange = Exchange(links)
        self._outside = sp.csr_array(links.matrix[:, self.rows :])
        self.outside = SparseRowSum(self._outside)
        self.back: SparseRowSum | None = None if symmetric else SparseRowSum(_turned(self._outside))
        self._by_peer: list[tuple[SparseRowSum, SparseRowSum | None]] | None = None

    def forward(self, values: Tensor) -> Tensor:
        if self._too_large(values):
            return self._peer_by_peer(values)
        started_exchange = self.exchange.start(values)
        row_sums = self.heard(values)
        halo_rows = self.exchange.finish(started_exchange)
        return row_sums.add_(self.outside(halo_rows))

    def transposed(self, values: Tensor) -> Tensor:
        if self.symmetric:
            return self.forward(values)
        if self._too_large(values):
            return self._peer_by_peer_back(values)
        assert self.back is not None
        started_exchange = self.exchange.start_back(self.back(values))
        return self.exchange.finish_back(started_exchange, self.listeners(values))

    # Where the halo is large: from one process at a time

    def _too_large(self, values: Tensor) -> bool:
        halo_bytes = self.exchange.largest * values.shape[1] * values.element_size()
        return self.communicator.size > 2 and halo_bytes > MAX_HALO_BYTES

    def _peer_by_peer(self, values: Tensor) -> Tensor:
        row_sums = self.heard(values)
        for (peer_sum, _), (_, sent_slice, send_counts, receive_counts) in zip(
            self._peers(), self.exchange.peers(), strict=True
        ):
            sent_rows = values.index_select(0, self.exchange.rows_sent[sent_slice])
            fetched_rows = self.communicator.finish(self.communicator.exchange(sent_rows, send_counts, receive_counts))
            row_sums += peer_sum(fetched_rows)
        return row_sums

    def _peer_by_peer_back(self, values: Tensor) -> Tensor:
        row_sums = self.listeners(values)
        for (_, peer_back), (_, sent_slice, send_counts, receive_counts) in zip(
            self._peers(), self.exchange.peers(), strict=True
        ):
            assert peer_back is not None
            received_gradients = self.communicator.finish(
                self.communicator.exchange(peer_back(values), receive_counts, send_counts)
            )
            row_sums.index_add_(0, self.exchange.rows_sent[sent_slice], received_gradients)
        return row_sums

    def _peers(self) -> list[tuple[SparseRowSum, SparseRowSum | None]]:
        """The halo's part of the sum by the process it comes from, in the order of the rounds."""
        if self._by_peer is None:
            halo_columns = self._outside.tocsc()
            self._by_peer = []
            device = self.exchange.rows_sent.device
            for peer_slice, *_ in self.exchange.peers():
                peer_matrix = sp.csr_array(halo_columns[:, peer_slice].tocsr())
                peer_back = None if self.symmetric else SparseRowSum(_turned(peer_matrix)).to(device)
                self._by_peer.append((SparseRowSum(peer_matrix).to(device), peer_back))
        return self._by_peer


def _turned(matrix: sp.csr_array) -> sp.csr_array:
    return sp.csr_array(matrix.T.tocsr())
