"""What processes that work on one graph send each other: sums, extremes, rows; tensors and plain bytes, no pickles.

A process alone gets back what it gave, without any call.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor, nn

if TYPE_CHECKING:
    from gramme.graph import MultilayerGraph


Array = NDArray[Any]


class Communicator:
    """A process among those that work on one graph; every method is called by all of them alike.

    Attributes
    ----------
    rank, size : int
        Its number, from 0, and how many there are.
    sent, messages : int
        Bytes that this process has sent to others, and in how many messages; a ring of reductions has two per process.
    """

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size
        self.sent = self.messages = 0

    @property
    def first(self) -> bool:
        """Whether this is the process that writes and shows."""
        return self.rank == 0

    @property
    def alone(self) -> bool:
        """Whether there are no others."""
        return self.size == 1

    def __repr__(self) -> str:
        return f"Communicator(rank {self.rank} of {self.size})"

    # Sums and extremes over all processes; every process gets the same bits

    def all_sum_(self, values: Tensor) -> Tensor:
        """The sum over all processes, in place."""
        return self._reduce(values, dist.ReduceOp.SUM)

    def all_max_(self, values: Tensor) -> Tensor:
        """The largest over all processes, in place."""
        return self._reduce(values, dist.ReduceOp.MAX)

    def all_sum(self, values: Any) -> Any:
        """The sum over all processes of an array or a number, as a new one of the same kind."""
        return self._of_array(values, self.all_sum_)

    def all_max(self, values: Any) -> Any:
        """The largest over all processes of an array or a number, as a new one of the same kind."""
        return self._of_array(values, self.all_max_)

    def mean(self, values: Tensor, axis: int) -> Tensor:
        """The mean over the rows of all processes, which lie along an axis."""
        if self.alone:
            return values.mean(axis)
        return self.all_sum_(values.sum(axis)) / int(self.all_sum(values.shape[axis]))

    def any(self, flag: bool) -> bool:
        """Whether some process says yes."""
        return bool(flag) if self.alone else bool(self.all_max(int(flag)))

    def _reduce(self, values: Tensor, how: Any) -> Tensor:
        if not self.alone and values.numel():
            dist.all_reduce(values, how)
            # a ring of reductions sends each number about twice, less the own share
            self._count(2 * values.nbytes * (self.size - 1) // self.size, 2 * (self.size - 1))
        return values

    def _of_array(self, values: Any, reduce_: Any) -> Any:
        if self.alone:
            return values
        given_array = np.asarray(values)
        reduced_array = reduce_(torch.from_numpy(np.array(given_array)).reshape(-1)).numpy().reshape(given_array.shape)
        return reduced_array if isinstance(values, np.ndarray) else reduced_array.item()

    # Rows

    def exchange(self, rows: Tensor, send: Sequence[int], receive: Sequence[int]) -> tuple[Tensor, Any]:
        """Start to send the first ``send[0]`` rows to process 0, the next to process 1, ...; call ``finish`` for them.

        Returns
        -------
        received, handle
            To be passed to :meth:`finish`; the tensor is not filled before.
        """
        if self.alone:
            return rows, None
        received_rows = rows.new_empty(sum(receive), *rows.shape[1:])
        other_counts = [count for rank, count in enumerate(send) if count and rank != self.rank]
        self._count(rows[:1].nbytes * sum(other_counts), len(other_counts))
        handle = dist.all_to_all_single(received_rows, rows.contiguous(), list(receive), list(send), async_op=True)
        return received_rows, handle

    @staticmethod
    def finish(started: tuple[Tensor, Any]) -> Tensor:
        """The rows that others sent, once they are here."""
        received_rows, handle = started
        if handle is not None:
            handle.wait()
        return received_rows

    def gather(self, rows: Array) -> list[Array]:
        """The rows of every process, of any number and of a plain kind."""
        if self.alone:
            return [rows]
        row_counts = np.zeros(self.size, dtype=np.int64)
        row_counts[self.rank] = rows.shape[0]
        row_counts = self.all_sum(row_counts)
        flat_rows = np.ascontiguousarray(rows).reshape(-1)
        row_bytes = math.prod(rows.shape[1:]) * rows.itemsize
        byte_buffer = torch.zeros(max(int(row_counts.max()) * row_bytes, 1), dtype=torch.uint8)
        if flat_rows.nbytes:
            byte_buffer[: flat_rows.nbytes] = torch.frombuffer(bytearray(flat_rows), dtype=torch.uint8)
        all_buffers = [torch.empty_like(byte_buffer) for _ in range(self.size)]
        dist.all_gather(all_buffers, byte_buffer)
        self._count(byte_buffer.nbytes * (self.size - 1), self.size - 1)
        return [
            rank_buffer.numpy()[: row_count * row_bytes].view(rows.dtype).reshape(row_count, *rows.shape[1:])
            for rank_buffer, row_count in zip(all_buffers, row_counts.tolist(), strict=True)
        ]

    def gather_to_first(self, rows: Array) -> list[Array] | None:
        """The rows of every process at the first one; None at the others."""
        if self.alone:
            return [rows]
        row_counts = np.zeros(self.size, dtype=np.int64)
        row_counts[self.rank] = rows.shape[0]
        row_counts = self.all_sum(row_counts)
        if not self.first:
            if rows.size:
                dist.send(_bytes_of(rows), 0)
                self._count(rows.nbytes, 1)
            return None
        rank_rows = [rows]
        for rank in range(1, self.size):
            received_rows = np.empty((int(row_counts[rank]), *rows.shape[1:]), dtype=rows.dtype)
            if received_rows.size:
                byte_buffer = torch.empty(received_rows.nbytes, dtype=torch.uint8)
                dist.recv(byte_buffer, rank)
                received_rows = byte_buffer.numpy().view(rows.dtype).reshape(received_rows.shape)
            rank_rows.append(received_rows)
        return rank_rows

    def gather_text(self, text: str) -> list[str]:
        """The text of every process."""
        if self.alone:
            return [text]
        text_bytes = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
        return [rank_bytes.tobytes().decode("utf-8", "surrogatepass") for rank_bytes in self.gather(text_bytes)]

    def broadcast(self, values: Array | None, dtype: Any = np.uint8) -> Array:
        """A one-dimensional array of the first process at all of them."""
        if self.alone:
            assert values is not None
            return values
        value_count = int(self.all_sum(0 if values is None or not self.first else values.size))
        value_buffer = np.zeros(value_count, dtype=dtype)
        if self.first and values is not None:
            value_buffer[:] = values
        if value_count:
            byte_tensor = _bytes_of(value_buffer)
            dist.broadcast(byte_tensor, 0)
            self._count(byte_tensor.nbytes if self.first else 0, 1 if self.first else 0)
            value_buffer = byte_tensor.numpy().view(dtype)
        return value_buffer

    def _count(self, sent: int, messages: int) -> None:
        self.sent += sent
        self.messages += messages

    def barrier(self) -> None:
        """Wait until all processes have come here."""
        self.all_sum(0)  # torch's barrier would want a graphics card where there are some


def _bytes_of(rows: Array) -> Tensor:
    return torch.from_numpy(np.array(rows, order="C").reshape(-1).view(np.uint8))


SINGLE_PROCESS = Communicator()
"""The communicator of a process without others."""


def communicator_of(graph: MultilayerGraph) -> Communicator:
    """The processes that hold the parts of a graph; :data:`SINGLE_PROCESS` for a graph that is whole."""
    graph_communicator: Communicator = getattr(graph, "communicator", SINGLE_PROCESS)
    return graph_communicator


def add_up_gradients(network: nn.Module, communicator: Communicator) -> None:
    """Add up the gradients of all processes in one collective, whatever their number.

    Which parameters have a gradient is the same at all processes: they follow the same program.
    """
    if communicator.alone:
        return
    own_gradients = [one.grad for one in network.parameters() if one.grad is not None]
    flat_gradient = communicator.all_sum_(torch.cat([one.flatten() for one in own_gradients]))
    first_number = 0
    for parameter_gradient in own_gradients:
        parameter_gradient.copy_(
            flat_gradient[first_number : first_number + parameter_gradient.numel()].view_as(parameter_gradient)
        )
        first_number += parameter_gradient.numel()
