"""Features of which each layer has columns of its own: the views of a node, one per layer.

A layer sees its own view and zeros in the columns of all others. A product with these zeros would cost as much as with
numbers, so that six views would take six times as long as they need: each layer's columns are multiplied alone.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


class LayerFeatures:
    """Features (layers, nodes, members, columns) without the columns that are zero for every node of a layer.

    It has what networks ask of a tensor of features: ``shape``, ``dim``, ``device`` and the choice of layers.

    Parameters
    ----------
    features : tensor, shape (layers, nodes, members, columns)

    Attributes
    ----------
    used : list of tensor of int
        For each layer the columns that are kept.
    parts : list of tensor, shape (nodes, members, kept)
        Their numbers; (nodes, 1, kept) where all members have the same.
    """

    def __init__(self, features: Tensor) -> None:
        self.shape = tuple(features.shape)
        self.device = features.device
        same = features.stride(2) == 0
        each = features[:, :, :1] if same else features
        self.used = [one.flatten(0, 1).any(0).nonzero().flatten() for one in each]
        self.parts = [
            one.index_select(2, used).contiguous()
            for one, used in zip(each, self.used, strict=True)
        ]

    def dim(self) -> int:
        """Layers, nodes, members and columns: 4."""
        return 4

    def __getitem__(self, layers: list[int]) -> LayerFeatures:
        """The features of some layers."""
        other = object.__new__(type(self))
        other.shape, other.device = (len(layers), *self.shape[1:]), self.device
        other.used = [self.used[layer] for layer in layers]
        other.parts = [self.parts[layer] for layer in layers]
        return other

    def dense(self) -> Tensor:
        """The whole tensor, zeros included."""
        whole: Tensor = self.parts[0].new_zeros(self.shape)
        for layer, used, part in zip(whole, self.used, self.parts, strict=True):
            layer[:, :, used] = part.expand(*self.shape[1:3], -1)
        return whole

    def project(self, *weights: Tensor) -> tuple[Tensor, ...]:
        """Features times weights (members, layers, columns, out), as :func:`gramme.ops.project` does it."""
        found: tuple[Tensor, ...] = _Project.apply(self, *weights)  # type: ignore[no-untyped-call]
        return found


class _Project(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: LayerFeatures, *weights: Tensor) -> tuple[Tensor, ...]:
        ctx.features, ctx.shapes = features, [weight.shape for weight in weights]
        layers, nodes, members, _ = features.shape
        results = []
        for weight in weights:
            result = weight.new_empty(layers, nodes, members, weight.shape[3])
            for layer, (used, part) in enumerate(zip(features.used, features.parts, strict=True)):
                mine = weight[:, layer].index_select(1, used)  # (members, kept, out)
                if part.shape[1] < members:  # one product for all members
                    together = mine.transpose(0, 1).flatten(1)
                    torch.mm(part[:, 0], together, out=result[layer].view(nodes, -1))
                    continue
                for member in range(members):
                    torch.mm(part[:, member], mine[member], out=result[layer, :, member])
            results.append(result)
        return tuple(results)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        features: LayerFeatures = ctx.features
        found: list[Tensor | None] = []
        for shape, grad in zip(ctx.shapes, grads, strict=True):
            to_weight = grad.new_zeros(shape)
            for layer, (used, part) in enumerate(zip(features.used, features.parts, strict=True)):
                upper = grad[layer]
                if part.shape[1] < shape[0]:
                    together = part[:, 0].t() @ upper.reshape(upper.shape[0], -1)
                    mine = together.view(used.numel(), shape[0], shape[3]).transpose(0, 1)
                else:
                    pairs = zip(part.unbind(1), upper.unbind(1), strict=True)
                    mine = torch.stack([source.t() @ one for source, one in pairs])
                to_weight[:, layer].index_copy_(1, used, mine)
            found.append(to_weight)
        return None, *found
