"""Small learned weights: the scaling factors of a fusion head, in the three ways they may be constrained."""

from __future__ import annotations

import math

from torch import Tensor, nn

from gramme.nn.random import MemberRandom

HEAD_WEIGHTS = ("nonnegative", "simplex", "free")


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
        if kind not in HEAD_WEIGHTS:
            raise ValueError(f"head_weights must be one of {', '.join(HEAD_WEIGHTS)}, not {kind!r}")
        self.kind = kind
        self.raw = nn.Parameter(raw_factors(random.normal(shape), kind))

    def forward(self) -> Tensor:
        """The factors, constrained as asked."""
        return constrained(self.raw, self.kind)

    def extra_repr(self) -> str:
        """Shape and constraint."""
        return f"{tuple(self.raw.shape)}, {self.kind}"


def constrained(raw: Tensor, kind: str) -> Tensor:
    """Factors from numbers that may be anything: f = log(1 + exp(raw)), f = softmax(raw) or f = raw."""
    if kind == "nonnegative":
        return nn.functional.softplus(raw)
    return raw.softmax(-1) if kind == "simplex" else raw


def raw_factors(noise: Tensor, kind: str) -> Tensor:
    """Numbers that :func:`constrained` turns into factors near 1 / n, from normal noise; n is its last axis."""
    if noise.is_meta:
        return noise  # of which only the shape is asked: see ShapesOnly
    start = 1.0 / max(noise.shape[-1], 1)
    noise = noise * 0.1
    if kind == "nonnegative":
        noise += math.log(math.expm1(start))  # softplus of this is the start
    elif kind == "free":
        noise = start * (1.0 + noise)
    return noise


def glorot(random: MemberRandom, shape: tuple[int, ...], fan_in: int, fan_out: int) -> nn.Parameter:
    """A parameter (members, *shape) drawn uniformly with Glorot's range for the given fans."""
    return nn.Parameter(random.uniform(shape, glorot_bound(fan_in, fan_out)))


def glorot_bound(fan_in: int, fan_out: int) -> float:
    """Half the width of Glorot's range."""
    return math.sqrt(6.0 / (fan_in + fan_out))
