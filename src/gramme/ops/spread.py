"""Giving each member its group's row, with a gradient that sums over the members."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from gramme.ops.memberships import GroupSum


def spread(values: Tensor, groups: GroupSum) -> Tensor:
    """From one row per group, (layers, size, ...), to one per node, (layers, nodes, ...)."""
    result: Tensor = _Spread.apply(values.flatten(0, 1).flatten(1), groups)  # type: ignore[no-untyped-call]
    return result.view(values.shape[0], -1, *values.shape[2:])


class _Spread(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, groups: GroupSum) -> Tensor:
        ctx.groups = groups
        return groups.to_members(values)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        result: Tensor = ctx.groups.of_members(grads[0])
        return result, None
