"""What a fitted attention model leans on: which layers matter, and who is listened to in a layer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gramme.nn import AttentionHop, Network, Output, Structure
from gramme.training import evaluate


def layer_shares(output: Output, classifier: Tensor) -> NDArray[np.float64]:
    """How large each layer's part in the result is, shape (members, layers), each member's summing to 1.

    Where layers are combined, the joint result is a sum of one part per layer: the layer's representation times its
    fusion weight. A layer matters by how much its part differs from node to node in the directions that the classes
    are told apart by; a part that is the same for all nodes decides nothing. So: subtract the mean over the nodes,
    apply the classifier to the last combination, take the root mean square, and divide by the sum over the layers.
    Where layers are combined at every hop, the shares of the hops are averaged.
    """
    shares = []
    for position, parts in enumerate(output.contributions):
        centred = parts - parts.mean(1, keepdim=True)
        if position == len(output.contributions) - 1:
            centred = torch.einsum("lnmd,mdc->lnmc", centred, classifier)
            centred = centred - centred.mean(-1, keepdim=True)
        size = centred.double().square().mean((1, 3)).sqrt().t()
        total = size.sum(1, keepdim=True)
        even = torch.full_like(size, 1.0 / size.shape[1])
        shares.append(torch.where(total > 0, size / total.clamp(min=1e-300), even))
    mean: NDArray[np.float64] = torch.stack(shares).mean(0).cpu().numpy()
    return mean


def hop_scores(
    network: Network, hops: Sequence[AttentionHop], features: Tensor, structure: Structure
) -> Tensor:
    """The scores of every node at the last of the given hops, (layers, nodes, members, heads), in a forward pass."""
    found: list[Tensor] = []

    def remember(hop: AttentionHop, inputs: tuple[Tensor, ...]) -> None:
        found.append(hop.scores(inputs[0]))

    handles = [hop.register_forward_pre_hook(remember) for hop in hops]
    try:
        evaluate(network, features, structure)
    finally:
        for handle in handles:
            handle.remove()
    return found[-1]


def relative_attention(scores: Tensor, present: NDArray[np.bool_]) -> NDArray[np.float64]:
    """How much each node is listened to relative to the average node, from scores (nodes, members, heads).

    ``exp(t_j)`` divided by its mean over the nodes present, averaged over members and heads; NaN for absent nodes.
    """
    result = np.full(present.size, np.nan)
    if present.any():
        chosen = scores.double()[torch.from_numpy(present.copy())]
        weight = torch.softmax(chosen, dim=0) * chosen.shape[0]
        result[present] = weight.mean((1, 2)).cpu().numpy()
    return result
