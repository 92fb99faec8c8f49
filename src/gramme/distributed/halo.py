"""The halo: the rows of other processes that the edges of this one lead to, and how they come and go.

A process that owns rows 0 .. n - 1 numbers the rows it needs of others n, n + 1, ..., sorted by their owner. It tells
each owner once which of its rows it needs; from then on values flow along these lists, and gradients back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gramme.distributed.world import World
from gramme.ops.bags import hold

Ints = NDArray[np.int64]


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
            (matrix.data, number[matrix.indices], matrix.indptr),
            shape=(matrix.shape[0], inside + used.size),
        )
        return Links(narrowed, self.owner[used - inside], self.row[used - inside])


def stacked_links(links: list[Links], sizes: Ints) -> Links:
    """Links of several layers as one, the rows of the first layer first.

    Parameters
    ----------
    links : list of Links
        Each over the same rows of this process.
    sizes : array of int, shape (processes,)
        Rows per layer of every process.
    """
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
        number = np.concatenate(
            [np.arange(own) + place * own, rows + renamed[start : start + halo]]
        )
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

    A module, so that its lists move with the sum that it serves.

    Parameters
    ----------
    world : World
    owner, row : array of int, shape (halo,)
        As of :class:`Links`.
    """

    rows_sent: Tensor

    def __init__(self, world: World, owner: Ints, row: Ints) -> None:
        super().__init__()
        self.world = world
        self.receive = np.bincount(owner, minlength=world.size).tolist()
        asked, handle = world.exchange(
            torch.from_numpy(np.bincount(owner, minlength=world.size).astype(np.int64)),
            [1] * world.size,
            [1] * world.size,
        )
        self.send: list[int] = world.finish((asked, handle), torch.int64).tolist()
        wanted = torch.from_numpy(row.astype(np.int64))
        asked_for = world.finish(world.exchange(wanted, self.receive, self.send), torch.int64)
        hold(self, "rows_sent", asked_for)
        self.largest = int(world.largest(max(sum(self.receive), sum(self.send))))

    def start(self, values: Tensor) -> Any:
        """Begin to fetch the halo's rows of some values; the own part of a sum can run meanwhile."""
        return self.world.exchange(values.index_select(0, self.rows_sent), self.send, self.receive)

    def finish(self, started: Any, values: Tensor) -> Tensor:
        """The halo's rows, shape (halo, columns)."""
        return self.world.finish(started, values.dtype)

    def start_back(self, gradients: Tensor) -> Any:
        """Begin to send what the halo's rows get, shape (halo, columns), to their owners."""
        return self.world.exchange(gradients, self.receive, self.send)

    def finish_back(self, started: Any, sums: Tensor) -> Tensor:
        """Add what others sent to the own rows, in place."""
        return sums.index_add_(0, self.rows_sent, self.world.finish(started, sums.dtype))

    def peers(self) -> Iterator[tuple[slice, slice, list[int], list[int]]]:
        """Rounds in which each process fetches from one other alone: halo rows, rows sent, and both counts."""
        size, rank = self.world.size, self.world.rank
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
