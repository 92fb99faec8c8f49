"""One hop of attention after its projection, in a few compiled passes.

Scores, weights, the neighbourhood sum, the division, the activation and the fusion of the heads: with torch's
operations each of them reads and writes arrays as large as the projected features. Here there are five passes over
them, forward and backward, beside the two sums. On one thread of a CPU and in single precision; everywhere else
:mod:`gramme.nn.formula` does the same with torch's operations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from gramme.ops.attention import BAND
from gramme.ops.compiled_heads import (
    array,
    fits_compiled,
    fused,
    fused_back,
    heeded,
    rows_of,
    weighted,
    weighted_back,
)
from gramme.ops.heads import Activation
from gramme.ops.neighbourhood import NeighbourhoodSum


def hop_fits(values: Tensor, neighbourhood: NeighbourhoodSum, activation: Activation) -> bool:
    """Whether :func:`attention_hop` can be taken for such values: one process and thread, single precision, a CPU."""
    return (
        activation.compiled is not None
        and not neighbourhood.across_processes
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

    Parameters
    ----------
    projected : tensor, shape (layers, nodes, members, heads * columns)
    vector : tensor, shape (layers, members, heads, columns)
        Gives the scores of the projected features.
    factors : tensor, shape (layers, members, heads)
    neighbourhood : NeighbourhoodSum
        Over the nodes of all layers stacked.
    activation : Activation
    score_bound : float, optional
        Keep scores t between minus and plus this, ``bound tanh(t / bound)``.

    Returns
    -------
    tensor, shape (layers, outputs, members, columns), or None
    """
    with torch.no_grad():
        scores = projected.new_empty(neighbourhood.rows, factors.shape[1] * factors.shape[2])
        vectors = array(vector).reshape(vector.shape[0], -1)
        heeded(rows_of(projected), vectors, scores.numpy())
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
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        projected, vector, factors, weights, slopes, sums = ctx.saved_tensors
        rows, places = weights.shape
        to_sums = torch.empty_like(sums)
        to_factors = np.zeros(factors.shape)
        found, target = sums.numpy(), to_sums.numpy()
        grad = rows_of(grads[0])
        fused_back(
            found,
            found,
            ctx.numbers,
            array(factors),
            ctx.activation,
            grad,
            target,
            target,
            to_factors,
        )
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
