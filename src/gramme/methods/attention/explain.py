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
    shares: list[NDArray[np.float64]] = []
    for batch in batches:
        shares.append(layer_shares(*batch, communicator=communicator_of(graph)))
        if sum(map(len, shares)) >= enough:
            break
    return np.concatenate(shares)


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
    alone = torch.stack([moved(set(layers) - set(block.tolist())) for block in blocks], dim=1)
    worth = lost.clamp(min=0) + (moved(layers)[:, None] - alone).clamp(min=0)
    sizes = torch.tensor([len(block) for block in blocks], device=worth.device)
    worth = (worth / sizes).repeat_interleave(sizes, dim=1)
    total = worth.sum(1, keepdim=True)
    shares: NDArray[np.float64] = torch.where(total > 1e-12, worth / total, 1.0 / count).cpu().numpy()
    return shares


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
    total = np.zeros((graph.num_layers, graph.num_nodes))
    members = 0
    for scores in scores_by_layer(batches, hops_of, graph, hop):
        count = next((one.heard.shape[1] for one in scores.values()), 0)
        members += count
        for layer, held in enumerate(graph.layers.values()):
            if layer not in scores:
                total[layer] = np.nan
                continue
            heard, listening = scores[layer].heard, scores[layer].listening
            if listening is not None:  # as a listener of the average score has it
                heard = leaky(heard + listening[torch.from_numpy(held.present.copy())].mean(0))
            heard = heard if head is None else heard[..., head : head + 1]
            total[layer] += count * relative_attention(heard, held.present)
    return total / max(members, 1)


def scores_by_layer(
    batches: Iterable[tuple[Network, Features, Plan]], hops_of: HopsOf, graph: MultilayerGraph, hop: int
) -> Iterator[dict[int, LayerScores]]:
    """For each batch the scores of every layer at a hop, counted from 1; layers with fewer hops are left out."""
    for network, features, plan in batches:
        places = {layer: hops_of(network, layer) for layer in range(graph.num_layers)}
        asked = {layer: hops[hop - 1] for layer, (hops, _) in places.items() if len(hops) >= hop}
        seen: dict[AttentionHop, tuple[Tensor, Tensor | None, Any]] = {}

        def remember(module: Any, inputs: tuple[Any, ...], seen: dict[Any, Any] = seen) -> None:
            own = None if module.listening is None else module.scores(inputs[0], of_listener=True)
            seen[module] = module.scores(inputs[0]), own, inputs[1]

        with _watching(set(asked.values()), remember):
            evaluate(network, features, plan)
        scores = {}
        for layer, module in asked.items():
            place = places[layer][1]
            *found, neighbourhood = seen[module]
            heard, listening = (
                None if one is None else one.view(-1, graph.num_nodes, *one.shape[2:])[place] for one in found
            )
            learned = None if neighbourhood is None else module.entry_weights(neighbourhood, place)
            assert heard is not None
            scores[layer] = LayerScores(heard, listening, None if learned is None else learned.detach())
        yield scores


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
    total: Any = 0.0
    members = 0
    for batch in scores:
        own = batch[layer]
        heard = own.heard if toward is None else torch.cat([batch[place].heard for place in range(graph.num_layers)])
        strength: Any = weights.data[:, None, None]
        if own.factors is not None:
            columns = own.factors.double().cpu().flatten(1).numpy().T
            strengths = [
                listening_weights(graph, layer, nodes, supra=toward is not None, factors=one).data for one in columns
            ]
            strength = np.stack(strengths, axis=1).reshape(-1, *own.factors.shape[1:])
        each = heard.double().cpu()[weights.indices]
        if own.listening is not None:
            each = leaky(each + own.listening.double().cpu()[nodes[listener]])
        where = torch.from_numpy(listener)[:, None, None].expand_as(each)
        highest = each.new_full((nodes.size, *each.shape[1:]), -torch.inf).scatter_reduce(0, where, each, "amax")
        loud = (each - highest[listener]).exp() * torch.as_tensor(strength)
        sums = torch.zeros_like(highest).index_add(0, where[:, 0, 0], loud)
        total = total + (loud / sums[listener]).sum(1).numpy()
        members += each.shape[1]
    first = 0 if toward is None else toward * graph.num_nodes
    every = [
        sp.csr_array((alpha, weights.indices, weights.indptr), shape=weights.shape) for alpha in (total / members).T
    ]
    return [sp.csr_array(one[:, first : first + graph.num_nodes]) for one in every]


def listening_weights(
    graph: MultilayerGraph, layer: int, nodes: Ints, *, supra: bool, factors: Floats | None = None
) -> sp.csr_array:
    """How strongly a layer's copies of some nodes listen to others before attention, c of the formula, with 1 for self.

    Of shape (nodes asked about, nodes), in a supra graph (.., layers * nodes). Nodes absent from the layer have no
    entries. Of groups, only the edges of these nodes are built. ``factors`` multiply the layer's edges or memberships.
    """
    layers = list(graph.layers.values())
    here = layers[layer]
    neighbours = NeighbourContributions.of("", here, nodes, factors)
    within = neighbours.heard if neighbours.members is None else neighbours.heard @ neighbours.members.T
    own = sp.eye_array(graph.num_nodes, format="csr")[nodes]
    within = within - within * own + own
    if supra:
        others = [own * other.present for other in layers]
        within = sp.hstack([within if place == layer else other for place, other in enumerate(others)])
        if graph.couplings:
            within = within + coupling_matrix(graph)[layer * graph.num_nodes + nodes]
    found = sp.csr_array(sp.csr_array(within) * here.present[nodes][:, None])
    found.eliminate_zeros()
    return found


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
        for place, said, direction, factors, chosen in seen.last_hops(rows, column * weight[:, :, None]):
            if chosen is not None:  # every listener hears the others in its own way
                one = NeighbourContributions.of("", graph.layers[heard[place].layer], pair.rows[chosen : chosen + 1])
                start = heard[place].heard.indptr[chosen]
                own_parts = one.parts(said, direction)
                parts[place][start : start + own_parts.size] += own_parts
                itself[chosen] += said[pair.rows[chosen]] @ direction[0]
                continue
            if factors is None:
                parts[place] += heard[place].parts(said, direction)
            else:  # each member and head has weights of its own
                layer, heads = graph.layers[heard[place].layer], factors.shape[1]
                for one, spoken, wanted in zip(
                    factors.T, np.split(said, heads, axis=1), np.split(direction, heads, axis=1), strict=True
                ):
                    parts[place] += NeighbourContributions.of("", layer, pair.rows, one).parts(spoken, wanted)
            itself += np.einsum("ij,ij->i", said[pair.rows], direction)
    scale = 1 / (members * logarithmic_mean(shares[0] / members, shares[1] / members))
    through = [one.through(part, scale) for one, part in zip(heard, parts, strict=True)]
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

        with _watching([one for one in network.modules() if isinstance(one, (AttentionHop, SupraFusion))], remember):
            self.output: Output = evaluate(network, features, plan)

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
            said_to, totals, means = _heard(hop, step, self.entered[hop], len(layers), rows)
            shares = hop.head_factors().double().cpu()
            for number, place in enumerate(layers):
                own = shares[:, number if shares.shape[1] > 1 else 0]
                direction = directions[place]
                if hop.combine_heads == "concatenate":
                    direction = direction.reshape(*direction.shape[:-1], hop.heads, -1)
                else:
                    direction = direction.unsqueeze(2) * own[None, :, :, None]
                direction = direction * hop.activation.quotient(means[number])
                total = totals[number].unsqueeze(-1)
                direction = torch.where(total > 0, direction / total, torch.zeros_like(direction)).flatten(1)
                if hop.listening is not None:
                    for chosen, node in enumerate(rows.tolist()):
                        said = said_to(number, node).flatten(1).numpy()
                        yield place, said, direction[chosen : chosen + 1].numpy(), None, chosen
                    continue
                learned = None if step.sum is None else hop.entry_weights(step.sum, number)
                factors = None if learned is None else learned.flatten(1).double().cpu().numpy()
                yield place, said_to(number, None).flatten(1).numpy(), direction.numpy(), factors, None


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
    total: Any = step.sum
    if isinstance(total, ListenerSums):
        own = hop.scores(features, of_listener=True).double().reshape(scores.shape)
        folded = values.flatten(0, 1).flatten(1, 2), scores.flatten(0, 1).flatten(1), own.flatten(0, 1).flatten(1)
        sums, sizes, reference = total.sums(*folded)
        sums = torch.cat([sums, sizes[..., None]], dim=-1).flatten(1)
        reference = reference.view(scores.shape)

        def said_to(layer: int, listener: int | None) -> Tensor:
            loud = (leaky(own[layer, listener] + scores[layer]) - reference[layer, listener]).exp()
            return (values[layer] * loud[..., None]).cpu()

    else:
        loudness = (scores - scores.amax((0, 1))).exp()
        said = values * loudness.unsqueeze(-1)

        def said_to(layer: int, listener: int | None) -> Tensor:
            return said[layer].cpu()

        together = torch.cat([said, loudness.unsqueeze(-1)], dim=-1).flatten(0, 1).flatten(1, 2)
        if total.featured and (coefficients := hop.edge_coefficients()) is not None:
            sums = total.weighted(together, coefficients.double().flatten(0, 1), hop.score_bound).flatten(1)
        else:
            sums = total(together.flatten(1))
    heard = step.at_nodes(sums.view(layers, -1, sums.shape[-1])).index_select(1, rows)
    heard = heard.view(layers, rows.numel(), members, heads, -1).cpu()
    totals = heard[..., -1]
    return said_to, totals, heard[..., :-1] / totals.unsqueeze(-1)
