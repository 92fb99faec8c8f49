"""Bags: rows that are sums of other rows, the compiled loop under every neighbourhood sum.

They run as torch's ``embedding_bag``, whose kernel gathers and adds rows without reading a matrix of ones: 1.2 to 1.6
times faster on a CPU than a sparse product (``benchmarks/bench_attention.py`` prints the ratio).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor

CHUNK = 4096
"""Members that are added one after the other. A larger bag is cut into chunks whose sums are added in turn: the
rounding error grows with the chunk, not with the bag, and one large bag can occupy many threads."""


class Bags:
    """Output b is the weighted sum of the members of bag b.

    Parameters
    ----------
    matrix : scipy CSR, shape (bags, inputs)
        Row b holds the members of bag b and their weights; weights that are all 1 are not stored.
    """

    def __init__(self, matrix: sp.csr_array) -> None:
        kind = np.int32 if max(matrix.nnz, *matrix.shape) < 2**31 else np.int64
        self.bags = int(matrix.shape[0])
        self.members = torch.from_numpy(matrix.indices.astype(kind))
        plain = bool((matrix.data == 1).all())
        self.weights = None if plain else torch.from_numpy(matrix.data.astype(np.float64))
        offsets, chunks = _chunked(matrix.indptr)
        self.offsets = torch.from_numpy(offsets.astype(kind))
        self.joint = None if chunks is None else Bags(chunks)
        self._single: Tensor | None = None

    def __call__(self, values: Tensor) -> Tensor:
        """The sum of each bag, shape (bags, columns)."""
        if not self.members.numel():
            return values.new_zeros(self.bags, values.shape[1])
        sums = F.embedding_bag(
            self.members,
            values.contiguous(),
            self.offsets,
            mode="sum",
            per_sample_weights=self._weights_like(values),
            include_last_offset=True,
        )
        return sums if self.joint is None else self.joint(sums)

    def matrix(self, inputs: int) -> sp.csr_array:
        """The bags as they were given, for as many inputs."""
        members = self.members.cpu().numpy()
        weights = (
            np.ones(members.size, np.float32)
            if self.weights is None
            else self.weights.cpu().numpy()
        )
        return sp.csr_array((weights, members, self._ends().cpu().numpy()), (self.bags, inputs))

    def _ends(self) -> Tensor:
        """Where the members of each bag begin and the last one's end, whatever it is cut into."""
        return self.offsets if self.joint is None else self.offsets[self.joint._ends().long()]

    def _weights_like(self, values: Tensor) -> Tensor | None:
        if self.weights is None or self.weights.dtype == values.dtype:
            return self.weights
        if self._single is None or self._single.dtype != values.dtype:
            self._single = self.weights.to(values.dtype)
        return self._single

    def to(self, device: torch.device) -> Bags:
        """The same bags on another device."""
        moved = Bags.__new__(Bags)
        moved.bags = self.bags
        moved.members = self.members.to(device)
        moved.offsets = self.offsets.to(device)
        moved.weights = None if self.weights is None else self.weights.to(device)
        moved.joint = None if self.joint is None else self.joint.to(device)
        moved._single = None
        return moved


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
