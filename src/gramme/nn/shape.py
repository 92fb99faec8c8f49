"""What a network is made of and what comes out of it: its sizes and its output."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

READOUTS = ("linear", "attention")


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
    readout : {"linear", "attention"}
        What gives the class scores: a fully connected layer after the last hop, or the last hop itself.
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
    score_bound: float | None = None
    readout: str = "linear"

    @property
    def out_dim(self) -> int:
        """Columns of the last hop, which are those of the embedding."""
        return self.hidden_dim if self.readout == "linear" else self.classes

    @property
    def drops(self) -> bool:
        """Whether anything is left out at random in a training step."""
        return self.dropout > 0 or self.attention_dropout > 0

    def architectures(self) -> list[list[int]]:
        """Positions of the layers, grouped by equal numbers of heads and hops."""
        groups: dict[tuple[int, int], list[int]] = {}
        for position, key in enumerate(zip(self.heads, self.depth, strict=True)):
            groups.setdefault(key, []).append(position)
        return list(groups.values())


@dataclass(frozen=True)
class Output:
    """What a network finds: class scores (nodes, members, classes), embedding (nodes, members, out_dim)."""

    scores: Tensor
    embedding: Tensor

    def at(self, nodes: Tensor | None) -> Output:
        """The same for some nodes; for all if none are given."""
        if nodes is None:
            return self
        return Output(self.scores.index_select(0, nodes), self.embedding.index_select(0, nodes))
