"""Random numbers for an ensemble: every member draws from its own generators.

So what a member becomes depends only on its seed, not on which other members are trained in the same batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from gramme.ops.keyed_mask import keyed_mask

MAX_ROW_ENTRIES = 1 << 24  # entries of a row of sparse features, at most


class MemberRandom:
    """What the members draw: starting values from a generator each, dropout by node (:mod:`gramme.ops.keyed_mask`).

    Parameters
    ----------
    seeds : sequence of int
        One seed per member.
    """

    def __init__(self, seeds: Sequence[int]) -> None:
        self.seeds = [int(seed) % 2**63 for seed in seeds]
        self._start = [torch.Generator().manual_seed(seed) for seed in self.seeds]
        self.calls = 0  # masks drawn so far

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

    def mask(
        self,
        like: Tensor,
        axis: int,
        probability: float,
        places: Places | EntryPlaces | None = None,
    ) -> Tensor:
        """A dropout mask of zeros and 1 / (1 - p) in the shape of ``like``, whose members lie along ``axis``.

        Axes before the members' are rows, those after it columns. A row belongs to a node: with ``places`` to the one
        that stands there in the whole graph.
        """
        rows, columns = math.prod(like.shape[:axis]), math.prod(like.shape[axis + 1 :])
        keys = None if places is None else places.keys(rows)
        keep = 1.0 - probability
        draws = [
            keyed_mask(keys, rows, columns, seed + 1, self.calls, keep, like).view(
                like.shape[:axis] + like.shape[axis + 1 :]
            )
            for seed in self.seeds
        ]
        self.calls += 1
        return torch.stack(draws, axis)


class ShapesOnly(MemberRandom):
    """One member that draws nothing, for networks on torch's device ``meta``, of which only the shapes are asked.

    There even to multiply makes torch load its compiler, which takes seconds.
    """

    def __init__(self) -> None:
        super().__init__([0])

    def uniform(self, shape: tuple[int, ...], bound: float) -> Tensor:
        return torch.empty((1, *shape))

    def normal(self, shape: tuple[int, ...]) -> Tensor:
        return torch.empty((1, *shape))


@dataclass(frozen=True)
class Places:
    """Which nodes of a whole graph some rows stand for.

    Attributes
    ----------
    nodes : tensor of int, shape (nodes here,)
        Positions in the whole graph. Rows may be several copies of them, those of the first layer first.
    whole : int
        Nodes of the whole graph.
    """

    nodes: Tensor
    whole: int

    def keys(self, rows: int) -> Tensor:
        """A number for each row that is the same whichever process has it."""
        copies = rows // max(self.nodes.numel(), 1)
        shift = torch.arange(copies, device=self.nodes.device)[:, None] * self.whole
        return (shift + self.nodes).flatten()


@dataclass(frozen=True)
class EntryPlaces:
    """The same for the entries of sparse features: a key tells the node, and the entry's place in the node's row.

    Attributes
    ----------
    places : Places or None
        Of the rows.
    rows : int
    row, within : tensor of int, shape (entries,)
        The row of each entry, and its place there.
    """

    places: Places | None
    rows: int
    row: Tensor
    within: Tensor

    def keys(self, entries: int) -> Tensor:
        """A number for each entry that is the same whichever process has it."""
        rows = self.row if self.places is None else self.places.keys(self.rows)[self.row]
        return rows * MAX_ROW_ENTRIES + self.within
