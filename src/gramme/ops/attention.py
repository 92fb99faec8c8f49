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
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from gramme.ops.blocks import blocks
from gramme.ops.neighbourhood import NeighbourhoodSum

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


def attention_sums(
    values: Tensor, scores: Tensor, neighbourhood: NeighbourhoodSum
) -> tuple[Tensor, Tensor]:
    """Numerators S(w x), shape (outputs, heads, dim), and denominators S(w), shape (outputs, heads), of the attention.

    Apart because :func:`gramme.ops.heads.fuse_heads` divides block by block while it has the numbers at hand.
    """
    sums, totals = _AttentionSums.apply(values, scores, neighbourhood)  # type: ignore[no-untyped-call]
    return sums, totals


class _AttentionSums(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, values: Tensor, scores: Tensor, neighbourhood: NeighbourhoodSum
    ) -> tuple[Tensor, Tensor]:
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
    @once_differentiable
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
            if not neighbourhood.anywhere(bool(share.any())):
                if not neighbourhood.anywhere(bool((self.hears >= number).any())):
                    self.numbers = self.numbers[:place]  # nobody listens further down
                    break
                continue
            totals += share * part
            sums += share[..., None] * _sum(neighbourhood, weighted * inside[..., None])
        return sums, totals

    def backward(
        self, upper: Tensor, lower: Tensor, neighbourhood: NeighbourhoodSum
    ) -> tuple[Tensor, Tensor]:
        """What the transposed sums give to each node, band by band."""
        turn = neighbourhood.transposed
        to_values = upper.new_zeros(neighbourhood.rows, *upper.shape[1:])
        to_weights = lower.new_zeros(neighbourhood.rows, *lower.shape[1:])
        for number in self.numbers:
            inside = (self.band == number).to(upper.dtype)
            share = self._share(number, upper.dtype)
            if neighbourhood.anywhere(bool(share.any())):
                to_values += inside[..., None] * _sum(turn, share[..., None] * upper)
                to_weights += inside * turn(share * lower)
        return to_values, to_weights

    def _share(self, number: float, dtype: torch.dtype) -> Tensor:
        """How much band ``number`` counts for each node: fully if it is the highest heard, a step less just below."""
        return (self.hears == number).to(dtype) + (self.hears == number - 1).to(dtype) * STEP
