"""Through whom attention's predictions came: the log-odds of an ensemble, neighbour by neighbour and group by group.

Given how much everybody is heard, the last hop is a mean over a node and its neighbours, z_i = sum over j of a_ij x_j.
What follows takes it to the scores of two classes by products and activations. An activation is written as the product
f(z) = (f(z) / z) z, which is what integrated gradients from 0 to z give. So a member's difference of scores is a sum
over the neighbours and what is left: the node itself and the intercepts.

The members' probabilities are averaged. With L the logarithmic mean, a - b = L(a, b) log(a / b), so that

    log p(c) / p(d)  =  sum over members m of  L(p_m(c), p_m(d)) / (M L(p(c), p(d)))  times  log p_m(c) / p_m(d),

and everything adds up exactly. What a neighbour passes on at the last hop it has heard itself at the hops before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gramme.graph import MultilayerGraph
from gramme.methods.hearing import (
    Pair,
    Through,
    hearings,
    logarithmic_mean,
)
from gramme.methods.probability import Floats
from gramme.nn import AttentionHop, Network, Output, Plan, SupraFusion
from gramme.nn.plan import Step
from gramme.ops import Features
from gramme.training import evaluate


@dataclass(frozen=True)
class AttentionReasons:
    """The log-odds of some nodes taken apart; all of it adds up to them.

    Attributes
    ----------
    through : list of Through
        What came through neighbours and groups, layer by layer.
    itself : array, shape (rows,)
        What the nodes say themselves at the last hop.
    intercepts : array, shape (rows,)
        What speaks for a class whatever the node.
    """

    through: list[Through]
    itself: Floats
    intercepts: Floats


def attention_reasons(
    batches: Iterable[tuple[Network, Features, Plan]], graph: MultilayerGraph, pair: Pair
) -> AttentionReasons:
    """Take the log-odds of an ensemble apart.

    In a supra graph a node's other copies and the couplings between layers belong to no layer; what they say is left
    out. Cost: a pass of the network, and (edges or memberships of the nodes asked about) x members x
    heads x columns.

    Parameters
    ----------
    batches : iterable
        The trained networks of the ensemble, their features and the plan for all nodes.
    graph : MultilayerGraph
        As the model sees it, its layers in the order of ``layer_order_``.
    pair : Pair
        The nodes and the two classes of each.
    """
    heard = list(hearings(graph, pair.rows))
    parts = [np.zeros(one.heard.nnz) for one in heard]
    itself, intercepts = np.zeros(pair.rows.size), np.zeros(pair.rows.size)
    shares, members = np.zeros((2, pair.rows.size)), 0
    rows = torch.from_numpy(pair.rows)
    for network, features, plan in batches:
        seen = _Seen(network, features, plan)
        own = np.maximum(seen.shares(pair), np.finfo(np.float64).tiny)
        weight = torch.from_numpy(logarithmic_mean(own[0], own[1]))
        shares += own.sum(axis=2)
        members += own.shape[2]
        column, intercept = seen.contrast(pair)
        intercepts += (weight * intercept).sum(1).numpy()
        for place, said, direction in seen.last_hops(rows, column * weight[:, :, None]):
            parts[place] += heard[place].parts(said, direction)
            itself += np.einsum("ij,ij->i", said[pair.rows], direction)
    scale = 1 / (members * logarithmic_mean(shares[0] / members, shares[1] / members))
    through = [one.through(part, scale) for one, part in zip(heard, parts, strict=True)]
    return AttentionReasons(through, scale * itself, scale * intercepts)


class _Seen:
    """A pass of one batch of members, with what entered its hops and its fusions."""

    def __init__(self, network: Network, features: Features, plan: Plan) -> None:
        self.network, self.plan = network, plan
        self.entered: dict[Any, Tensor] = {}

        def remember(module: Any, inputs: tuple[Any, ...]) -> None:
            self.entered[module] = inputs[0]
            if isinstance(module, SupraFusion) and len(inputs) > 1:  # one row per group
                self.entered[module] = inputs[1].by_layer(inputs[0])

        handles = [
            module.register_forward_pre_hook(remember)
            for module in network.modules()
            if isinstance(module, (AttentionHop, SupraFusion))
        ]
        try:
            self.output: Output = evaluate(network, features, plan)
        finally:
            for handle in handles:
                handle.remove()

    def shares(self, pair: Pair) -> Floats:
        """The members' probabilities of the two classes, (2, rows, members)."""
        chances = self.output.scores[pair.rows].double().softmax(-1).cpu().numpy()
        at = np.arange(pair.rows.size)
        return np.stack([chances[at, :, pair.first], chances[at, :, pair.second]])

    def contrast(self, pair: Pair) -> tuple[Tensor, Tensor]:
        """What the embedding is multiplied with, (rows, members, dim), and what is added, (rows, members)."""
        first, second = torch.from_numpy(pair.first), torch.from_numpy(pair.second)
        weights = self.network.class_weights().detach().double().cpu().permute(2, 0, 1)
        bias = self.network.bias.detach().double().cpu().t()
        return weights[first] - weights[second], bias[first] - bias[second]

    @torch.no_grad()
    def last_hops(self, rows: Tensor, column: Tensor) -> Iterator[tuple[int, Floats, Floats]]:
        """For each layer its position, what every node says at the last hop, and what the rows multiply it with.

        Both are of shape (nodes or rows, members x heads x columns); ``column`` is as :meth:`contrast` has it.
        """
        network, plan = self.network, self.plan
        directions = network.layer_directions(self.entered, plan, rows, column)
        for layers, hop, step in network.last_hops(plan):
            said, totals, means = _heard(hop, step, self.entered[hop], len(layers), rows)
            factors = hop.head_factors().double().cpu()
            for number, place in enumerate(layers):
                own = factors[:, number if factors.shape[1] > 1 else 0]
                direction = _over_heads(directions[place], own, hop)
                direction = direction * hop.activation.quotient(means[number])
                total = totals[number].unsqueeze(-1)
                direction = torch.where(total > 0, direction / total, torch.zeros_like(direction))
                yield place, said[number].flatten(1).numpy(), direction.flatten(1).numpy()


def _heard(
    hop: AttentionHop, step: Step, features: Features, layers: int, rows: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """What is said at a hop, (layers, nodes, members, heads, columns), and totals and means of what rows hear."""
    values, scores = hop.messages(features)
    members, heads = scores.shape[-2:]
    values = values.double().reshape(layers, -1, members, heads, values.shape[-1])
    scores = scores.double().reshape(layers, -1, members, heads)
    loudness = (scores - scores.amax((0, 1))).exp()
    said = values * loudness.unsqueeze(-1)
    assert step.sum is not None
    together = torch.cat([said.flatten(3), loudness], dim=-1).flatten(2)
    sums = step.sum(together.view(-1, together.shape[-1]))
    heard = step.at_nodes(sums.view(layers, -1, sums.shape[-1])).index_select(1, rows)
    heard = heard.view(layers, rows.numel(), members, -1).cpu()
    totals = heard[..., -heads:]
    means = heard[..., :-heads].reshape(*totals.shape, -1) / totals.unsqueeze(-1)
    return said.cpu(), totals, means


def _over_heads(direction: Tensor, factors: Tensor, hop: AttentionHop) -> Tensor:
    """What the heads' activated means are multiplied with, (rows, members, heads, columns)."""
    if hop.combine_heads == "concatenate":
        return direction.reshape(*direction.shape[:-1], hop.heads, -1)
    return direction.unsqueeze(2) * factors[None, :, :, None]
