"""Random numbers for an ensemble: every member draws from generators of its own.

What a member becomes then depends on its seed alone, not on which other members are trained in the same batch.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


class MemberRandom:
    """Generators of the members: one each for starting values (on the CPU), one each for dropout (where it runs).

    Parameters
    ----------
    seeds : sequence of int
        One seed per member.
    """

    def __init__(self, seeds: Sequence[int]) -> None:
        self.seeds = [int(seed) % 2**63 for seed in seeds]
        self._start = [torch.Generator().manual_seed(seed) for seed in self.seeds]
        self._running: list[torch.Generator] | None = None

    @property
    def members(self) -> int:
        """How many members there are."""
        return len(self.seeds)

    def uniform(self, shape: tuple[int, ...], bound: float) -> Tensor:
        """Uniform between -bound and bound, shape (members, *shape)."""
        draws = [torch.rand(shape, generator=one) for one in self._start]
        return (torch.stack(draws) * 2 - 1) * bound

    def normal(self, shape: tuple[int, ...]) -> Tensor:
        """Standard normal, shape (members, *shape)."""
        return torch.stack([torch.randn(shape, generator=one) for one in self._start])

    def mask(self, like: Tensor, axis: int, probability: float) -> Tensor:
        """A dropout mask of zeros and 1 / (1 - p) in the shape of ``like``, whose members lie along ``axis``."""
        if self._running is None:
            self._running = [
                torch.Generator(like.device).manual_seed(seed + 1) for seed in self.seeds
            ]
        shape = like.shape[:axis] + like.shape[axis + 1 :]
        keep = 1.0 - probability
        draws = [
            torch.empty(shape, dtype=like.dtype, device=like.device).bernoulli_(keep, generator=one)
            for one in self._running
        ]
        return torch.stack(draws, axis).div_(keep)
