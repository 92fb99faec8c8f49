"""The two networks as the paper's equations say, member by member, layer by layer and edge by edge."""

import torch
from tests.ops.reference import reference_attention
from torch import Tensor

from gramme.graph import MultilayerGraph
from gramme.nn import AttentionHop, FusionNetwork, SGNetwork, SupraFusion


def slow_hop(hop: AttentionHop, member: int, place: int, features: Tensor, adjacency) -> Tensor:  # type: ignore[no-untyped-def]
    """Eqs. 1 to 5 for one layer: project, attend, activate, fuse heads."""
    found = []
    for head in range(hop.heads):
        values = features @ hop.weight[member, place, :, head]
        scores = values @ hop.attention[member, place, head]
        if hop.score_bound is not None:
            scores = hop.score_bound * torch.tanh(scores / hop.score_bound)
        mean = reference_attention(values[:, None], scores[:, None], adjacency)[:, 0]
        found.append(hop.activation(mean))
    if hop.combine_heads == "concatenate":
        return torch.cat(found, dim=1)
    if hop.factors is None:
        return torch.stack(found).mean(0)
    return torch.stack(found).mul(hop.factors()[member, place, :, None, None]).sum(0)


def slow_supra_fusion(fusion: SupraFusion, member: int, layers: list[Tensor]) -> Tensor:
    """K fusion heads over the layers, perhaps a feed-forward layer each, and the overall fusion head."""
    gamma, kappa = fusion.gamma()[member], fusion.kappa()[member]
    total = torch.zeros_like(layers[0])
    for head in range(kappa.shape[0]):
        fused = sum((gamma[head, place] * layer for place, layer in enumerate(layers)), torch.zeros_like(layers[0]))
        if fusion.feed_forward is not None:
            fused = fusion.activation(fused @ fusion.feed_forward[member, head])
        total = total + kappa[head] * fused
    return total


def slow_fusion(network: FusionNetwork, graph: MultilayerGraph, features: Tensor, member: int) -> Tensor:
    """GrAMME-Fusion's embedding of one member, from its features (nodes, in_dim)."""
    layers = list(graph.layers.values())
    where = {layer: (g, group.index(layer)) for g, group in enumerate(network.groups) for layer in group}

    def hop_of(layer: int, step: int) -> tuple[AttentionHop, int]:
        group, place = where[layer]
        return network.hops[group][step], place  # type: ignore[index, return-value]

    def present(layer: int, values: Tensor) -> Tensor:
        return values * torch.tensor(layers[layer].present)[:, None]

    if network.fuse == "end":
        found = []
        for number, layer in enumerate(layers):
            values = features
            for step in range(network.shape.depth[number]):
                hop, place = hop_of(number, step)
                values = slow_hop(hop, member, place, values, layer.to_scipy())
            found.append(present(number, values))
        return slow_supra_fusion(network.fusions[0], member, found)  # type: ignore[arg-type]
    values = features
    for step, fusion in enumerate(network.fusions):
        found = []
        for number, layer in enumerate(layers):
            hop, place = hop_of(number, step)
            found.append(present(number, slow_hop(hop, member, place, values, layer.to_scipy())))
        values = slow_supra_fusion(fusion, member, found)  # type: ignore[arg-type]
    return values


def slow_sg(network: SGNetwork, graph: MultilayerGraph, features: Tensor, member: int) -> Tensor:
    """GrAMME-SG's embedding of one member, from features of all copies (layers * nodes, in_dim)."""
    adjacency = graph.supra_adjacency()
    there = torch.stack([torch.tensor(layer.present) for layer in graph.layers.values()])
    pooled = values = features
    for step, hop in enumerate(network.hops, start=1):
        values = slow_hop(hop, member, 0, values, adjacency)  # type: ignore[arg-type]
        if network.pool == "every hop" or step == len(network.hops):
            copies = values.view(graph.num_layers, graph.num_nodes, -1) * there[:, :, None]
            pooled = copies.sum(0) / there.sum(0).clamp(min=1)[:, None]
            values = pooled.repeat(graph.num_layers, 1)
    return pooled
