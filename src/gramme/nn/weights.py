"""Small learned weights: the scaling factors of a fusion head, in the three ways they may be constrained."""

from __future__ import annotations

import math

from torch import Tensor, nn

from gramme.nn.random import MemberRandom

KINDS = ("nonnegative", "simplex", "free")


class ScalingFactors(nn.Module):
    """Scaling factors over the last axis: the numbers a fusion head multiplies its inputs with.

    They start near 1 / n, a little apart from each other so that several heads do not learn the same.

    Parameters
    ----------
    random : MemberRandom
        Draws the starting values; the factors' first axis are its members.
    shape : tuple of int
        The further axes; the last one is the one that is combined.
    kind : {"nonnegative", "simplex", "free"}
        Non-negative as in the paper, also summing to one, or unconstrained.
    """

    def __init__(self, random: MemberRandom, shape: tuple[int, ...], kind: str) -> None:
        super().__init__()
        if kind not in KINDS:
            raise ValueError(f"head_weights must be one of {', '.join(KINDS)}, not {kind!r}")
        self.kind = kind
        start = 1.0 / max(shape[-1], 1)
        noise = random.normal(shape) * 0.1
        if kind == "nonnegative":
            noise += math.log(math.expm1(start))  # softplus of this is the start
        elif kind == "free":
            noise = start * (1.0 + noise)
        self.raw = nn.Parameter(noise)

    def forward(self) -> Tensor:
        """The factors, constrained as asked."""
        if self.kind == "nonnegative":
            return nn.functional.softplus(self.raw)
        if self.kind == "simplex":
            return self.raw.softmax(-1)
        return self.raw

    def extra_repr(self) -> str:
        """Shape and constraint."""
        return f"{tuple(self.raw.shape)}, {self.kind}"


def glorot(random: MemberRandom, shape: tuple[int, ...], fan_in: int, fan_out: int) -> nn.Parameter:
    """A parameter (members, *shape) drawn uniformly with Glorot's range for the given fans."""
    return nn.Parameter(random.uniform(shape, math.sqrt(6.0 / (fan_in + fan_out))))
