"""Exact graph attention as two neighbourhood sums.

The paper scores an edge by ``e_ij = s_i + t_j`` and takes a softmax over the nodes that i listens to, i included.
The term ``s_i`` is the same for all of them and cancels, so that with ``w_j = exp(t_j)``

    z_i = S(w x)_i / S(w)_i,

where S is the neighbourhood sum of :mod:`gramme.ops.neighbourhood`. The gradient needs the transpose of S twice.

Scores that spread far would underflow in ``exp``. They are cut into bands of width :data:`BAND`; each node listens
only within the highest band it hears and the one below, for everything lower is beyond the last digit. One band, the
usual case, is one pass; each further band that holds a score is one more.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from gramme.ops.neighbourhood import NeighbourhoodSum

BAND = 60.0
"""Width of a band of scores: exp(-60) = 9e-27 is well above what single precision can hold."""


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
    tensor, shape (rows, heads, dim)
    """
    result: Tensor = _Attention.apply(values, scores, neighbourhood)  # type: ignore[no-untyped-call]
    return result


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: FunctionCtx, values: Tensor, scores: Tensor, neighbourhood: NeighbourhoodSum
    ) -> Tensor:
        values = values.contiguous()
        top = scores.amax(0) if scores.numel() else scores.new_zeros(scores.shape[1:])
        low = scores.amin(0) if scores.numel() else top
        spread = (top.double() - low.double()).max().item() if top.numel() else 0.0
        ctx.neighbourhood = neighbourhood  # type: ignore[attr-defined]
        ctx.bands = None if spread <= BAND else _Bands(scores, top)  # type: ignore[attr-defined]
        if ctx.bands is None:  # type: ignore[attr-defined]
            weights = (scores - top).exp_()
            result = _sum(neighbourhood, values * weights[..., None])
            totals = neighbourhood(weights)
            hears = None
        else:
            result, totals, weights, hears = ctx.bands.forward(values, neighbourhood)  # type: ignore[attr-defined]
        result /= totals[..., None]
        ctx.save_for_backward(values, weights, totals, result, hears)  # type: ignore[attr-defined]
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, *grads: Tensor) -> tuple[Tensor, Tensor, None]:
        values, weights, totals, result, hears = ctx.saved_tensors  # type: ignore[attr-defined]
        grad = grads[0]
        upper = grad / totals[..., None]
        lower = -torch.linalg.vecdot(upper, result)
        if ctx.bands is None:  # type: ignore[attr-defined]
            turn = ctx.neighbourhood.transposed  # type: ignore[attr-defined]
            to_values, to_weights = _sum(turn, upper), turn(lower)
        else:
            to_values, to_weights = ctx.bands.backward(  # type: ignore[attr-defined]
                upper, lower, hears, ctx.neighbourhood  # type: ignore[attr-defined]
            )
        to_scores = (to_weights + torch.linalg.vecdot(to_values, values)) * weights
        return to_values.mul_(weights[..., None]), to_scores, None


def _sum(neighbourhood, values: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
    """A neighbourhood sum of values with heads, whose heads and dimensions are folded into columns."""
    return neighbourhood(values.flatten(1)).view_as(values)  # type: ignore[no-any-return]


class _Bands:
    """Scores cut into bands of width BAND below each head's maximum.

    Node i's mean is taken relative to the reference of the highest band it hears, so that no sum underflows whatever
    the scores are; ``exp(-BAND)`` is the step from one band's reference to the next.
    """

    def __init__(self, scores: Tensor, top: Tensor) -> None:
        depth = top.double() - scores.double()
        self.band = (depth / BAND).floor_()
        self.weights = (self.band * BAND - depth).exp_().to(scores.dtype)
        self.numbers = self.band.unique().tolist()
        self.step = torch.exp(torch.tensor(-BAND, dtype=torch.float64)).item()

    def forward(
        self, values: Tensor, neighbourhood: NeighbourhoodSum
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Numerators, denominators, weights within each band, and the highest band each node hears."""
        hears = torch.full_like(self.band, torch.inf)
        sums, totals = torch.zeros_like(values), torch.zeros_like(self.weights)
        for number in self.numbers:
            inside = self.weights * (self.band == number)
            part = neighbourhood(inside)
            hears = torch.where((part > 0) & hears.isinf(), number, hears)
            share = self._share(number, hears, values.dtype)
            totals += share * part
            sums += share[..., None] * _sum(neighbourhood, values * inside[..., None])
        return sums, totals, self.weights, hears

    def backward(
        self, upper: Tensor, lower: Tensor, hears: Tensor, neighbourhood: NeighbourhoodSum
    ) -> tuple[Tensor, Tensor]:
        """What the transposed sums give to each node, band by band."""
        to_values, to_weights = torch.zeros_like(upper), torch.zeros_like(lower)
        turn = neighbourhood.transposed
        for number in self.numbers:
            inside = (self.band == number).to(upper.dtype)
            share = self._share(number, hears, upper.dtype)
            to_values += inside[..., None] * _sum(turn, share[..., None] * upper)
            to_weights += inside * turn(share * lower)
        return to_values, to_weights

    def _share(self, number: float, hears: Tensor, dtype: torch.dtype) -> Tensor:
        """How much band ``number`` counts for each node: fully if it is the highest heard, a step less just below."""
        below = (hears == number - 1).to(dtype) * self.step
        return (hears == number).to(dtype) + below
