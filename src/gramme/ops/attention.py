"""Exact graph attention as two neighbourhood sums.

The paper scores an edge by ``e_ij = s_i + t_j`` and takes a softmax over the nodes that i listens to, i included.
The term ``s_i`` is the same for all of them and cancels, so that with ``w_j = exp(t_j)``

    z_i = S(w x)_i / S(w)_i,

where S is the neighbourhood sum of :mod:`gramme.ops.neighbourhood`. The gradient needs the transpose of S twice.

Scores that spread far would underflow in ``exp``. They are cut into bands of width :data:`BAND`; each node listens
only within the highest band it hears and the one below, for everything lower is beyond the last digit. One band, the
usual case, is one pass; each further band that somebody listens to is one more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .kernels import (
    ELU,
    NONE,
    RELU,
    array,
    attention_scores,
    fits_compiled,
    fused,
    fused_back,
    rows_of,
    weighted,
    weighted_back,
)
from .neighbourhood import NeighbourhoodSum, first_derivatives, plain_torch

# Work on large arrays block by block, so that temporary arrays stay in the processor's cache.
BLOCK = 1 << 17
"""Numbers per block and thread; a block and what is computed from it fit a core's second-level cache."""


def blocks(values: Tensor) -> Iterator[slice]:
    """Slices of the rows; a single one on devices without such a cache.

    >>> list(blocks(torch.zeros(3, 2)))
    [slice(0, 3, None)]
    """
    row_count = values.shape[0]
    block_size = max(row_count, 1)
    if values.device.type == "cpu" and row_count:
        block_size = max(1, BLOCK * torch.get_num_threads() * row_count // max(1, values.numel()))
    for first_row in range(0, row_count, block_size):
        yield slice(first_row, min(first_row + block_size, row_count))


BAND = 60.0
"""Width of a band of scores: exp(-60) = 9e-27 is well above what single precision can hold."""

STEP = math.exp(-BAND)
"""From one band's reference to the next."""


def attention(values: Tensor, scores: Tensor, neighbourhood: NeighbourhoodSum) -> Tensor:
    """Attention-weighted means over neighbourhoods, for all heads in one call.

    Parameters
    ----------
    values : tensor, shape (rows, heads, dim)
        The projected features x of every node.
    scores : tensor, shape (rows, heads)
        The score t of every node: how much it is listened to. Any finite numbers.
    neighbourhood : NeighbourhoodSum
        Who listens to whom.

    Returns
    -------
    tensor, shape (outputs, heads, dim)
        A row for each row of the neighbourhood sum, as a rule those of the values.
    """
    weighted_sums, weight_totals = attention_sums(values, scores, neighbourhood)
    return weighted_sums / weight_totals[..., None]


def attention_sums(values: Tensor, scores: Tensor, neighbourhood: NeighbourhoodSum) -> tuple[Tensor, Tensor]:
    """Numerators S(w x), shape (outputs, heads, dim), and denominators S(w), shape (outputs, heads), of the attention.

    Apart because :func:`gramme.ops.attention.fuse_heads` divides block by block while it has the numbers at hand.
    """
    if plain_torch():
        return _plain_sums(
            values.double(), scores, lambda both: neighbourhood(both.flatten(1)).view(-1, *both.shape[1:]), values.dtype
        )
    weighted_sums, weight_totals = _AttentionSums.apply(values, scores, neighbourhood)  # type: ignore[no-untyped-call]
    return weighted_sums, weight_totals


def featured_attention_sums(
    values: Tensor, scores: Tensor, neighbourhood: Any, coefficients: Tensor, bound: float | None
) -> tuple[Tensor, Tensor]:
    """Numerators and denominators where entries have features, whose c is learned: ``coefficients``, (heads, features).

    Scores that spread further than single precision can hold are taken in double precision, up to 700.
    """
    lowest_score, highest_score = neighbourhood.range_of(scores.detach())
    spreads_far = highest_score.numel() and (highest_score.double() - lowest_score.double()).max().item() > BAND
    return _plain_sums(
        values.double() if spreads_far else values,
        scores,
        lambda both: neighbourhood.weighted(both, coefficients.to(both.dtype), bound),
        values.dtype,
    )


def _plain_sums(
    values: Tensor, scores: Tensor, summed: Callable[[Tensor], Tensor], kind: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Means, and ones for their denominators, by one sum of values (rows, heads, dim) and operations of torch's own."""
    if not scores.numel():
        return values.to(kind), torch.ones_like(scores)
    score_weights = (scores - scores.detach().amax(0)).to(values.dtype).exp()[..., None]
    weighted_sums = summed(torch.cat([values * score_weights, score_weights], dim=-1))
    means = weighted_sums[..., :-1] / weighted_sums[..., -1:].clamp(min=torch.finfo(values.dtype).tiny)
    return means.to(kind), torch.ones_like(means[..., 0], dtype=kind)


class _AttentionSums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, scores: Tensor, neighbourhood: NeighbourhoodSum) -> tuple[Tensor, Tensor]:
        ctx.neighbourhood = neighbourhood
        lowest_score, highest_score = neighbourhood.range_of(scores)
        spreads_far = highest_score.numel() and (highest_score.double() - lowest_score.double()).max().item() > BAND
        ctx.bands = _Bands(scores, highest_score, neighbourhood) if spreads_far else None
        score_weights = (scores - highest_score).exp_() if ctx.bands is None else ctx.bands.weights
        weighted_values = values * score_weights[..., None]
        if ctx.bands is None:
            weighted_sums, weight_totals = _sum(neighbourhood, weighted_values), neighbourhood(score_weights)
        else:
            weighted_sums, weight_totals = ctx.bands.forward(weighted_values, neighbourhood)
        ctx.save_for_backward(weighted_values, score_weights)
        # Only the total of a group without members is below; dividing by it must give a number
        return weighted_sums, weight_totals.clamp_(min=torch.finfo(weight_totals.dtype).tiny)

    @staticmethod
    @first_derivatives
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        weighted_values, score_weights = ctx.saved_tensors
        if ctx.bands is None:
            transposed_sum = ctx.neighbourhood.transposed
            to_values, to_weights = _sum(transposed_sum, grads[0]), transposed_sum(grads[1])
        else:
            to_values, to_weights = ctx.bands.backward(*grads, ctx.neighbourhood)
        to_scores = to_weights.mul_(score_weights)
        for row_block in blocks(weighted_values):
            to_scores[row_block].add_((to_values[row_block] * weighted_values[row_block]).sum(-1))
            to_values[row_block].mul_(score_weights[row_block, :, None])
        return to_values, to_scores, None


def _sum(neighbourhood: Callable[[Tensor], Tensor], values: Tensor) -> Tensor:
    """A neighbourhood sum of values with heads, whose heads and dimensions are folded into columns."""
    return neighbourhood(values.flatten(1)).view(-1, *values.shape[1:])


class _Bands:
    """Scores cut into bands of width BAND below each head's maximum.

    Node i's mean is taken relative to the reference of the highest band it hears, so that no sum underflows whatever
    the scores are. ``weights`` are relative to the reference of each score's own band.
    """

    def __init__(self, scores: Tensor, top: Tensor, neighbourhood: NeighbourhoodSum) -> None:
        depth = (top.double() - scores.double()).clamp_(max=torch.finfo(torch.float64).max)
        depth_within = depth.fmod(BAND)  # exact however deep
        # So far down that neighbouring doubles are 64 apart, each score is a band of its own
        own_band = depth >= 2.0**58
        self.band = torch.where(own_band, depth, ((depth - depth_within) / BAND).round_())
        self.weights = torch.where(own_band, 0.0, -depth_within).exp_().to(scores.dtype)
        self.numbers = neighbourhood.levels_of(self.band)
        self.hears = self.band

    def forward(self, weighted: Tensor, neighbourhood: NeighbourhoodSum) -> tuple[Tensor, Tensor]:
        """Numerators and denominators, each relative to the highest band that a node hears."""
        output_shape = (neighbourhood.outputs, *self.weights.shape[1:])
        self.hears = self.band.new_full(output_shape, torch.inf)
        weight_totals = self.weights.new_zeros(output_shape)
        weighted_sums = weighted.new_zeros(*output_shape, weighted.shape[2])
        for band_place, band_number in enumerate(self.numbers):
            in_band = self.band == band_number
            band_total = neighbourhood(self.weights * in_band)
            self.hears = torch.where((band_total > 0) & self.hears.isinf(), band_number, self.hears)
            band_share = self._share(band_number, weighted.dtype)
            if not neighbourhood.communicator.any(bool(band_share.any())):
                if not neighbourhood.communicator.any(bool((self.hears >= band_number).any())):
                    self.numbers = self.numbers[:band_place]  # nobody listens further down
                    break
                continue
            weight_totals += band_share * band_total
            weighted_sums += band_share[..., None] * _sum(neighbourhood, weighted * in_band[..., None])
        return weighted_sums, weight_totals

    def backward(self, upper: Tensor, lower: Tensor, neighbourhood: NeighbourhoodSum) -> tuple[Tensor, Tensor]:
        """What the transposed sums give to each node, band by band."""
        transposed_sum = neighbourhood.transposed
        to_values = upper.new_zeros(neighbourhood.rows, *upper.shape[1:])
        to_weights = lower.new_zeros(neighbourhood.rows, *lower.shape[1:])
        for band_number in self.numbers:
            in_band = (self.band == band_number).to(upper.dtype)
            band_share = self._share(band_number, upper.dtype)
            if neighbourhood.communicator.any(bool(band_share.any())):
                to_values += in_band[..., None] * _sum(transposed_sum, band_share[..., None] * upper)
                to_weights += in_band * transposed_sum(band_share * lower)
        return to_values, to_weights

    def _share(self, number: float, dtype: torch.dtype) -> Tensor:
        """How much band ``number`` counts for each node: fully if it is the highest heard, a step less just below."""
        return (self.hears == number).to(dtype) + (self.hears == number - 1).to(dtype) * STEP


# Activation and head fusion in one step over the largest arrays of a network.
@dataclass(frozen=True)
class Activation:
    """A function of single numbers.

    ``plain``: The function in torch's own operations, differentiable by autograd; ``with_slope``: The function and its
    derivative as two new tensors, without autograd; ``compiled``: Its number among the compiled loops, where it has
    one.
    """

    plain: Callable[[Tensor], Tensor]
    with_slope: Callable[[Tensor], tuple[Tensor, Tensor]]
    compiled: int | None = None

    def __call__(self, values: Tensor) -> Tensor:
        """The function, differentiable."""
        return self.plain(values)

    def quotient(self, values: Tensor) -> Tensor:
        """The function divided by its argument, without autograd; its derivative where the argument is 0."""
        value, slope = self.with_slope(values)
        is_zero = values == 0
        return torch.where(is_zero, slope, value / torch.where(is_zero, torch.ones_like(values), values))


def _elu(values: Tensor) -> tuple[Tensor, Tensor]:
    """max(x, exp(min(x, 0)) - 1), a multiple faster on a CPU than torch's elu and within its rounding of 1."""
    slope = values.clamp(max=0).exp_()
    below = slope - 1
    return torch.maximum(values, below, out=below), slope


def _relu(values: Tensor) -> tuple[Tensor, Tensor]:
    return torch.relu(values), (values > 0).to(values.dtype)


def _tanh(values: Tensor) -> tuple[Tensor, Tensor]:
    value = torch.tanh(values)
    return value, 1 - value.square()


def _none(values: Tensor) -> tuple[Tensor, Tensor]:
    return values.clone(), torch.ones_like(values)


ACTIVATIONS = {
    "elu": Activation(nn.functional.elu, _elu, ELU),
    "relu": Activation(torch.relu, _relu, RELU),
    "tanh": Activation(torch.tanh, _tanh),
    "none": Activation(lambda values: values, _none, NONE),
}
"""The activations by name."""


def fuse_heads(sums: Tensor, totals: Tensor | None, factors: Tensor, activation: Activation) -> Tensor:
    """The activated heads, summed with scaling factors.

    ``sums`` (layers, nodes, members, heads, dim): Numerators of the heads' means; ``totals`` (layers, nodes, members,
    heads): Denominators; 1 if not given; ``factors`` (layers, members, heads).

    Returns (layers, nodes, members, dim).
    """
    if plain_torch():
        means = activation(sums if totals is None else sums / totals[..., None])
        return (means * factors[:, None, :, :, None]).sum(-2)
    fuse_function: type[torch.autograd.Function] = _FuseHeads
    if activation.compiled is not None and fits_compiled(sums, totals, factors):
        fuse_function = _FuseHeadsInOnePass
    fused_heads: Tensor = fuse_function.apply(sums, totals, factors, activation)  # type: ignore[no-untyped-call]
    return fused_heads


class _FuseHeadsInOnePass(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, sums: Tensor, totals: Tensor | None, factors: Tensor, activation: Activation) -> Tensor:
        layers, nodes, members, _, columns = sums.shape
        divisors = sums.new_ones(sums.shape[:4]) if totals is None else totals
        ctx.save_for_backward(sums, divisors, factors)
        ctx.activation, ctx.divided = activation.compiled, totals is not None
        fused_heads = sums.new_empty(layers, nodes, members, columns)
        if fused_heads.numel():
            kernel_inputs = (rows_of(sums), rows_of(divisors), 0, array(factors))
            fused(*kernel_inputs, ctx.activation, rows_of(fused_heads))
        return fused_heads

    @staticmethod
    @first_derivatives
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor | None, Tensor, None]:
        sums, divisors, factors = ctx.saved_tensors
        to_sums, to_totals = sums.new_empty(sums.shape), sums.new_empty(sums.shape[:4])
        to_factors = factors.new_zeros(factors.shape, dtype=torch.float64)
        if sums.numel():
            fused_back(
                rows_of(sums),
                rows_of(divisors),
                0,
                array(factors),
                ctx.activation,
                rows_of(grads[0]),
                rows_of(to_sums),
                rows_of(to_totals),
                to_factors.numpy(),
            )
        totals_gradient = to_totals if ctx.divided else None
        return to_sums, totals_gradient, to_factors.to(factors.dtype), None


class _FuseHeads(torch.autograd.Function):
    # Rows are (layers, nodes, members) flattened and the factors are repeated for every row: arrays with few, long
    # axes are what torch's loops are fast on.

    @staticmethod
    def forward(ctx: Any, sums: Tensor, totals: Tensor | None, factors: Tensor, activation: Activation) -> Tensor:
        layers, nodes, members, heads, dim = sums.shape
        rows_of_sums = sums.reshape(-1, heads, dim)
        row_factors = factors[:, None].expand(sums.shape[:4]).reshape(-1, heads, 1)
        inverse_totals = None if totals is None else totals.reshape(-1, heads, 1).reciprocal()
        ctx.save_for_backward(rows_of_sums, inverse_totals, row_factors)
        ctx.activation, ctx.shape = activation, sums.shape
        fused_rows = sums.new_empty(rows_of_sums.shape[0], dim)
        for row_block in blocks(rows_of_sums):
            head_means = _means(rows_of_sums, inverse_totals, row_block)
            activated_means = activation.with_slope(head_means)[0]
            fused_block = torch.mul(activated_means[:, 0], row_factors[row_block, 0], out=fused_rows[row_block])
            for head in range(1, heads):
                fused_block.addcmul_(activated_means[:, head], row_factors[row_block, head])
        return fused_rows.view(layers, nodes, members, dim)

    @staticmethod
    @first_derivatives
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor | None, Tensor, None]:
        sums, inverse_totals, row_factors = ctx.saved_tensors
        heads, dim = ctx.shape[3:]
        to_sums, to_scale = torch.empty_like(sums), torch.empty_like(row_factors[..., 0])
        to_totals = None if inverse_totals is None else torch.empty_like(to_scale)
        output_gradient = grads[0].reshape(-1, dim)
        for row_block in blocks(sums):
            head_means = _means(sums, inverse_totals, row_block)
            activated_means, activation_slope = ctx.activation.with_slope(head_means)
            sums_gradient = to_sums[row_block]
            for head in range(heads):  # by method: `value[:, head] *= grad` would copy as well
                activated_means[:, head].mul_(output_gradient[row_block])
                torch.mul(activation_slope[:, head], output_gradient[row_block], out=sums_gradient[:, head])
            torch.sum(activated_means, 2, out=to_scale[row_block])
            sums_gradient.mul_(
                row_factors[row_block] if inverse_totals is None else row_factors[row_block] * inverse_totals[row_block]
            )
            if to_totals is not None:
                torch.sum(head_means.mul_(sums_gradient), 2, out=to_totals[row_block])
        to_factors = to_scale.view(ctx.shape[:4]).sum(1)
        totals_gradient = None if to_totals is None else to_totals.neg_().view(ctx.shape[:4])
        return to_sums.view(ctx.shape), totals_gradient, to_factors, None


def _means(sums: Tensor, portion: Tensor | None, rows: slice) -> Tensor:
    return sums[rows] if portion is None else sums[rows] * portion[rows]


# One hop of attention after its projection, in a few compiled passes.
def hop_fits(values: Tensor, neighbourhood: NeighbourhoodSum, activation: Activation) -> bool:
    """Whether :func:`attention_hop` can be taken for such values: one process and thread, single precision, a CPU."""
    return (
        activation.compiled is not None
        and not plain_torch()
        and not neighbourhood.featured
        and neighbourhood.communicator.alone
        and min(neighbourhood.rows, neighbourhood.outputs, values.numel()) > 0
        and fits_compiled(values)
    )


def attention_hop(
    projected: Tensor,
    vector: Tensor,
    factors: Tensor,
    neighbourhood: NeighbourhoodSum,
    activation: Activation,
    score_bound: float | None = None,
) -> Tensor | None:
    """The fused heads of every node, or None where scores are so far apart that they need bands.

    Only where :func:`hop_fits`.

    ``projected`` (layers, nodes, members, heads * columns); ``vector`` (layers, members, heads, columns): Gives the
    scores of the projected features; ``factors`` (layers, members, heads); ``neighbourhood``: Over the nodes of all
    layers stacked; ``score_bound``: Keep scores t between minus and plus this, ``bound tanh(t / bound)``.

    Returns tensor (layers, outputs, members, columns), or None.
    """
    with torch.no_grad():
        head_scores = projected.new_empty(neighbourhood.rows, factors.shape[1] * factors.shape[2])
        score_vectors = array(vector).reshape(vector.shape[0], -1)
        attention_scores(rows_of(projected), score_vectors, head_scores.numpy())
        if score_bound is not None:
            head_scores.div_(score_bound).tanh_()
        score_slopes = None if score_bound is None else 1 - head_scores.square()
        if score_bound is not None:
            head_scores.mul_(score_bound)
        lowest_score, highest_score = neighbourhood.range_of(head_scores)
        # also where a score is not a number
        if not bool(((highest_score.double() - lowest_score.double()) <= BAND).all()):
            return None
        score_weights = (head_scores - highest_score).exp_()
    fused_heads: Tensor = _Hop.apply(  # type: ignore[no-untyped-call]
        projected, vector, factors, score_weights, score_slopes, neighbourhood, activation.compiled
    )
    return fused_heads


class _Hop(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        projected: Tensor,
        vector: Tensor,
        factors: Tensor,
        weights: Tensor,
        slopes: Tensor | None,
        neighbourhood: NeighbourhoodSum,
        activation: int,
    ) -> Tensor:
        layers, members, _ = factors.shape
        rows, head_count = weights.shape
        value_columns = projected.shape[2] * projected.shape[3]
        weighted_table = projected.new_empty(rows, value_columns + head_count)
        weighted(rows_of(projected), weights.numpy(), weighted_table.numpy())
        table_sums = neighbourhood(weighted_table).contiguous()
        del weighted_table
        ctx.save_for_backward(projected, vector, factors, weights, slopes, table_sums)
        ctx.neighbourhood, ctx.activation, ctx.numbers = neighbourhood, activation, value_columns
        fused_heads = projected.new_empty(layers, table_sums.shape[0] // layers, members, value_columns // head_count)
        sums_array = table_sums.numpy()
        fused(sums_array, sums_array, value_columns, array(factors), activation, rows_of(fused_heads))
        return fused_heads

    @staticmethod
    @first_derivatives
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        projected, vector, factors, weights, slopes, sums = ctx.saved_tensors
        rows, head_count = weights.shape
        to_sums = torch.empty_like(sums)
        to_factors = np.zeros(factors.shape)
        sums_array, sums_gradient = sums.numpy(), to_sums.numpy()
        output_gradient = rows_of(grads[0])
        fused_back(
            sums_array,
            sums_array,
            ctx.numbers,
            array(factors),
            ctx.activation,
            output_gradient,
            sums_gradient,
            sums_gradient,
            to_factors,
        )
        table_gradient = ctx.neighbourhood.transposed(to_sums)
        del to_sums, sums_gradient
        to_projected = torch.empty_like(projected, memory_format=torch.contiguous_format)
        to_vector = np.zeros((vector.shape[0], ctx.numbers))
        weighted_back(
            array(table_gradient),
            rows_of(projected),
            weights.numpy(),
            np.ones((rows, head_count), np.float32) if slopes is None else slopes.numpy(),
            array(vector).reshape(vector.shape[0], -1),
            rows_of(to_projected),
            to_vector,
        )
        return (
            to_projected,
            torch.from_numpy(to_vector).to(vector.dtype).view(vector.shape),
            torch.from_numpy(to_factors).to(factors.dtype),
            None,
            None,
            None,
            None,
        )
