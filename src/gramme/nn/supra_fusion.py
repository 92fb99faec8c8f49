"""The supra fusion layer of GrAMME-Fusion, which joins what the layers of the graph found."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from gramme.distributed.world import ALONE, World
from gramme.nn.random import MemberRandom
from gramme.nn.shape import Shape
from gramme.nn.weights import ScalingFactors, glorot
from gramme.ops import ACTIVATIONS, PooledGroups


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

    Attributes
    ----------
    muted : tuple of int
        Layers that give every node the mean of what they found, so that they tell no nodes apart: for explanations.
    world : World
        The processes over whose nodes that mean is taken.
    """

    muted: tuple[int, ...] = ()
    world: World = ALONE

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
        """What each layer is multiplied with if there is no feed-forward layer in between, (members, layers)."""
        return torch.einsum("mk,mkl->ml", self.kappa(), self.gamma())

    def forward(self, values: Tensor, groups: PooledGroups | None = None) -> Tensor:
        """From (layers, nodes, members, dim), or (members, rows, dim) of groups, to (nodes, members, dim)."""
        if groups is not None:
            if self.feed_forward is None:
                return self._joined(values, groups)
            values = groups.by_layer(values)
        if self.muted:
            values = levelled(values, self.muted, self.world)
        if self.feed_forward is None:
            return torch.einsum("lnmd,ml->nmd", values, self.layer_factors())
        fused = torch.einsum("mkl,lnmd->nmkd", self.gamma(), values)
        fused = self.activation(torch.einsum("nmkd,mkde->nmke", fused, self.feed_forward))
        return torch.einsum("mk,nmkd->nmd", self.kappa(), fused)

    def directions(self, values: Tensor, direction: Tensor) -> Tensor:
        """What each layer's values are multiplied with so that all of it adds up to the result times a direction.

        The activation of a feed-forward layer counts as the product with its quotient, f(x) / x.

        Parameters
        ----------
        values : tensor, shape (layers, nodes, members, dim)
            What the layers found.
        direction : tensor, shape (nodes, members, dim)

        Returns
        -------
        tensor, shape (layers, nodes, members, dim)
        """
        gamma, kappa = self.gamma().to(values.dtype), self.kappa().to(values.dtype)
        if self.feed_forward is None:
            return torch.einsum("mk,mkl,nmd->lnmd", kappa, gamma, direction)
        weight = self.feed_forward.to(values.dtype)
        fused = torch.einsum("mkl,lnmd,mkde->nmke", gamma, values, weight)
        back = self.activation.quotient(fused) * direction.unsqueeze(2) * kappa[None, :, :, None]
        return torch.einsum("nmke,mkde,mkl->lnmd", back, weight, gamma)

    def _joined(self, values: Tensor, groups: PooledGroups) -> Tensor:
        """The sum over each node's groups, with the factors of their layers."""
        scaled = values * self.layer_factors().index_select(1, groups.layer_of)[..., None]
        if not self.muted:
            return groups.joined(scaled)
        muted = torch.isin(groups.layer_of, torch.tensor(self.muted, device=values.device))
        level = torch.einsum("mrd,r->md", scaled, (muted * groups.portion).to(scaled.dtype))
        return groups.joined(scaled * ~muted[:, None]) + level


def levelled(values: Tensor, layers: Sequence[int], world: World = ALONE) -> Tensor:
    """Values (layers, nodes, ...) in which some layers have their mean over the nodes everywhere."""
    chosen = list(layers)
    values = values.clone()
    values[chosen] = world.mean(values[chosen], 1).unsqueeze(1)
    return values
