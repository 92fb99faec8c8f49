"""What goes into a network and what comes out: its sizes, the graph's structure, its output."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from gramme.ops import NeighbourhoodSum


@dataclass(frozen=True)
class Shape:
    """The sizes and choices that both networks share; the paper's symbols in brackets.

    Parameters
    ----------
    layers : int
        Layers of the graph (L).
    in_dim, hidden_dim, classes : int
        Columns of the features (D), of the embedding (d), and classes (C).
    heads, depth : tuple of int
        Attention heads (H) and hops (T) of each layer.
    """

    layers: int
    in_dim: int
    hidden_dim: int
    classes: int
    heads: tuple[int, ...]
    depth: tuple[int, ...]
    head_weights: str = "nonnegative"
    activation: str = "elu"
    dropout: float = 0.0
    attention_dropout: float = 0.0
    combine_heads: str = "weighted"


@dataclass(frozen=True)
class Structure:
    """What a network needs of a graph: neighbourhood sums and which copies of nodes exist.

    Attributes
    ----------
    nodes : int
    sums : tuple of NeighbourhoodSum
        Each over the copies of the nodes in some layers.
    present : tensor, shape (layers, nodes), optional
        Which copies exist, as numbers; all where not given.
    asked : tensor of int, optional
        The nodes that output is wanted for; all where not given.
    last : tuple of NeighbourhoodSum or None
        The sums of the last hop, for those nodes alone; None where the whole sum is as cheap.
    """

    nodes: int
    sums: tuple[NeighbourhoodSum, ...]
    present: Tensor | None = None
    asked: Tensor | None = None
    last: tuple[NeighbourhoodSum | None, ...] = ()

    def to(self, device: torch.device) -> Structure:
        """The same on another device."""
        present, asked = (None if x is None else x.to(device) for x in (self.present, self.asked))
        last = tuple(None if one is None else one.to(device) for one in self.last)
        return Structure(
            self.nodes, tuple(one.to(device) for one in self.sums), present, asked, last
        )

    def asking(self, nodes: Tensor) -> Structure:
        """For output of some nodes, in ascending order; itself where nothing is saved by it."""
        if nodes.numel() == self.nodes:
            return self
        last = []
        for one in self.sums:
            starts = torch.arange(0, one.rows, max(self.nodes, 1), device=nodes.device)
            last.append(one.part((starts[:, None] + nodes).flatten()))
        if all(one is None for one in last):
            return self
        return replace(self, asked=nodes, last=tuple(last))

    def at_hop(self, step: int, hops: int) -> Structure:
        """What a hop needs: before the last one every node is wanted, as others listen to it."""
        return self if step == hops - 1 else replace(self, asked=None, last=())

    def wanted_sum(self, place: int) -> NeighbourhoodSum:
        """One of the sums, for the nodes that are asked about where that saves anything."""
        part = self.last[place] if self.last else None
        return part or self.sums[place]

    @property
    def wanted_copies(self) -> Tensor | None:
        """Which copies exist of the nodes that are asked about; None where all do."""
        if self.present is None or self.asked is None:
            return self.present
        return self.present.index_select(1, self.asked)


@dataclass(frozen=True)
class Output:
    """What a network finds: class scores (nodes, members, classes), embedding (nodes, members, hidden_dim)."""

    scores: Tensor
    embedding: Tensor
