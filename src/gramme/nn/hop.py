"""One hop of weighted graph attention, for all members of an ensemble and all layers of the graph at once."""

from __future__ import annotations

from functools import partial

from torch import Tensor, nn

from gramme.nn.formula import bounded, pooled_attention, score_weight, weighted_attention
from gramme.nn.random import MemberRandom, Places
from gramme.nn.weights import ScalingFactors, glorot
from gramme.ops import ACTIVATIONS, Features, NeighbourhoodSum, PooledGroups, project


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
    combine_heads : {"weighted", "average", "concatenate"}, default="weighted"
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

    def forward(
        self,
        features: Features,
        neighbourhood: NeighbourhoodSum | PooledGroups | None,
        places: Places | None = None,
    ) -> Tensor:
        """From (nodes, members, in_dim), shared by the layers, or (layers, nodes, members, in_dim) to (.., out_dim).

        The nodes of the result are the outputs of the neighbourhood sum. Without one each node hears itself alone. From
        groups that are pooled come (members, groups, out_dim).
        """
        factors = None if self.factors is None else self.factors()
        concatenate = self.combine_heads == "concatenate"
        if isinstance(neighbourhood, PooledGroups):
            assert isinstance(features, Tensor)
            return pooled_attention(
                features,
                self.weight,
                self.attention,
                factors,
                neighbourhood,
                self.activation,
                concatenate=concatenate,
                score_bound=self.score_bound,
            )
        return weighted_attention(
            features,
            self.weight,
            self.attention,
            factors,
            neighbourhood,
            self.activation,
            concatenate=concatenate,
            score_bound=self.score_bound,
            drop=partial(self._dropped, places)
            if self.training and self.attention_dropout > 0
            else None,
        )

    def scores(self, features: Features) -> Tensor:
        """How much each node is listened to, t of the formula, shape (layers, nodes, members, heads)."""
        scores = project(features, score_weight(self.weight, self.attention))[0]
        return bounded(scores, self.score_bound)

    def messages(self, features: Features) -> tuple[Tensor, Tensor]:
        """What each node says to those who hear it, x and t of the formula.

        Of shape (layers, nodes, members, heads, columns) and (layers, nodes, members, heads).
        """
        values, scores = project(
            features, self.weight.flatten(3), score_weight(self.weight, self.attention)
        )
        return values.view(*scores.shape, -1), bounded(scores, self.score_bound)

    def head_factors(self) -> Tensor:
        """What the activated heads are multiplied with before they are added, (members, layers, heads)."""
        if self.factors is not None:
            found: Tensor = self.factors()
            return found
        return self.attention.new_full(self.attention.shape[:3], 1 / self.heads)

    def _dropped(self, places: Places | None, values: Tensor) -> Tensor:
        return values * self.random.mask(values[..., :1], 1, self.attention_dropout, places)
