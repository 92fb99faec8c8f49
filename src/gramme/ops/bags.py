"""Bags: rows that are sums of other rows, the compiled loop under every neighbourhood sum.

They run as torch's ``embedding_bag``, whose kernel gathers and adds rows without reading a matrix of ones: 1.2 to 1.6
times faster on a CPU than a sparse product, and more than twice as fast where the rows lie out of cache
(``benchmarks/bench_attention.py`` prints the ratios, parts f and g).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from gramme.ops.compiled import compiled

CHUNK = 4096
"""Members that are added one after the other. A larger bag is cut into chunks whose sums are added in turn: the
rounding error grows with the chunk, not with the bag, and one large bag can occupy many threads."""


class Bags(nn.Module):
    """Output b is the weighted sum of the members of bag b.

    Parameters
    ----------
    matrix : scipy CSR, shape (bags, inputs)
        Row b holds the members of bag b and their weights; weights that are all 1 are not stored.
    """

    members: Tensor
    offsets: Tensor
    weights: Tensor | None
    _rounded: Tensor | None

    def __init__(self, matrix: sp.csr_array) -> None:
        super().__init__()
        kind = np.int32 if max(matrix.nnz, *matrix.shape) < 2**31 else np.int64
        self.bags = int(matrix.shape[0])
        plain = bool((matrix.data == 1).all())
        weights = None if plain else torch.from_numpy(matrix.data.astype(np.float64))
        offsets, chunks = _chunked(matrix.indptr)
        hold(self, "members", torch.from_numpy(matrix.indices.astype(kind)))
        hold(self, "offsets", torch.from_numpy(offsets.astype(kind)))
        hold(self, "weights", weights)
        hold(self, "_rounded", None)  # the weights in the precision of the last values
        self.joint = None if chunks is None else Bags(chunks)

    def forward(self, values: Tensor) -> Tensor:
        """The sum of each bag, shape (bags, columns)."""
        if not self.members.numel():
            return values.new_zeros(self.bags, values.shape[1])
        if self._slow_in_torch(values):
            sums = values.new_zeros(self.offsets.numel() - 1, values.shape[1])
            _add_members(
                values.contiguous().numpy(),
                self.members.numpy(),
                self.offsets.numpy(),
                sums.numpy(),
            )
            return sums if self.joint is None else self.joint(sums)
        sums = F.embedding_bag(
            self.members,
            values.contiguous(),
            self.offsets,
            mode="sum",
            per_sample_weights=self._weights_like(values),
            include_last_offset=True,
        )
        return sums if self.joint is None else self.joint(sums)

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
    sizes = np.diff(indptr).astype(np.int64)
    if sizes.max(initial=0) <= CHUNK:
        return indptr, None
    pieces = np.maximum(1, -(-sizes // CHUNK))
    ends = np.concatenate([[0], np.cumsum(pieces)])
    place = np.arange(ends[-1]) - np.repeat(ends[:-1], pieces)
    starts = np.repeat(indptr[:-1].astype(np.int64), pieces) + CHUNK * place
    offsets = np.concatenate([starts, indptr[-1:]])
    ones = np.ones(ends[-1], dtype=np.float32)
    return offsets, sp.csr_array((ones, np.arange(ends[-1]), ends), shape=(sizes.size, ends[-1]))


@compiled
def _add_members(
    values: NDArray[np.float64],
    members: NDArray[np.int64],
    offsets: NDArray[np.int64],
    sums: NDArray[np.float64],
) -> None:
    """Add each bag's members to its row of the sums, one after the other."""
    for bag in range(offsets.size - 1):
        for place in range(offsets[bag], offsets[bag + 1]):
            row = members[place]
            for column in range(values.shape[1]):
                sums[bag, column] += values[row, column]
