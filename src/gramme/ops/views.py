"""Attention over views: every way in which nodes listen to others, in compact rows.

A *view* is one way to listen in a layer: to those a node's edges point to, to those whose edges point to it, or to the
groups it belongs to. Most nodes have nobody to listen to in most views of a graph with many layers, so views are
stacked without empty rows: a row stands for a node that hears somebody in a view, and a source for somebody who is
heard there. What a view without neighbours would say is never computed and dilutes nothing.

A node does not hear itself here. The rest is the attention of :mod:`gramme.ops.attention`: nothing is stored per edge.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gramme.ops.attention import attention_sums
from gramme.ops.neighbourhood import NeighbourhoodSum, SparseRowSum, linear

Positions = NDArray[np.int64]


class SparseSum(NeighbourhoodSum):
    """A sparse matrix as a neighbourhood sum: nobody hears itself unless the matrix says so.

    ``matrix`` (outputs, rows).
    """

    def __init__(self, matrix: sp.csr_array) -> None:
        super().__init__()
        self.outputs, self.rows = matrix.shape
        self.heard = SparseRowSum(matrix)
        self.listeners = SparseRowSum(sp.csr_array(matrix.T.tocsr()))

    def forward(self, values: Tensor) -> Tensor:
        return self.heard(values)

    def transposed(self, values: Tensor) -> Tensor:
        return self.listeners(values)

    def sums(self, values: Tensor) -> Tensor:
        """The same with a gradient."""
        return linear(values, self, self.transposed)


class StackedViews(nn.Module):
    """Several views below each other, each without the nodes that hear nobody and the sources that nobody hears.

    ``matrices`` (listeners, sources): How strongly each node listens to each source. Views may share their sources or
    have sources of their own; ``starts``: Where the sources of each view begin in the table of all sources; 0 if not
    given; ``num_sources``: Rows of the table of all sources; those of the first view if not given.

    ``row_counts``, ``source_counts``: Rows and sources of each view; ``rows``: The listener that each row stands for;
    ``sources``: Where each source stands in the table of all sources.
    """

    rows: Tensor
    sources: Tensor

    def __init__(
        self, matrices: Sequence[sp.csr_array], starts: Sequence[int] | None = None, num_sources: int | None = None
    ) -> None:
        super().__init__()
        listeners = matrices[0].shape[0] if matrices else 0
        starts = [0] * len(matrices) if starts is None else starts
        total = num_sources
        if total is None:
            total = matrices[0].shape[1] if matrices else 0
        rows: list[Positions] = []
        sources: list[Positions] = []
        blocks: list[sp.csr_array] = []
        for matrix, start in zip(matrices, starts, strict=True):
            row = np.flatnonzero(np.diff(matrix.indptr))
            source = np.unique(matrix.indices).astype(np.int64)
            blocks.append(sp.csr_array(sp.csr_array(matrix[row])[:, source]))
            rows.append(row)
            sources.append(source + start)
        self.row_counts, self.source_counts = [len(r) for r in rows], [len(s) for s in sources]
        row, source = np.concatenate([*rows, []]), np.concatenate([*sources, []])
        row, source = row.astype(np.int64), source.astype(np.int64)
        diagonal = sp.csr_array((0, 0)) if not blocks else sp.block_diag(blocks, format="csr")
        self.sum = SparseSum(sp.csr_array(diagonal))
        self.gather = SparseSum(_selection(source, total))
        self.join = SparseSum(sp.csr_array(_selection(row, listeners).T.tocsr()))
        self.register_buffer("rows", torch.from_numpy(row), persistent=False)
        self.register_buffer("sources", torch.from_numpy(source), persistent=False)

    def attend(self, values: Tensor, scores: Tensor) -> Tensor:
        """Attention-weighted means of what the sources say, (rows, columns).

        ``values`` (sources, columns); ``scores`` (sources,).
        """
        sums, totals = attention_sums(values[:, None], scores[:, None], self.sum)
        return (sums / totals[..., None])[:, 0]

    def by_view(self, values: Tensor, *, sources: bool = False) -> tuple[Tensor, ...]:
        """Rows, or sources, of each view apart."""
        return torch.split(values, self.source_counts if sources else self.row_counts)


def _selection(positions: Positions, count: int) -> sp.csr_array:
    """The matrix that takes some positions of ``count``, one a row."""
    ones = np.ones(positions.size, dtype=np.float32)
    pointer = np.arange(positions.size + 1)
    return sp.csr_array((ones, positions, pointer), shape=(positions.size, count))
