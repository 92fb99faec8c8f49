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
from gramme.ops import NeighbourhoodSum, attention

ACTIVATIONS = {
    "elu": nn.functional.elu,
    "relu": nn.functional.relu,
    "tanh": torch.tanh,
    "none": lambda values: values,
}


class AttentionHop(nn.Module):
    """H attention heads and their fusion head, Eqs. 1 to 5 of the paper, with parameters of its own for each layer.

    For each head, ``x = features W`` (Eq. 1), the score of a node is ``t = <a, x>``: the half of Eq. 2 that does not
    cancel in the softmax. The heads' results are activated and summed with the scaling factors of a fusion head.

    Parameters
    ----------
    random : MemberRandom
        The members of the ensemble; draws starting values and dropout.
    layers : int
        Layers with parameters of their own.
    in_dim, out_dim, heads : int
    head_weights : {"nonnegative", "simplex", "free"}
    activation : str
    attention_dropout : float
        Probability with which a node is not heard, by anybody, in a training step.
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
    ) -> None:
        super().__init__()
        self.heads, self.out_dim = heads, out_dim
        self.activation = ACTIVATIONS[activation]
        self.attention_dropout = attention_dropout
        self.random = random
        self.weight = glorot(random, (layers, in_dim, heads, out_dim), in_dim, out_dim)
        self.attention = glorot(random, (layers, heads, out_dim), out_dim, 1)
        self.factors = ScalingFactors(random, (layers, heads), head_weights)

    def forward(self, features: Tensor, neighbourhood: NeighbourhoodSum) -> Tensor:
        """From (nodes, members, in_dim), shared by the layers, or (layers, nodes, members, in_dim) to (.., out_dim)."""
        members, layers = self.weight.shape[:2]
        values = project(features, self.weight.flatten(3))
        scores = self.scores(features)
        nodes = values.shape[1]
        rows = layers * nodes
        heard = self._dropped(values.view(rows, members * self.heads, self.out_dim))
        means = attention(heard, scores.view(rows, members * self.heads), neighbourhood)
        means = self.activation(means.view(layers, nodes, members, self.heads, self.out_dim))
        factors = self.factors().transpose(0, 1)[:, None, :, :, None]
        if self.heads == 1:
            return (means * factors).squeeze(3)
        fused: Tensor | None = None
        for head, factor in zip(means.unbind(3), factors.unbind(3), strict=True):
            fused = head * factor if fused is None else torch.addcmul(fused, head, factor)
        assert fused is not None
        return fused

    def scores(self, features: Tensor) -> Tensor:
        """How much each node is listened to, ``t = <a, x>``, shape (layers, nodes, members, heads).

        The attention vector is multiplied into the projection first, which saves a pass over all of x.
        """
        return project(features, torch.einsum("mlihd,mlhd->mlih", self.weight, self.attention))

    def _dropped(self, values: Tensor) -> Tensor:
        if not self.training or self.attention_dropout == 0:
            return values
        by_member = values.view(values.shape[0], -1, self.heads, self.out_dim)
        mask = self.random.mask(by_member[..., :1], 1, self.attention_dropout)
        return (by_member * mask).view_as(values)


def project(features: Tensor, weight: Tensor) -> Tensor:
    """Features times weights, per member and layer.

    ``features`` (nodes, members, in) or (layers, nodes, members, in), ``weight`` (members, layers, in, out); the
    result (layers, nodes, members, out) is contiguous.
    """
    members, layers = weight.shape[:2]
    if members == 1:
        # a batched product straight into the wanted order, with no copy of a large result
        single = features.squeeze(-2)
        return torch.bmm(single.expand(layers, *single.shape[-2:]), weight[0]).unsqueeze(2)
    pattern = "nmi,mlio->lnmo" if features.dim() == 3 else "lnmi,mlio->lnmo"
    return torch.einsum(pattern, features, weight).contiguous()
