"""Gradients of parameters that every process has: added up over all, so that each takes the same step."""

from __future__ import annotations

import torch
from torch import nn

from gramme.distributed.world import World


def add_up_gradients(network: nn.Module, world: World) -> None:
    """Add up the gradients of all processes in one collective, whatever their number.

    Which parameters have a gradient is the same at all processes: they follow the same program.
    """
    if world.alone:
        return
    found = [one.grad for one in network.parameters() if one.grad is not None]
    flat = world.total_(torch.cat([one.flatten() for one in found]))
    start = 0
    for one in found:
        one.copy_(flat[start : start + one.numel()].view_as(one))
        start += one.numel()
