"""Neighbourhood sums whose weights are learned from features of edges and memberships.

With features f_ij of an edge the score of the paper becomes ``e_ij = <A, x_i || x_j> + <c, f_ij>``. In the softmax this
multiplies the weight of the edge by ``exp(<c, f_ij>)``: the sum stays one sparse product, with weights that each head
learns. Of a membership the feature counts on both ways, from the member to the group and from the group to the member,
so that what joins i and j through a group has the features of both memberships; sums of groups stay sums of groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gramme._types import Floats, Ints
from gramme.graph import Layer

from .kernels import compiled_sums
from .neighbourhood import NeighbourhoodSum, first_derivatives, hold, linear, plain_torch

EdgeScales = Mapping[str, tuple[Floats, Floats]]
"""Mean and standard deviation of the features of each layer that has some, by which they are standardised."""


class FeatureSum(NeighbourhoodSum):
    """S over stacked layers of which some have features.

    ``scales``: Of the features of each layer; None for a layer whose features do not count; ``others``: The sum of each
    layer without such features.

    ``columns``: Features of each layer.
    """

    featured = True

    def __init__(
        self,
        layers: Sequence[Layer],
        scales: Sequence[tuple[Floats, Floats] | None],
        others: Sequence[NeighbourhoodSum | None],
    ) -> None:
        super().__init__()
        self.sizes = [layer.num_nodes for layer in layers]
        self.rows = self.outputs = sum(self.sizes)
        self.columns = [0 if scale is None else scale[0].size for scale in scales]
        self.parts = nn.ModuleList()
        for layer, scale, other in zip(layers, scales, others, strict=True):
            part = FeaturedLayer(layer, *scale) if scale is not None else other
            assert part is not None
            self.parts.append(part)

    def forward(self, values: Tensor) -> Tensor:
        """S without features, where all edges count by their weights alone."""
        no_coefficients = values.new_zeros(1, sum(self.columns))
        return self.weighted(values[:, None], no_coefficients, None)[:, 0]

    def transposed(self, values: Tensor) -> Tensor:
        with torch.enable_grad():
            given_values = values.new_zeros(self.rows, values.shape[1], requires_grad=True)
            return torch.autograd.grad(self.forward(given_values), given_values, values)[0]

    def weighted(self, values: Tensor, coefficients: Tensor, bound: float | None) -> Tensor:
        """S with learned weights, differentiable.

        ``values`` (rows, heads, dim); ``coefficients`` (heads, features of all layers): c of each head, for one layer
        after the other; ``bound``: Keep <c, f> between minus and plus this.

        Returns (rows, heads, dim).
        """
        layer_sums = []
        split_inputs = torch.split(values, self.sizes), torch.split(coefficients, self.columns, dim=1)
        layer_inputs = zip(self.parts, *split_inputs, strict=True)
        for part, layer_values, layer_coefficients in layer_inputs:
            if isinstance(part, FeaturedLayer):
                layer_sums.append(part(layer_values, layer_coefficients, bound))
            else:
                assert isinstance(part, NeighbourhoodSum)
                layer_sums.append(linear(layer_values.flatten(1), part, part.transposed).view_as(layer_values))
        return torch.cat(layer_sums)

    def entry_weights(self, layer: int, coefficients: Tensor, bound: float | None) -> Tensor | None:
        part = self.parts[layer]
        if not isinstance(part, FeaturedLayer):
            return None
        layer_coefficients = torch.split(coefficients, self.columns, dim=1)[layer]
        return part.factors(layer_coefficients, bound)


class FeaturedLayer(nn.Module):
    """One layer with features.

    ``center``, ``scale`` (columns,): By which its features are standardised.
    """

    features: Tensor
    entry: Tensor
    weight: Tensor

    def __init__(self, layer: Layer, center: Floats, scale: Floats) -> None:
        super().__init__()
        given_features = np.zeros((layer.num_entries, center.size)) if layer.features is None else layer.features
        default_type = torch.get_default_dtype()
        incidence = layer.incidence()
        self.of_groups = incidence is not None
        if incidence is not None:
            matrix, entry_numbers = incidence, np.arange(incidence.nnz)
        else:
            edges = layer.to_edges()
            matrix, entry_numbers = edges.to_scipy(), edges.edge_numbers().data
        entry_rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        self.entries = Entries(entry_rows, matrix.indices, matrix.shape)
        hold(self, "features", torch.from_numpy((given_features - center) / scale).to(default_type))
        hold(self, "entry", torch.from_numpy(entry_numbers.astype(np.int64)))
        hold(self, "weight", torch.from_numpy(matrix.data.astype(np.float64)))

    def factors(self, coefficients: Tensor, bound: float | None) -> Tensor:
        """exp(<c, f>) of each entry, (entries, heads)."""
        logarithms = self.features.to(coefficients.dtype) @ coefficients.t()
        if bound is not None:
            logarithms = bound * torch.tanh(logarithms / bound)
        return logarithms.exp().index_select(0, self.entry)

    def forward(self, values: Tensor, coefficients: Tensor, bound: float | None) -> Tensor:
        entry_weights = self.factors(coefficients, bound) * self.weight[:, None].to(values.dtype)
        if not self.of_groups:
            return values + entries_sum(values, entry_weights, self.entries)
        # in double precision: what a node adds to its own groups is taken away again
        double_values, double_weights = values.double(), entry_weights.double()
        own_squares = double_weights.new_zeros(values.shape[:2]).index_add(0, self.entries.row, double_weights.square())
        group_sums = entries_sum(double_values, double_weights, self.entries, transposed=True)
        return (
            entries_sum(group_sums, double_weights, self.entries) + (1 - own_squares)[..., None] * double_values
        ).to(values.dtype)


class Entries(nn.Module):
    """The entries of a sparse matrix in their order, and how to go through them by row and by column.

    ``row``, ``column`` (entries,); ``by_row``, ``by_column``: For each row or column where its entries start in a list
    of entries, and that list.
    """

    row: Tensor
    column: Tensor

    def __init__(self, row: NDArray[Any], column: NDArray[Any], shape: tuple[int, int]) -> None:
        super().__init__()
        self.shape = shape
        hold(self, "row", torch.from_numpy(row.astype(np.int64)))
        hold(self, "column", torch.from_numpy(column.astype(np.int64)))
        self.by_row, self.by_column = (
            (np.cumsum([0, *np.bincount(ends, minlength=count)]), np.argsort(ends, kind="stable"))
            for ends, count in zip((row, column), shape, strict=True)
        )


class EntrySum(NeighbourhoodSum):
    """S with a given weight for each edge and head, through which gradients flow.

    ``entries``: Rows listen to columns, of a square matrix; no row to itself; ``weights`` (edges, heads).
    """

    featured = True

    def __init__(self, entries: Entries, weights: Tensor) -> None:
        super().__init__()
        self.entries, self.weights = entries, weights
        self.rows, self.outputs = entries.shape

    def forward(self, values: Tensor) -> Tensor:
        """S with the first head's weights."""
        return self.weighted(values[:, None])[:, 0]

    def transposed(self, values: Tensor) -> Tensor:
        return values + entries_sum(values[:, None], self.weights[:, :1], self.entries, transposed=True)[:, 0]

    def weighted(self, values: Tensor, coefficients: Tensor | None = None, bound: float | None = None) -> Tensor:
        """S of values (rows, heads, dim); the weights are there already, so nothing else counts."""
        return values + entries_sum(values, self.weights.to(values.dtype), self.entries)


def entries_sum(values: Tensor, weights: Tensor, entries: Entries, *, transposed: bool = False) -> Tensor:
    """Row i is the sum over its entries of weight times value, for each head; of the transposed, column by column.

    ``values`` (columns, heads, dim); ``weights`` (entries, heads).
    """
    if values.device.type == "cpu" and not plain_torch():
        entry_sums: Tensor = _EntriesSum.apply(values, weights, entries, transposed)  # type: ignore[no-untyped-call]
        return entry_sums
    target_index, source_index = (entries.column, entries.row) if transposed else (entries.row, entries.column)
    weighted_values = values.index_select(0, source_index) * weights[..., None]
    return values.new_zeros(entries.shape[transposed], *values.shape[1:]).index_add(0, target_index, weighted_values)


class _EntriesSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, weights: Tensor, entries: Entries, transposed: bool) -> Tensor:
        ctx.save_for_backward(values, weights)
        ctx.entries, ctx.transposed = entries, transposed
        return _summed(values, weights, entries, transposed)

    @staticmethod
    @first_derivatives
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        values, weights = ctx.saved_tensors
        entries: Entries = ctx.entries
        output_gradient = grads[0].contiguous()
        target_index, source_index = (entries.column, entries.row) if ctx.transposed else (entries.row, entries.column)
        to_weights = torch.empty_like(weights)
        _add_products(
            target_index.numpy(),
            source_index.numpy(),
            output_gradient.numpy(),
            values.contiguous().numpy(),
            to_weights.numpy(),
        )
        return _summed(output_gradient, weights, entries, not ctx.transposed), to_weights, None, None


def _summed(values: Tensor, weights: Tensor, entries: Entries, transposed: bool) -> Tensor:
    entry_starts, entry_order = entries.by_column if transposed else entries.by_row
    source_index = entries.row if transposed else entries.column
    entry_sums = values.new_zeros(entries.shape[transposed], *values.shape[1:])
    kernel_inputs = values.contiguous().numpy(), weights.detach().contiguous().numpy()
    _add_entries(entry_starts, entry_order, source_index.numpy(), *kernel_inputs, entry_sums.numpy())
    return entry_sums


@compiled_sums
def _add_entries(
    start: Ints, order: Ints, come: Ints, values: NDArray[Any], weights: NDArray[Any], result: NDArray[Any]
) -> None:
    """Add each row's entries to its row of the result."""
    for row in range(start.size - 1):
        for place in range(start[row], start[row + 1]):
            entry = order[place]
            other = come[entry]
            for head in range(values.shape[1]):
                weight = weights[entry, head]
                for column in range(values.shape[2]):
                    result[row, head, column] += weight * values[other, head, column]


@compiled_sums
def _add_products(to: Ints, come: Ints, grad: NDArray[Any], values: NDArray[Any], result: NDArray[Any]) -> None:
    """The product of what arrives at an entry's one end and what comes from its other, for each head."""
    for entry in range(to.size):
        for head in range(values.shape[1]):
            total = grad.dtype.type(0)
            for column in range(values.shape[2]):
                total += grad[to[entry], head, column] * values[come[entry], head, column]
            result[entry, head] = total


def edge_scales(layers: Mapping[str, Layer]) -> dict[str, tuple[Floats, Floats]]:
    """Mean and standard deviation of the features of each layer that has some, to standardise them by."""
    layer_scales = {}
    for name, layer in layers.items():
        if layer.features is not None and len(layer.features):
            feature_spread = layer.features.std(axis=0)
            layer_scales[name] = layer.features.mean(axis=0), np.where(feature_spread > 0, feature_spread, 1.0)
    return layer_scales
