"""Features of which most are zero: words, tags, counts. They are kept as entries up to the first product.

A network multiplies its features with weights and needs them nowhere else. So a matrix of a million nodes and a hundred
thousand words is never made: a product costs entries x columns of the result, and its gradient, which goes to the
weights alone, as much. Dense columns may stand beside them; they are multiplied as such.
"""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable


class SparseFeatures:
    """Features (nodes, members, columns) as entries that all members share, until dropout gives each its own.

    It has what networks ask of a tensor of features: ``shape``, ``dim``, ``device`` and ``repeat``.

    Parameters
    ----------
    matrix : scipy sparse, shape (nodes, columns)
    members : int
    device : torch.device, optional
    beside : tensor, shape (nodes, more columns), optional
        Dense columns after the sparse ones, the same for all members.
    """

    def __init__(
        self,
        matrix: Any,
        members: int,
        device: torch.device | None = None,
        beside: Tensor | None = None,
    ) -> None:
        entries = sp.csr_array(matrix)
        turned = sp.csr_array(
            (np.arange(entries.nnz), entries.indices, entries.indptr), shape=entries.shape
        ).tocsc()
        more = 0 if beside is None else int(beside.shape[1])
        self._columns = int(entries.shape[1])
        self.shape = (int(entries.shape[0]), members, self._columns + more)
        self._forth = _places(entries.indices, entries.indptr, device)
        self._back = _places(turned.indices, turned.indptr, device)
        self._order = torch.from_numpy(turned.data.astype(np.int64)).to(device)
        numbers = torch.from_numpy(np.asarray(entries.data))
        #: The entries, (entries,), or (members, entries) where members have entries of their own.
        self.values = numbers.to(device, torch.get_default_dtype())
        #: The dense columns, (nodes, columns), or (members, nodes, columns) like the entries.
        self.beside = None if beside is None else beside.to(self.values)
        self._repeated: dict[int, SparseFeatures] = {}

    @property
    def device(self) -> torch.device:
        """Where the numbers are."""
        return self.values.device

    def dim(self) -> int:
        """Nodes, members and columns: 3."""
        return 3

    def repeat(self, *times: int) -> SparseFeatures:
        """The rows so often one after the other; members and columns cannot be repeated."""
        if times[1:] != (1, 1):
            raise ValueError(f"only rows can be repeated, not {times}")
        if times[0] in self._repeated:
            return self._repeated[times[0]]
        rows, members, _ = self.shape
        column, start = (part.cpu().numpy() for part in self._forth)
        once = sp.csr_array((self.values.cpu().numpy(), column, start), (rows, self._columns))
        more = None if self.beside is None else self.beside.repeat(times[0], 1)
        self._repeated[times[0]] = SparseFeatures(
            sp.vstack([once] * times[0]), members, self.device, more
        )
        return self._repeated[times[0]]

    def rows_of_entries(self) -> tuple[Tensor, Tensor]:
        """The row of each entry, and its place in that row."""
        _, start = self._forth
        bounds = start.long()
        sizes = bounds[1:] - bounds[:-1]
        row = torch.repeat_interleave(sizes)
        return row, torch.arange(row.numel(), device=row.device) - bounds[row]

    def times(self, mask: Tensor, beside: Tensor | None = None) -> Self:
        """With the entries of each member multiplied by the member's numbers, (entries, members).

        The dense columns likewise by (nodes, members, columns) where there are some.
        """
        other = copy(self)
        other.values, other._repeated = self.values * mask.t(), {}
        if self.beside is not None and beside is not None:
            other.beside = self.beside * beside.transpose(0, 1)
        return other

    def project(self, *weights: Tensor) -> tuple[Tensor, ...]:
        """Features times weights (members, layers, columns, out), as :func:`gramme.ops.project` does it."""
        rows, members, columns = self.shape
        layers = weights[0].shape[1]
        every = torch.cat(weights, dim=3)
        if self.values.dim() == 1:  # one product for all members
            flat = every.permute(2, 1, 0, 3).reshape(columns, -1)
            product = self._product(self.values, self.beside, flat)
            found = product.view(rows, layers, members, -1)
        else:
            parts = [
                self._product(
                    values,
                    None if self.beside is None else self.beside[member],
                    every[member].transpose(0, 1).reshape(columns, -1),
                )
                for member, values in enumerate(self.values)
            ]
            found = torch.stack([part.view(rows, layers, -1) for part in parts], dim=2)
        sizes = [weight.shape[3] for weight in weights]
        return tuple(part.transpose(0, 1).contiguous() for part in torch.split(found, sizes, dim=3))

    def _product(self, values: Tensor, beside: Tensor | None, weight: Tensor) -> Tensor:
        product: Tensor = _Product.apply(  # type: ignore[no-untyped-call]
            weight[: self._columns], values, self._forth, self._back, self._order
        )
        return product if beside is None else torch.addmm(product, beside, weight[self._columns :])


class _Product(torch.autograd.Function):
    """A sparse matrix times a dense one; the gradient is a product with the transposed."""

    @staticmethod
    def forward(
        ctx: Any, weight: Tensor, values: Tensor, forth: Places, back: Places, order: Tensor
    ) -> Tensor:
        ctx.save_for_backward(values, *back, order)
        return _summed(weight, values, *forth)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        values, row, start, order = ctx.saved_tensors
        return _summed(grad, values[order], row, start), None, None, None, None


Places = tuple[Tensor, Tensor]


def _places(index: Any, start: Any, device: torch.device | None) -> Places:
    kind = np.int32 if max(index.size, int(index.max(initial=0))) < 2**31 - 1 else np.int64
    index, start = (torch.from_numpy(part.astype(kind)).to(device) for part in (index, start))
    return index, start


def _summed(table: Tensor, values: Tensor, index: Tensor, start: Tensor) -> Tensor:
    """Row i is the sum of ``values[e] * table[index[e]]`` over the entries e that start at ``start[i]``."""
    if not index.numel():
        return table.new_zeros(start.numel() - 1, table.shape[1])
    return F.embedding_bag(
        index,
        table.contiguous(),
        start,
        mode="sum",
        per_sample_weights=values.to(table.dtype),
        include_last_offset=True,
    )
