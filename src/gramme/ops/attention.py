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
    rows = values.shape[0]
    size = max(rows, 1)
    if values.device.type == "cpu" and rows:
        size = max(1, BLOCK * torch.get_num_threads() * rows // max(1, values.numel()))
    for start in range(0, rows, size):
        yield slice(start, min(start + size, rows))


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
    sums, totals = attention_sums(values, scores, neighbourhood)
    return sums / totals[..., None]


def attention_sums(values: Tensor, scores: Tensor, neighbourhood: NeighbourhoodSum) -> tuple[Tensor, Tensor]:
    """Numerators S(w x), shape (outputs, heads, dim), and denominators S(w), shape (outputs, heads), of the attention.

    Apart because :func:`gramme.ops.attention.fuse_heads` divides block by block while it has the numbers at hand.
    """
    if plain_torch():
        return _plain_sums(
            values.double(), scores, lambda both: neighbourhood(both.flatten(1)).view(-1, *both.shape[1:]), values.dtype
        )
    sums, totals = _AttentionSums.apply(values, scores, neighbourhood)  # type: ignore[no-untyped-call]
    return sums, totals


def featured_attention_sums(
    values: Tensor, scores: Tensor, neighbourhood: Any, coefficients: Tensor, bound: float | None
) -> tuple[Tensor, Tensor]:
    """The same where edges and memberships have features, whose c is learned: ``coefficients``, (heads, features).

    Scores that spread further than single precision can hold are taken in double precision, up to 700.
    """
    low, top = neighbourhood.range_of(scores.detach())
    far = top.numel() and (top.double() - low.double()).max().item() > BAND
    return _plain_sums(
        values.double() if far else values,
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
    weights = (scores - scores.detach().amax(0)).to(values.dtype).exp()[..., None]
    found = summed(torch.cat([values * weights, weights], dim=-1))
    means = found[..., :-1] / found[..., -1:].clamp(min=torch.finfo(values.dtype).tiny)
    return means.to(kind), torch.ones_like(means[..., 0], dtype=kind)


class _AttentionSums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, scores: Tensor, neighbourhood: NeighbourhoodSum) -> tuple[Tensor, Tensor]:
        ctx.neighbourhood = neighbourhood
        low, top = neighbourhood.range_of(scores)
        far = top.numel() and (top.double() - low.double()).max().item() > BAND
        ctx.bands = _Bands(scores, top, neighbourhood) if far else None
        weights = (scores - top).exp_() if ctx.bands is None else ctx.bands.weights
        weighted = values * weights[..., None]
        if ctx.bands is None:
            sums, totals = _sum(neighbourhood, weighted), neighbourhood(weights)
        else:
            sums, totals = ctx.bands.forward(weighted, neighbourhood)
        ctx.save_for_backward(weighted, weights)
        # Only the total of a group without members is below; dividing by it must give a number
        return sums, totals.clamp_(min=torch.finfo(totals.dtype).tiny)

    @staticmethod
    @first_derivatives
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        weighted, weights = ctx.saved_tensors
        if ctx.bands is None:
            turn = ctx.neighbourhood.transposed
            to_values, to_weights = _sum(turn, grads[0]), turn(grads[1])
        else:
            to_values, to_weights = ctx.bands.backward(*grads, ctx.neighbourhood)
        to_scores = to_weights.mul_(weights)
        for rows in blocks(weighted):
            to_scores[rows].add_((to_values[rows] * weighted[rows]).sum(-1))
            to_values[rows].mul_(weights[rows, :, None])
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
        within = depth.fmod(BAND)  # exact however deep
        # So far down that neighbouring doubles are 64 apart, each score is a band of its own
        own = depth >= 2.0**58
        self.band = torch.where(own, depth, ((depth - within) / BAND).round_())
        self.weights = torch.where(own, 0.0, -within).exp_().to(scores.dtype)
        self.numbers = neighbourhood.levels_of(self.band)
        self.hears = self.band

    def forward(self, weighted: Tensor, neighbourhood: NeighbourhoodSum) -> tuple[Tensor, Tensor]:
        """Numerators and denominators, each relative to the highest band that a node hears."""
        outputs = (neighbourhood.outputs, *self.weights.shape[1:])
        self.hears = self.band.new_full(outputs, torch.inf)
        totals = self.weights.new_zeros(outputs)
        sums = weighted.new_zeros(*outputs, weighted.shape[2])
        for place, number in enumerate(self.numbers):
            inside = self.band == number
            part = neighbourhood(self.weights * inside)
            self.hears = torch.where((part > 0) & self.hears.isinf(), number, self.hears)
            share = self._share(number, weighted.dtype)
            if not neighbourhood.communicator.any(bool(share.any())):
                if not neighbourhood.communicator.any(bool((self.hears >= number).any())):
                    self.numbers = self.numbers[:place]  # nobody listens further down
                    break
                continue
            totals += share * part
            sums += share[..., None] * _sum(neighbourhood, weighted * inside[..., None])
        return sums, totals

    def backward(self, upper: Tensor, lower: Tensor, neighbourhood: NeighbourhoodSum) -> tuple[Tensor, Tensor]:
        """What the transposed sums give to each node, band by band."""
        turn = neighbourhood.transposed
        to_values = upper.new_zeros(neighbourhood.rows, *upper.shape[1:])
        to_weights = lower.new_zeros(neighbourhood.rows, *lower.shape[1:])
        for number in self.numbers:
            inside = (self.band == number).to(upper.dtype)
            share = self._share(number, upper.dtype)
            if neighbourhood.communicator.any(bool(share.any())):
                to_values += inside[..., None] * _sum(turn, share[..., None] * upper)
                to_weights += inside * turn(share * lower)
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
        zero = values == 0
        return torch.where(zero, slope, value / torch.where(zero, torch.ones_like(values), values))


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
    way: type[torch.autograd.Function] = _FuseHeads
    if activation.compiled is not None and fits_compiled(sums, totals, factors):
        way = _FuseHeadsInOnePass
    result: Tensor = way.apply(sums, totals, factors, activation)  # type: ignore[no-untyped-call]
    return result


class _FuseHeadsInOnePass(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, sums: Tensor, totals: Tensor | None, factors: Tensor, activation: Activation) -> Tensor:
        layers, nodes, members, _, columns = sums.shape
        divisors = sums.new_ones(sums.shape[:4]) if totals is None else totals
        ctx.save_for_backward(sums, divisors, factors)
        ctx.activation, ctx.divided = activation.compiled, totals is not None
        result = sums.new_empty(layers, nodes, members, columns)
        if result.numel():
            given = (rows_of(sums), rows_of(divisors), 0, array(factors))
            fused(*given, ctx.activation, rows_of(result))
        return result

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
        lower = to_totals if ctx.divided else None
        return to_sums, lower, to_factors.to(factors.dtype), None


class _FuseHeads(torch.autograd.Function):
    # Rows are (layers, nodes, members) flattened and the factors are repeated for every row: arrays with few, long
    # axes are what torch's loops are fast on.

    @staticmethod
    def forward(ctx: Any, sums: Tensor, totals: Tensor | None, factors: Tensor, activation: Activation) -> Tensor:
        layers, nodes, members, heads, dim = sums.shape
        rows_of_sums = sums.reshape(-1, heads, dim)
        scale = factors[:, None].expand(sums.shape[:4]).reshape(-1, heads, 1)
        portion = None if totals is None else totals.reshape(-1, heads, 1).reciprocal()
        ctx.save_for_backward(rows_of_sums, portion, scale)
        ctx.activation, ctx.shape = activation, sums.shape
        result = sums.new_empty(rows_of_sums.shape[0], dim)
        for rows in blocks(rows_of_sums):
            means = _means(rows_of_sums, portion, rows)
            value = activation.with_slope(means)[0]
            total = torch.mul(value[:, 0], scale[rows, 0], out=result[rows])
            for head in range(1, heads):
                total.addcmul_(value[:, head], scale[rows, head])
        return result.view(layers, nodes, members, dim)

    @staticmethod
    @first_derivatives
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor | None, Tensor, None]:
        sums, portion, scale = ctx.saved_tensors
        heads, dim = ctx.shape[3:]
        to_sums, to_scale = torch.empty_like(sums), torch.empty_like(scale[..., 0])
        to_totals = None if portion is None else torch.empty_like(to_scale)
        grad = grads[0].reshape(-1, dim)
        for rows in blocks(sums):
            means = _means(sums, portion, rows)
            value, slope = ctx.activation.with_slope(means)
            upper = to_sums[rows]
            for head in range(heads):  # by method: `value[:, head] *= grad` would copy as well
                value[:, head].mul_(grad[rows])
                torch.mul(slope[:, head], grad[rows], out=upper[:, head])
            torch.sum(value, 2, out=to_scale[rows])
            upper.mul_(scale[rows] if portion is None else scale[rows] * portion[rows])
            if to_totals is not None:
                torch.sum(means.mul_(upper), 2, out=to_totals[rows])
        to_factors = to_scale.view(ctx.shape[:4]).sum(1)
        lower = None if to_totals is None else to_totals.neg_().view(ctx.shape[:4])
        return to_sums.view(ctx.shape), lower, to_factors, None


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
        scores = projected.new_empty(neighbourhood.rows, factors.shape[1] * factors.shape[2])
        vectors = array(vector).reshape(vector.shape[0], -1)
        attention_scores(rows_of(projected), vectors, scores.numpy())
        if score_bound is not None:
            scores.div_(score_bound).tanh_()
        slopes = None if score_bound is None else 1 - scores.square()
        if score_bound is not None:
            scores.mul_(score_bound)
        low, top = neighbourhood.range_of(scores)
        # also where a score is not a number
        if not bool(((top.double() - low.double()) <= BAND).all()):
            return None
        weights = (scores - top).exp_()
    found: Tensor = _Hop.apply(  # type: ignore[no-untyped-call]
        projected, vector, factors, weights, slopes, neighbourhood, activation.compiled
    )
    return found


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
        rows, places = weights.shape
        numbers = projected.shape[2] * projected.shape[3]
        table = projected.new_empty(rows, numbers + places)
        weighted(rows_of(projected), weights.numpy(), table.numpy())
        sums = neighbourhood(table).contiguous()
        del table
        ctx.save_for_backward(projected, vector, factors, weights, slopes, sums)
        ctx.neighbourhood, ctx.activation, ctx.numbers = neighbourhood, activation, numbers
        result = projected.new_empty(layers, sums.shape[0] // layers, members, numbers // places)
        found = sums.numpy()
        fused(found, found, numbers, array(factors), activation, rows_of(result))
        return result

    @staticmethod
    @first_derivatives
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        projected, vector, factors, weights, slopes, sums = ctx.saved_tensors
        rows, places = weights.shape
        to_sums = torch.empty_like(sums)
        to_factors = np.zeros(factors.shape)
        found, target = sums.numpy(), to_sums.numpy()
        grad = rows_of(grads[0])
        fused_back(found, found, ctx.numbers, array(factors), ctx.activation, grad, target, target, to_factors)
        back = ctx.neighbourhood.transposed(to_sums)
        del to_sums, target
        to_projected = torch.empty_like(projected, memory_format=torch.contiguous_format)
        to_vector = np.zeros((vector.shape[0], ctx.numbers))
        weighted_back(
            array(back),
            rows_of(projected),
            weights.numpy(),
            np.ones((rows, places), np.float32) if slopes is None else slopes.numpy(),
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
