"""One hop of weighted graph attention, for all members of an ensemble and all layers of the graph at once."""

from __future__ import annotations

from torch import Tensor, nn

from gramme.nn.formula import bounded, score_weight, weighted_attention
from gramme.nn.random import MemberRandom
from gramme.nn.weights import ScalingFactors, glorot
from gramme.ops import ACTIVATIONS, NeighbourhoodSum, project


class AttentionHop(nn.Module):
    """H attention heads and their fusion head, with parameters of its own for each layer.

    :mod:`gramme.nn.formula` says what it computes. The heads' results are activated and summed with the scaling factors
    of a fusion head, or combined as in other attention networks: averaged, or put side by side.

    Parameters
    ----------
    random : MemberRandom
        The members of the ensemble; draws starting values and dropout.
    layers : int
        Layers with parameters of their own.
    in_dim, out_dim, heads : int
        When heads are concatenated, each has ``out_dim / heads`` columns.
    head_weights : {"nonnegative", "simplex", "free"}
    activation : str
    attention_dropout : float
        Probability with which a node is not heard, by anybody, in a training step.
    combine_heads : {"weighted", "average", "concatenate"}
    score_bound : float, optional
        Keep scores between minus and plus this.
    """

    def __init__(
        self,
        random: MemberRandom,
        layers: int,
        in_dim: int,
        out_dim: int,
        heads: int,
        *,
        head_weights: str,
        activation: str,
        attention_dropout: float,
        combine_heads: str = "weighted",
        score_bound: float | None = None,
    ) -> None:
        super().__init__()
        self.heads, self.out_dim, self.combine_heads = heads, out_dim, combine_heads
        self.columns = out_dim // heads if combine_heads == "concatenate" else out_dim
        self.activation = ACTIVATIONS[activation]
        self.attention_dropout = attention_dropout
        self.score_bound = score_bound
        self.random = random
        self.weight = glorot(random, (layers, in_dim, heads, self.columns), in_dim, self.columns)
        self.attention = glorot(random, (layers, heads, self.columns), self.columns, 1)
        self.factors = (
            ScalingFactors(random, (layers, heads), head_weights)
            if combine_heads == "weighted"
            else None
        )

    def forward(self, features: Tensor, neighbourhood: NeighbourhoodSum | None) -> Tensor:
        """From (nodes, members, in_dim), shared by the layers, or (layers, nodes, members, in_dim) to (.., out_dim).

        The nodes of the result are the outputs of the neighbourhood sum. Without one each node hears itself alone.
        """
        return weighted_attention(
            features,
            self.weight,
            self.attention,
            None if self.factors is None else self.factors(),
            neighbourhood,
            self.activation,
            concatenate=self.combine_heads == "concatenate",
            score_bound=self.score_bound,
            drop=self._dropped if self.training and self.attention_dropout > 0 else None,
        )

    def scores(self, features: Tensor) -> Tensor:
        """How much each node is listened to, t of the formula, shape (layers, nodes, members, heads)."""
        scores = project(features, score_weight(self.weight, self.attention))[0]
        return bounded(scores, self.score_bound)

    def _dropped(self, values: Tensor) -> Tensor:
        return values * self.random.mask(values[..., :1], 1, self.attention_dropout)
