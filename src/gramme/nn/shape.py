"""What goes into a network and what comes out: its sizes, the graph's structure, its output."""

from __future__ import annotations

from dataclasses import dataclass

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
    """What a network needs of a graph: neighbourhood sums and which copies of nodes exist."""

    sums: tuple[NeighbourhoodSum, ...]
    present: Tensor | None

    def to(self, device: torch.device) -> Structure:
        """The same on another device."""
        present = None if self.present is None else self.present.to(device)
        return Structure(tuple(one.to(device) for one in self.sums), present)


@dataclass(frozen=True)
class Output:
    """What a network finds: class scores (nodes, members, classes), embedding (nodes, members, hidden_dim)."""

    scores: Tensor
    embedding: Tensor
