"""What a fitted attention model relies on: which layers matter, and who is listened to in a layer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import Module

from gramme._types import Floats, Ints
from gramme.distributed import SINGLE_PROCESS, Communicator, communicator_of, node_count
from gramme.graph import MultilayerGraph
from gramme.methods.contributions import NeighbourContributions, Pair, Through, hearings, logarithmic_mean
from gramme.nn import AttentionHop, Network, Output, Plan, SGNetwork, SupraFusion, levelled
from gramme.nn.plan import Step
from gramme.ops import Features
from gramme.ops.listeners import ListenerSums, leaky
from gramme.ops.stacked import coupling_matrix
from gramme.training import evaluate

MAX_EXPLAINED_NUMBERS = 100_000_000
"""Nodes x layers x passes that an explanation of all members may take."""
MAX_MUTED_ALONE, BLOCKS = 100, 32
"""Layers up to which each is muted by itself; more are muted in so many blocks, whose layers share alike."""


def member_shares(batches: Iterable[tuple[Network, Features, Plan]], graph: MultilayerGraph) -> NDArray[np.float64]:
    """The :func:`layer_shares` of each member, (members, layers); on a large graph of the first members alone."""
    layers = graph.num_layers
    passes = 2 * (layers if layers <= MAX_MUTED_ALONE else BLOCKS) + 2
    enough = MAX_EXPLAINED_NUMBERS // max(1, node_count(graph) * layers * passes)
    shares_by_batch: list[NDArray[np.float64]] = []
    for batch in batches:
        shares_by_batch.append(layer_shares(*batch, communicator=communicator_of(graph)))
        if sum(map(len, shares_by_batch)) >= enough:
            break
    return np.concatenate(shares_by_batch)


def layer_shares(
    network: Network, features: Features, plan: Plan, communicator: Communicator = SINGLE_PROCESS
) -> NDArray[np.float64]:
    """How much a network's predictions rest on each layer, shape (members, layers), each member's summing to 1.

    A layer is muted by giving every node the mean of what the layer found, so that it no longer tells nodes apart.
    With p the predicted probabilities and D the mean Kullback-Leibler divergence from p over the nodes, a layer gets

        D(all but this layer) + (D(none) - D(this layer alone)),

    what is lost without it plus what it gives on its own, never less than 0. The first term alone would find two layers
    that say the same to be of no use, the second alone would not see what only several layers together can tell; with
    two layers their mean is the Shapley value. The result is divided by the sum over the layers.

    A layer of noise gets what a model has fitted to that noise. Cost: 2 layers + 2 passes without gradients. Beyond 100
    layers, blocks of neighbours in the order of names are muted together and their layers share alike.
    """

    def log_probabilities(muted: Iterable[int]) -> Tensor:
        with _muted(network, list(muted), communicator):
            return evaluate(network, features, plan).scores.double().log_softmax(-1)

    return shares_by_muting(network.shape.layers, log_probabilities, communicator)


def shares_by_muting(
    count: int, log_probabilities: Callable[[Iterable[int]], Tensor], communicator: Communicator = SINGLE_PROCESS
) -> NDArray[np.float64]:
    """The shares of layers, (members, layers), from log probabilities (nodes, members, classes) with some muted."""
    layers = range(count)
    blocks = np.array_split(np.array(layers), count if count <= MAX_MUTED_ALONE else BLOCKS)
    full = log_probabilities([])

    def moved(muted: Iterable[int]) -> Tensor:
        """The divergence from the full network's predictions, (members,)."""
        return communicator.mean((full.exp() * (full - log_probabilities(muted))).sum(-1).double(), 0)

    lost = torch.stack([moved(block.tolist()) for block in blocks], dim=1)
    moved_alone = torch.stack([moved(set(layers) - set(block.tolist())) for block in blocks], dim=1)
    worth = lost.clamp(min=0) + (moved(layers)[:, None] - moved_alone).clamp(min=0)
    block_sizes = torch.tensor([len(block) for block in blocks], device=worth.device)
    worth = (worth / block_sizes).repeat_interleave(block_sizes, dim=1)
    worth_totals = worth.sum(1, keepdim=True)
    layer_shares: NDArray[np.float64] = (
        torch.where(worth_totals > 1e-12, worth / worth_totals, 1.0 / count).cpu().numpy()
    )
    return layer_shares


@contextmanager
def _muted(network: Network, layers: list[int], communicator: Communicator) -> Iterator[None]:
    """Within this, what the given layers find is the same for all nodes wherever it meets other layers.

    GrAMME-Fusion: where layers are fused. GrAMME-SG: after every hop, since a node's copies hear each other.
    """

    def after_hop(module: Any, inputs: Any, found: Tensor) -> Tensor:
        copies = found.view(network.shape.layers, -1, *found.shape[2:])
        return levelled(copies, layers, communicator).view_as(found)

    handles = []
    fusions = [module for module in network.modules() if isinstance(module, SupraFusion)]
    for fusion in fusions:
        fusion.muted, fusion.communicator = tuple(layers), communicator
    if layers and isinstance(network, SGNetwork):
        hops = [module for module in network.modules() if isinstance(module, AttentionHop)]
        handles = [hop.register_forward_hook(after_hop) for hop in hops]
    try:
        yield
    finally:
        for fusion in fusions:
            fusion.muted = ()
        for handle in handles:
            handle.remove()


@contextmanager
def _watching(modules: Iterable[Module], remember: Callable[[Any, tuple[Any, ...]], None]) -> Iterator[None]:
    """Within this, what enters some modules is told beforehand."""
    handles = [module.register_forward_pre_hook(remember) for module in modules]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


HopsOf = Callable[[Network, int], tuple[list[AttentionHop], int]]
"""The hops that a layer passes in a network, and the layer's place among those they treat."""


@dataclass(frozen=True)
class LayerScores:
    """The scores of a layer at a hop, (nodes, members, heads), and those of listeners where these count.

    ``factors`` (entries, members, heads): What features make of edges or memberships.
    """

    heard: Tensor
    listening: Tensor | None
    factors: Tensor | None


def attention_received(
    batches: Iterable[tuple[Network, Features, Plan]],
    hops_of: HopsOf,
    graph: MultilayerGraph,
    hop: int,
    head: int | None = None,
) -> NDArray[np.float64]:
    """The :func:`relative_attention` of all layers at a hop from 1 on, (layers, nodes), the mean over the members.

    NaN for layers that have fewer hops; ``head``: The only head that counts, counted from 0.
    """
    attention_totals = np.zeros((graph.num_layers, graph.num_nodes))
    members = 0
    for scores in scores_by_layer(batches, hops_of, graph, hop):
        count = next((some_scores.heard.shape[1] for some_scores in scores.values()), 0)
        members += count
        for layer, held in enumerate(graph.layers.values()):
            if layer not in scores:
                attention_totals[layer] = np.nan
                continue
            heard, listening = scores[layer].heard, scores[layer].listening
            if listening is not None:  # as a listener of the average score has it
                heard = leaky(heard + listening[torch.from_numpy(held.present.copy())].mean(0))
            heard = heard if head is None else heard[..., head : head + 1]
            attention_totals[layer] += count * relative_attention(heard, held.present)
    return attention_totals / max(members, 1)


def scores_by_layer(
    batches: Iterable[tuple[Network, Features, Plan]], hops_of: HopsOf, graph: MultilayerGraph, hop: int
) -> Iterator[dict[int, LayerScores]]:
    """For each batch the scores of every layer at a hop, counted from 1; layers with fewer hops are left out."""
    for network, features, plan in batches:
        hops_and_place = {layer: hops_of(network, layer) for layer in range(graph.num_layers)}
        hop_of_layer = {layer: hops[hop - 1] for layer, (hops, _) in hops_and_place.items() if len(hops) >= hop}
        seen_by_hop: dict[AttentionHop, tuple[Tensor, Tensor | None, Any]] = {}

        def remember(module: Any, inputs: tuple[Any, ...], seen: dict[Any, Any] = seen_by_hop) -> None:
            listener_scores = None if module.listening is None else module.scores(inputs[0], of_listener=True)
            seen[module] = module.scores(inputs[0]), listener_scores, inputs[1]

        with _watching(set(hop_of_layer.values()), remember):
            evaluate(network, features, plan)
        scores = {}
        for layer, module in hop_of_layer.items():
            layer_place = hops_and_place[layer][1]
            *score_tensors, neighbourhood = seen_by_hop[module]
            heard, listening = (
                None
                if score_tensor is None
                else score_tensor.view(-1, graph.num_nodes, *score_tensor.shape[2:])[layer_place]
                for score_tensor in score_tensors
            )
            entry_weights = None if neighbourhood is None else module.entry_weights(neighbourhood, layer_place)
            assert heard is not None
            scores[layer] = LayerScores(heard, listening, None if entry_weights is None else entry_weights.detach())
        yield scores


def relative_attention(scores: Tensor, present: NDArray[np.bool_]) -> NDArray[np.float64]:
    """How much each node is listened to relative to the average node, from scores (nodes, members, heads).

    ``exp(t_j)`` divided by its mean over the nodes present, averaged over members and heads; NaN for absent nodes.
    """
    result = np.full(present.size, np.nan)
    if present.any():
        present_scores = scores.double().cpu()[torch.from_numpy(present.copy())]
        weight = torch.softmax(present_scores, dim=0) * present_scores.shape[0]
        result[present] = weight.mean((1, 2)).numpy()
    return result


# The attention coefficients, alpha of Eq. 2, edge by edge.
def attention_coefficients(
    scores: Iterable[Mapping[int, LayerScores]], graph: MultilayerGraph, layer: int, nodes: Ints, toward: int | None
) -> list[sp.csr_array]:
    """Alpha of some nodes of a layer, a matrix (nodes asked about, nodes) for each head, the mean over the members.

    ``scores``: From :func:`scores_by_layer`; ``nodes``: Of the listeners; ``toward``: In a supra graph, the layer whose
    copies are listened to; None where layers do not hear each other.
    """
    weights = listening_weights(graph, layer, nodes, supra=toward is not None)
    listener = np.repeat(np.arange(nodes.size), np.diff(weights.indptr))
    coefficient_sums: Any = 0.0
    members = 0
    for batch in scores:
        layer_scores = batch[layer]
        heard = (
            layer_scores.heard
            if toward is None
            else torch.cat([batch[layer_place].heard for layer_place in range(graph.num_layers)])
        )
        strength: Any = weights.data[:, None, None]
        if layer_scores.factors is not None:
            factor_columns = layer_scores.factors.double().cpu().flatten(1).numpy().T
            strengths = [
                listening_weights(graph, layer, nodes, supra=toward is not None, factors=edge_factors).data
                for edge_factors in factor_columns
            ]
            strength = np.stack(strengths, axis=1).reshape(-1, *layer_scores.factors.shape[1:])
        edge_scores = heard.double().cpu()[weights.indices]
        if layer_scores.listening is not None:
            edge_scores = leaky(edge_scores + layer_scores.listening.double().cpu()[nodes[listener]])
        listener_of_edge = torch.from_numpy(listener)[:, None, None].expand_as(edge_scores)
        highest_scores = edge_scores.new_full((nodes.size, *edge_scores.shape[1:]), -torch.inf).scatter_reduce(
            0, listener_of_edge, edge_scores, "amax"
        )
        edge_loudness = (edge_scores - highest_scores[listener]).exp() * torch.as_tensor(strength)
        listener_sums = torch.zeros_like(highest_scores).index_add(0, listener_of_edge[:, 0, 0], edge_loudness)
        coefficient_sums = coefficient_sums + (edge_loudness / listener_sums[listener]).sum(1).numpy()
        members += edge_scores.shape[1]
    first_column = 0 if toward is None else toward * graph.num_nodes
    head_matrices = [
        sp.csr_array((alpha, weights.indices, weights.indptr), shape=weights.shape)
        for alpha in (coefficient_sums / members).T
    ]
    return [
        sp.csr_array(edge_factors[:, first_column : first_column + graph.num_nodes]) for edge_factors in head_matrices
    ]


def listening_weights(
    graph: MultilayerGraph, layer: int, nodes: Ints, *, supra: bool, factors: Floats | None = None
) -> sp.csr_array:
    """How strongly a layer's copies of some nodes listen to others before attention, c of the formula, with 1 for self.

    Of shape (nodes asked about, nodes), in a supra graph (.., layers * nodes). Nodes absent from the layer have no
    entries. Of groups, only the edges of these nodes are built. ``factors`` multiply the layer's edges or memberships.
    """
    layers = list(graph.layers.values())
    own_layer = layers[layer]
    neighbours = NeighbourContributions.of("", own_layer, nodes, factors)
    within = neighbours.heard if neighbours.members is None else neighbours.heard @ neighbours.members.T
    self_weights = sp.eye_array(graph.num_nodes, format="csr")[nodes]
    within = within - within * self_weights + self_weights
    if supra:
        other_copies = [self_weights * other_layer.present for other_layer in layers]
        within = sp.hstack(
            [within if layer_place == layer else other_layer for layer_place, other_layer in enumerate(other_copies)]
        )
        if graph.couplings:
            within = within + coupling_matrix(graph)[layer * graph.num_nodes + nodes]
    listener_weights = sp.csr_array(sp.csr_array(within) * own_layer.present[nodes][:, None])
    listener_weights.eliminate_zeros()
    return listener_weights


# Through whom attention's predictions came: the log-odds of an ensemble, neighbour by neighbour and group by group.
@dataclass(frozen=True)
class AttentionContributions:
    """The log-odds of some nodes taken apart; all of it adds up to them.

    ``through``: What came through neighbours and groups, layer by layer; ``itself`` (rows,): What the nodes say
    themselves at the last hop; ``intercepts`` (rows,): What speaks for a class whatever the node.
    """

    through: list[Through]
    itself: Floats
    intercepts: Floats


def attention_reasons(
    batches: Iterable[tuple[Network, Features, Plan]], graph: MultilayerGraph, pair: Pair
) -> AttentionContributions:
    """Take the log-odds of an ensemble apart.

    In a supra graph a node's other copies and the couplings between layers belong to no layer; what they say is left
    out. Cost: a pass of the network, and (edges or memberships of the nodes asked about) x members x
    heads x columns.

    ``batches``: The trained networks of the ensemble, their features and the plan for all nodes; ``graph``: As the
    model sees it, its layers in the order of ``layer_order_``; ``pair``: The nodes and the two classes of each.
    """
    heard = list(hearings(graph, pair.rows))
    parts_by_layer = [np.zeros(one.heard.nnz) for one in heard]
    itself, intercepts = np.zeros(pair.rows.size), np.zeros(pair.rows.size)
    probability_sums, members = np.zeros((2, pair.rows.size)), 0
    row_index = torch.from_numpy(pair.rows)
    for network, features, plan in batches:
        seen_pass = _Seen(network, features, plan)
        own = np.maximum(seen_pass.shares(pair), np.finfo(np.float64).tiny)
        weight = torch.from_numpy(logarithmic_mean(own[0], own[1]))
        probability_sums += own.sum(axis=2)
        members += own.shape[2]
        column, intercept = seen_pass.contrast(pair)
        intercepts += (weight * intercept).sum(1).numpy()
        for layer_place, node_values, direction, factors, chosen_row in seen_pass.last_hops(
            row_index, column * weight[:, :, None]
        ):
            if chosen_row is not None:  # every listener hears the others in its own way
                layer_hearing = NeighbourContributions.of(
                    "", graph.layers[heard[layer_place].layer], pair.rows[chosen_row : chosen_row + 1]
                )
                first_entry = heard[layer_place].heard.indptr[chosen_row]
                own_parts = layer_hearing.parts(node_values, direction)
                parts_by_layer[layer_place][first_entry : first_entry + own_parts.size] += own_parts
                itself[chosen_row] += node_values[pair.rows[chosen_row]] @ direction[0]
                continue
            if factors is None:
                parts_by_layer[layer_place] += heard[layer_place].parts(node_values, direction)
            else:  # each member and head has weights of its own
                layer, heads = graph.layers[heard[layer_place].layer], factors.shape[1]
                for layer_hearing, spoken, head_directions in zip(
                    factors.T, np.split(node_values, heads, axis=1), np.split(direction, heads, axis=1), strict=True
                ):
                    parts_by_layer[layer_place] += NeighbourContributions.of("", layer, pair.rows, layer_hearing).parts(
                        spoken, head_directions
                    )
            itself += np.einsum("ij,ij->i", node_values[pair.rows], direction)
    scale = 1 / (members * logarithmic_mean(probability_sums[0] / members, probability_sums[1] / members))
    through = [one.through(layer_parts, scale) for one, layer_parts in zip(heard, parts_by_layer, strict=True)]
    return AttentionContributions(through, scale * itself, scale * intercepts)


class _Seen:
    """A pass of one batch of members, with what entered its hops and its fusions."""

    def __init__(self, network: Network, features: Features, plan: Plan) -> None:
        self.network, self.plan = network, plan
        self.entered: dict[Any, Tensor] = {}

        def remember(module: Any, inputs: tuple[Any, ...]) -> None:
            self.entered[module] = inputs[0]
            if isinstance(module, SupraFusion) and len(inputs) > 1:  # one row per group
                self.entered[module] = inputs[1].by_layer(inputs[0])

        with _watching(
            [
                network_module
                for network_module in network.modules()
                if isinstance(network_module, (AttentionHop, SupraFusion))
            ],
            remember,
        ):
            self.output: Output = evaluate(network, features, plan)

    def shares(self, pair: Pair) -> Floats:
        """The members' probabilities of the two classes, (2, rows, members)."""
        chances = self.output.scores[pair.rows].double().softmax(-1).cpu().numpy()
        row_index = np.arange(pair.rows.size)
        return np.stack([chances[row_index, :, pair.first], chances[row_index, :, pair.second]])

    def contrast(self, pair: Pair) -> tuple[Tensor, Tensor]:
        """What the embedding is multiplied with, (rows, members, dim), and what is added, (rows, members)."""
        first_class, second = torch.from_numpy(pair.first), torch.from_numpy(pair.second)
        class_weights = self.network.class_weights().detach().double().cpu().permute(2, 0, 1)
        bias = self.network.bias.detach().double().cpu().t()
        return class_weights[first_class] - class_weights[second], bias[first_class] - bias[second]

    @torch.no_grad()
    def last_hops(
        self, rows: Tensor, column: Tensor
    ) -> Iterator[tuple[int, Floats, Floats, Floats | None, int | None]]:
        """For each layer its position, what every node says at the last hop, and what the rows multiply it with.

        Both are of shape (nodes or rows, members x heads x columns); ``column`` is as :meth:`contrast` has it. Then
        what features multiply its edges or memberships with, (entries, members x heads), if it has some. Where scores
        of listeners count, there is one for each of the rows, whose number comes last.
        """
        network, plan = self.network, self.plan
        directions = network.layer_directions(self.entered, plan, rows, column)
        for layers, hop, step in network.last_hops(plan):
            said_to, weight_totals, heard_means = _heard(hop, step, self.entered[hop], len(layers), rows)
            head_shares = hop.head_factors().double().cpu()
            for group_place, layer_place in enumerate(layers):
                own_shares = head_shares[:, group_place if head_shares.shape[1] > 1 else 0]
                direction = directions[layer_place]
                if hop.combine_heads == "concatenate":
                    direction = direction.reshape(*direction.shape[:-1], hop.heads, -1)
                else:
                    direction = direction.unsqueeze(2) * own_shares[None, :, :, None]
                direction = direction * hop.activation.quotient(heard_means[group_place])
                row_totals = weight_totals[group_place].unsqueeze(-1)
                direction = torch.where(row_totals > 0, direction / row_totals, torch.zeros_like(direction)).flatten(1)
                if hop.listening is not None:
                    for chosen_row, node in enumerate(rows.tolist()):
                        node_values = said_to(group_place, node).flatten(1).numpy()
                        yield layer_place, node_values, direction[chosen_row : chosen_row + 1].numpy(), None, chosen_row
                    continue
                entry_weights = None if step.sum is None else hop.entry_weights(step.sum, group_place)
                factors = None if entry_weights is None else entry_weights.flatten(1).double().cpu().numpy()
                yield layer_place, said_to(group_place, None).flatten(1).numpy(), direction.numpy(), factors, None


def _heard(
    hop: AttentionHop, step: Step, features: Features, layers: int, rows: Tensor
) -> tuple[Callable[[int, int | None], Tensor], Tensor, Tensor]:
    """What a layer's nodes say at a hop, and totals and means of what rows hear.

    The first, of shape (nodes, members, heads, columns), is asked for by layer, and, where the scores of listeners
    count, by the one who listens.
    """
    values, scores = hop.messages(features)
    members, heads = scores.shape[-2:]
    values = values.double().reshape(layers, -1, members, heads, values.shape[-1])
    scores = scores.double().reshape(layers, -1, members, heads)
    neighbourhood_sum: Any = step.sum
    if isinstance(neighbourhood_sum, ListenerSums):
        listener_scores = hop.scores(features, of_listener=True).double().reshape(scores.shape)
        folded = (
            values.flatten(0, 1).flatten(1, 2),
            scores.flatten(0, 1).flatten(1),
            listener_scores.flatten(0, 1).flatten(1),
        )
        column_sums, group_sizes, reference = neighbourhood_sum.sums(*folded)
        column_sums = torch.cat([column_sums, group_sizes[..., None]], dim=-1).flatten(1)
        reference = reference.view(scores.shape)

        def said_to(layer: int, listener: int | None) -> Tensor:
            loud = (leaky(listener_scores[layer, listener] + scores[layer]) - reference[layer, listener]).exp()
            return (values[layer] * loud[..., None]).cpu()

    else:
        loudness = (scores - scores.amax((0, 1))).exp()
        weighted_values = values * loudness.unsqueeze(-1)

        def said_to(layer: int, listener: int | None) -> Tensor:
            return weighted_values[layer].cpu()

        together = torch.cat([weighted_values, loudness.unsqueeze(-1)], dim=-1).flatten(0, 1).flatten(1, 2)
        if neighbourhood_sum.featured and (coefficients := hop.edge_coefficients()) is not None:
            column_sums = neighbourhood_sum.weighted(
                together, coefficients.double().flatten(0, 1), hop.score_bound
            ).flatten(1)
        else:
            column_sums = neighbourhood_sum(together.flatten(1))
    heard = step.at_nodes(column_sums.view(layers, -1, column_sums.shape[-1])).index_select(1, rows)
    heard = heard.view(layers, rows.numel(), members, heads, -1).cpu()
    weight_totals = heard[..., -1]
    return said_to, weight_totals, heard[..., :-1] / weight_totals.unsqueeze(-1)
