"""One hop of weighted graph attention: project, attend, activate, fuse the heads.

Everything runs for all members of an ensemble and all layers of the graph at once. Tensors over nodes have the axes
(layers, nodes, members, ...), so that nodes come before members: a neighbourhood sum then finds members and heads side
by side as columns of one call.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gramme.nn.random import MemberRandom
from gramme.nn.weights import ScalingFactors, glorot
from gramme.ops import ACTIVATIONS, NeighbourhoodSum, attention_sums, fuse_heads, project

COMBINE = ("weighted", "average", "concatenate")


class AttentionHop(nn.Module):
    """H attention heads and their fusion head, Eqs. 1 to 5 of the paper, with parameters of its own for each layer.

    For each head, ``x = features W`` (Eq. 1), the score of a node is ``t = <a, x>``: the half of Eq. 2 that does not
    cancel in the softmax. The heads' results are activated and summed with the scaling factors of a fusion head, or
    combined as in other attention networks: averaged, or put side by side.

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
    ) -> None:
        super().__init__()
        self.heads, self.out_dim, self.combine_heads = heads, out_dim, combine_heads
        self.columns = out_dim // heads if combine_heads == "concatenate" else out_dim
        self.activation = ACTIVATIONS[activation]
        self.attention_dropout = attention_dropout
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
        members, layers = self.weight.shape[:2]
        values = self.weight.flatten(3)
        totals = None
        if neighbourhood is None:
            (sums,) = project(features, values)
        else:
            projected, scores = project(features, values, self._score_weight())
            rows = (neighbourhood.rows, members * self.heads)
            heard = self._dropped(projected.view(*rows, self.columns))
            sums, totals = attention_sums(heard, scores.view(rows), neighbourhood)
            totals = totals.view(layers, -1, members, self.heads)
        sums = sums.view(layers, -1, members, self.heads, self.columns)
        return self._combined(sums, totals)

    def _combined(self, sums: Tensor, totals: Tensor | None) -> Tensor:
        if self.combine_heads == "concatenate":
            means = sums if totals is None else sums / totals.unsqueeze(-1)
            return self.activation(means).flatten(-2)
        if self.factors is None:
            factors = sums.new_full((sums.shape[0], sums.shape[2], self.heads), 1 / self.heads)
        else:
            factors = self.factors().transpose(0, 1)
        return fuse_heads(sums, totals, factors, self.activation)

    def scores(self, features: Tensor) -> Tensor:
        """How much each node is listened to, ``t = <a, x>``, shape (layers, nodes, members, heads)."""
        return project(features, self._score_weight())[0]

    def _score_weight(self) -> Tensor:
        """The attention vector multiplied into the projection, which saves a pass over all of x."""
        return torch.einsum("mlihd,mlhd->mlih", self.weight, self.attention)

    def _dropped(self, values: Tensor) -> Tensor:
        if not self.training or self.attention_dropout == 0:
            return values
        by_member = values.view(values.shape[0], -1, self.heads, self.columns)
        mask = self.random.mask(by_member[..., :1], 1, self.attention_dropout)
        return (by_member * mask).view_as(values)
