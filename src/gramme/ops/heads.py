"""Activation and head fusion in one step over the largest arrays of a network.

Each head's means z_h are activated and summed with the fusion head's scaling factors (Eqs. 4 and 5 of the paper),

    y = sum over h of f_h act(z_h).

On one thread of a CPU a compiled loop does it all in one pass. Elsewhere the work runs block by block of nodes, so that
temporary arrays stay in the processor's cache. The gradient computes the activation again rather than keep it: it is
cheaper than the memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from gramme.ops.blocks import blocks
from gramme.ops.compiled_heads import (
    ELU,
    NONE,
    RELU,
    array,
    fits_compiled,
    fused,
    fused_back,
    rows_of,
)


@dataclass(frozen=True)
class Activation:
    """A function of single numbers.

    Attributes
    ----------
    plain : callable
        The function in torch's own operations, differentiable by autograd.
    with_slope : callable
        The function and its derivative as two new tensors, without autograd.
    compiled : int, optional
        Its number among the compiled loops, where it has one.
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


def fuse_heads(
    sums: Tensor, totals: Tensor | None, factors: Tensor, activation: Activation
) -> Tensor:
    """The activated heads, summed with scaling factors.

    Parameters
    ----------
    sums : tensor, shape (layers, nodes, members, heads, dim)
        Numerators of the heads' means.
    totals : tensor, shape (layers, nodes, members, heads), optional
        Denominators; 1 if not given.
    factors : tensor, shape (layers, members, heads)
    activation : Activation

    Returns
    -------
    tensor, shape (layers, nodes, members, dim)
    """
    way: type[torch.autograd.Function] = _FuseHeads
    if activation.compiled is not None and fits_compiled(sums, totals, factors):
        way = _FuseHeadsInOnePass
    result: Tensor = way.apply(sums, totals, factors, activation)  # type: ignore[no-untyped-call]
    return result


class _FuseHeadsInOnePass(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, sums: Tensor, totals: Tensor | None, factors: Tensor, activation: Activation
    ) -> Tensor:
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
    @once_differentiable
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
    def forward(
        ctx: Any, sums: Tensor, totals: Tensor | None, factors: Tensor, activation: Activation
    ) -> Tensor:
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
    @once_differentiable
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
