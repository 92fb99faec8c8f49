"""What a fitted attention model leans on: which layers matter, and who is listened to in a layer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gramme.graph import MultilayerGraph
from gramme.nn import AttentionHop, Network, Plan, SGNetwork, SupraFusion
from gramme.training import evaluate

MAX_EXPLAINED_NUMBERS = 100_000_000
"""Nodes x layers x passes that an explanation of all members may take."""


def member_shares(
    batches: Iterable[tuple[Network, Tensor, Plan]], graph: MultilayerGraph
) -> NDArray[np.float64]:
    """The :func:`layer_shares` of each member, (members, layers); on a large graph of the first members alone."""
    layers = graph.num_layers
    enough = MAX_EXPLAINED_NUMBERS // max(1, graph.num_nodes * layers * (2 * layers + 2))
    shares: list[NDArray[np.float64]] = []
    for batch in batches:
        shares.append(layer_shares(*batch))
        if sum(map(len, shares)) >= enough:
            break
    return np.concatenate(shares)


def layer_shares(network: Network, features: Tensor, plan: Plan) -> NDArray[np.float64]:
    """How much a network's predictions rest on each layer, shape (members, layers), each member's summing to 1.

    A layer is muted by giving every node the mean of what the layer found, so that it no longer tells nodes apart.
    With p the predicted probabilities and D the mean Kullback-Leibler divergence from p over the nodes, a layer gets

        D(all but this layer) + (D(none) - D(this layer alone)),

    what is lost without it plus what it gives on its own, never less than 0. The first term alone would find two layers
    that say the same to be of no use, the second alone would not see what only several layers together can tell; with
    two layers their mean is the Shapley value. The result is divided by the sum over the layers.

    A layer of noise gets what a model has fitted to that noise. Cost: 2 layers + 2 passes without gradients.
    """
    layers = range(network.shape.layers)

    def log_probabilities(muted: Iterable[int]) -> Tensor:
        with _muted(network, list(muted)):
            return evaluate(network, features, plan).scores.double().log_softmax(-1)

    full = log_probabilities([])

    def moved(muted: Iterable[int]) -> Tensor:
        """The divergence from the full network's predictions, (members,)."""
        return (full.exp() * (full - log_probabilities(muted))).sum(-1).mean(0)

    lost = torch.stack([moved([layer]) for layer in layers], dim=1)
    alone = torch.stack([moved(set(layers) - {layer}) for layer in layers], dim=1)
    worth = lost.clamp(min=0) + (moved(layers)[:, None] - alone).clamp(min=0)
    total = worth.sum(1, keepdim=True)
    even = torch.full_like(worth, 1.0 / len(layers))
    shares: NDArray[np.float64] = torch.where(total > 1e-12, worth / total, even).cpu().numpy()
    return shares


@contextmanager
def _muted(network: Network, layers: list[int]) -> Iterator[None]:
    """Within this, what the given layers find is the same for all nodes wherever it meets other layers.

    GrAMME-Fusion: where layers are fused. GrAMME-SG: after every hop, since a node's copies hear each other.
    """

    def level(values: Tensor) -> Tensor:
        """Values (layers, nodes, members, dim) with the muted layers at their mean."""
        values = values.clone()
        values[layers] = values[layers].mean(1, keepdim=True)
        return values

    def before_fusion(module: Any, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (level(inputs[0]), *inputs[1:])

    def after_hop(module: Any, inputs: Any, found: Tensor) -> Tensor:
        copies = found.view(network.shape.layers, -1, *found.shape[2:])
        return level(copies).view_as(found)

    handles = []
    if layers:
        for module in network.modules():
            if isinstance(module, SupraFusion):
                handles.append(module.register_forward_pre_hook(before_fusion))
            elif isinstance(module, AttentionHop) and isinstance(network, SGNetwork):
                handles.append(module.register_forward_hook(after_hop))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def hop_scores(network: Network, hop: AttentionHop, features: Tensor, plan: Plan) -> Tensor:
    """The scores of every node at a hop, (layers, nodes, members, heads), found in a forward pass."""
    found: list[Tensor] = []

    def remember(module: Any, inputs: tuple[Tensor, ...]) -> None:
        found.append(hop.scores(inputs[0]))

    handle = hop.register_forward_pre_hook(remember)
    try:
        evaluate(network, features, plan)
    finally:
        handle.remove()
    return found[-1]


def relative_attention(scores: Tensor, present: NDArray[np.bool_]) -> NDArray[np.float64]:
    """How much each node is listened to relative to the average node, from scores (nodes, members, heads).

    ``exp(t_j)`` divided by its mean over the nodes present, averaged over members and heads; NaN for absent nodes.
    """
    result = np.full(present.size, np.nan)
    if present.any():
        chosen = scores.double().cpu()[torch.from_numpy(present.copy())]
        weight = torch.softmax(chosen, dim=0) * chosen.shape[0]
        result[present] = weight.mean((1, 2)).numpy()
    return result
