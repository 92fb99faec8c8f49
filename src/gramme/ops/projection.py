"""Projection of features by the weights of every member and layer, straight into the order that attention needs.

For each member m of an ensemble and layer l of the graph, ``x = features[m] W[m, l]`` (Eq. 1 of the paper) for all
heads together. A batched product would leave members first and need a copy of the largest arrays, forward and
backward; here each product is written where it belongs, and gradients of the features are summed in place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from gramme.ops.layer_features import LayerFeatures
from gramme.ops.sparse_features import SparseFeatures

Features = Tensor | SparseFeatures | LayerFeatures
"""What a network may start from."""


def project(features: Features, *weights: Tensor) -> tuple[Tensor, ...]:
    """Features times weights, per member and layer.

    Parameters
    ----------
    features : tensor, shape (nodes, members, in) or (layers, nodes, members, in)
        Shared by the layers, or each layer's own. Sparse features are shared; those of a
        :class:`~gramme.ops.layer_features.LayerFeatures` are not.
    *weights : tensor, shape (members, layers, in, out)
        One or more, each with its own ``out``.

    Returns
    -------
    tuple of tensor, shape (layers, nodes, members, out)
        One per weight, contiguous.
    """
    if not isinstance(features, Tensor):
        return features.project(*weights)
    results: tuple[Tensor, ...] = _Project.apply(features, *weights)  # type: ignore[no-untyped-call]
    return results


class _Project(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor, *weights: Tensor) -> tuple[Tensor, ...]:
        ctx.save_for_backward(features, *weights)
        members, layers = weights[0].shape[:2]
        nodes = features.shape[-3]
        results = []
        for weight in weights:
            result = features.new_empty(layers, nodes, members, weight.shape[3])
            for source, factor, target in _pairs(features, weight, result):
                torch.mm(source, factor, out=target)
            results.append(result)
        return tuple(results)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        features, *weights = ctx.saved_tensors
        to_features = torch.zeros_like(features) if ctx.needs_input_grad[0] else None
        to_weights: list[Tensor | None] = []
        for weight, grad, needed in zip(weights, grads, ctx.needs_input_grad[1:], strict=True):
            if to_features is not None:
                for target, factor, source in _pairs(to_features, weight, grad):
                    target.addmm_(source, factor.t())
            to_weight = torch.empty_like(weight) if needed else None
            if to_weight is not None:
                for source, target, upper in _pairs(features, to_weight, grad):
                    torch.mm(source.t(), upper, out=target)
            to_weights.append(to_weight)
        return to_features, *to_weights


def _pairs(
    features: Tensor, weight: Tensor, result: Tensor
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """The three matrices of each member and layer, as views."""
    shared = features.dim() == 3
    sources = features.unbind(1) if shared else ()
    for layer, per_layer in enumerate(result.unbind(0)):
        if not shared:
            sources = features[layer].unbind(1)
        yield from zip(sources, weight[:, layer].unbind(0), per_layer.unbind(1), strict=True)
