"""The supra fusion layer of GrAMME-Fusion, which joins what the layers of the graph found."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from gramme.nn.random import MemberRandom
from gramme.nn.shape import Shape
from gramme.nn.weights import ScalingFactors, glorot
from gramme.ops import ACTIVATIONS


class SupraFusion(nn.Module):
    """K fusion heads over the L layers and an overall fusion head over the K (the supra fusion layer).

    Without a feed-forward layer between the two, both are linear and multiply out to one factor per layer,
    ``sum over k of kappa_k gamma_kl``, which is how it is computed.

    Parameters
    ----------
    shape : Shape
    random : MemberRandom
    fusion_heads : int
        K.
    feed_forward : bool
        Whether each head's result passes a fully connected layer and the activation before the overall fusion.
    """

    def __init__(
        self, shape: Shape, random: MemberRandom, fusion_heads: int, feed_forward: bool
    ) -> None:
        super().__init__()
        dim = shape.hidden_dim
        self.gamma = ScalingFactors(random, (fusion_heads, shape.layers), shape.head_weights)
        self.kappa = ScalingFactors(random, (fusion_heads,), shape.head_weights)
        self.activation = ACTIVATIONS[shape.activation]
        self.feed_forward = (
            glorot(random, (fusion_heads, dim, dim), dim, dim) if feed_forward else None
        )

    def layer_factors(self) -> Tensor:
        """What each layer is multiplied with when no feed-forward layer stands between, (members, layers)."""
        return torch.einsum("mk,mkl->ml", self.kappa(), self.gamma())

    def forward(self, values: Tensor) -> Tensor:
        """From (layers, nodes, members, dim) to (nodes, members, dim)."""
        if self.feed_forward is None:
            return (values * self.layer_factors().t()[:, None, :, None]).sum(0)
        fused = torch.einsum("mkl,lnmd->nmkd", self.gamma(), values)
        fused = self.activation(torch.einsum("nmkd,mkde->nmke", fused, self.feed_forward))
        return torch.einsum("mk,nmkd->nmd", self.kappa(), fused)
