"""A plan: which neighbourhood sum each hop of a network takes on a graph, and for which nodes.

Before the last hop every node is needed, since others listen to it. After it only the nodes that are asked about
matter, in training the labelled ones, so that the last hop sums their edges alone. Where all layers are groups that
saves nothing, as a group's sum serves everybody: then all nodes are computed and the output is narrowed instead.
All this is decided here, once per graph; a network follows its plan step by step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gramme.distributed import SINGLE_PROCESS, Communicator, communicator_of, global_positions, node_count
from gramme.graph import MultilayerGraph
from gramme.ops import EdgeScales, GroupSum, NeighbourhoodSum, PooledGroups, groups_sum, layers_sum, spread, supra_sum
from gramme.ops.listeners import listener_sums
from gramme.ops.neighbourhood import hold

from .attention import Places

# What a network is made of and what comes out of it: its sizes and its output.
READOUTS = ("linear", "attention")
SCORES = ("neighbour", "leaky")


@dataclass(frozen=True)
class Shape:
    """The sizes and choices that both networks share; the paper's symbols in brackets.

    ``layers``: Layers of the graph (L); ``in_dim``, ``hidden_dim``, ``classes``: Columns of the features (D), of the
    embedding (d), and classes (C); ``heads``, ``depth``: Attention heads (H) and hops (T) of each layer;
    ``edge_columns``: Features of the edges or memberships of each layer; empty where no layer has any. Choices are
    those of :class:`~gramme.GrammeFusion`.
    """

    layers: int
    in_dim: int
    hidden_dim: int
    classes: int
    heads: tuple[int, ...]
    depth: tuple[int, ...]
    head_weights: str = "nonnegative"
    activation: str = "elu"
    dropout: float = 0.0
    attention_dropout: float = 0.0
    combine_heads: str = "weighted"
    score_bound: float | None = None
    readout: str = "linear"
    edge_columns: tuple[int, ...] = ()
    score: str = "neighbour"

    @property
    def out_dim(self) -> int:
        """Columns of the last hop, which are those of the embedding."""
        return self.hidden_dim if self.readout == "linear" else self.classes

    @property
    def drops(self) -> bool:
        """Whether anything is left out at random in a training step."""
        return self.dropout > 0 or self.attention_dropout > 0

    def architectures(self) -> list[list[int]]:
        """Positions of the layers, grouped by equal numbers of heads and hops."""
        groups: dict[tuple[int, int], list[int]] = {}
        for position, layer_sizes in enumerate(zip(self.heads, self.depth, strict=True)):
            groups.setdefault(layer_sizes, []).append(position)
        return list(groups.values())


@dataclass(frozen=True)
class Output:
    """What a network finds: class scores (nodes, members, classes), embedding (nodes, members, out_dim)."""

    scores: Tensor
    embedding: Tensor

    def at(self, nodes: Tensor | None) -> Output:
        """The same for some nodes; for all if none are given."""
        if nodes is None:
            return self
        return Output(self.scores.index_select(0, nodes), self.embedding.index_select(0, nodes))


Nodes = NDArray[np.int64]


class Step(nn.Module):
    """What one hop does on some layers: the sum it attends with, and how its rows become rows of nodes.

    ``sum``: If not given, every row hears itself alone; ``groups``: The rows found are groups, and their members are
    given their group's row; ``nodes``: Of the nodes found only these are kept; ``pooled``: The same groups, for layers
    that start from the same features and are fused at once: they then need no rows of nodes, and nothing above.
    """

    nodes: Tensor | None

    def __init__(
        self,
        sum: NeighbourhoodSum | None,
        groups: GroupSum | None = None,
        nodes: Nodes | None = None,
        pooled: PooledGroups | None = None,
    ) -> None:
        super().__init__()
        self.sum, self.groups, self.pooled = sum, groups, pooled
        hold(self, "nodes", None if nodes is None else torch.from_numpy(nodes))

    def at_nodes(self, found: Tensor) -> Tensor:
        """The rows that the next stage needs, from what the hop found, (layers, rows, ...)."""
        if self.groups is not None:
            found = spread(found, self.groups)
        return found if self.nodes is None else found.index_select(1, self.nodes)


class Plan(nn.Module):
    """What a network needs of a graph.

    ``chains``: For each set of layers that run together, one step per hop; ``narrowed``: The nodes that are left after
    the last hop, all if not given; ``nodes``: Those to take of the output; ``everywhere``: The plan for all nodes on
    the same sums; ``places``, ``places_at_end``: Which nodes of the whole graph the rows stand for, before and after
    the last hop. ``rows``: The most rows that a hop works on; ``present``, ``present_at_end`` (layers, nodes): Which
    copies exist, as numbers; None if all do.
    """

    present: Tensor | None
    present_at_end: Tensor | None
    nodes: Tensor | None

    def __init__(
        self,
        chains: Sequence[Sequence[Step]],
        present: NDArray[np.bool_],
        narrowed: Nodes | None = None,
        nodes: Nodes | None = None,
        everywhere: Plan | None = None,
        *,
        places: Places | None = None,
        places_at_end: Places | None = None,
        communicator: Communicator = SINGLE_PROCESS,
    ) -> None:
        super().__init__()
        self.places, self.places_at_end = places, places_at_end
        self.chains = nn.ModuleList(nn.ModuleList(chain) for chain in chains)
        hop_sums = [step.sum for chain in chains for step in chain if step.sum is not None]
        self.rows = max((hop_sum.rows for hop_sum in hop_sums), default=0)
        self._most_rows = int(communicator.all_max(self.rows))  # the same at all processes
        present_copies = None if present.all() else torch.from_numpy(present).to(torch.get_default_dtype())
        hold(self, "present", present_copies)
        at_end = present_copies
        if present_copies is not None and narrowed is not None:
            at_end = present_copies[:, narrowed]
        hold(self, "present_at_end", at_end)
        hold(self, "nodes", None if nodes is None else torch.from_numpy(nodes))
        self._everywhere = everywhere

    def numbers(self, shape: Shape) -> int:
        """Numbers in the largest tensor of one member's pass."""
        heads = max(shape.heads, default=1)
        pooled = [step.pooled for chain in range(len(self.chains)) for step in self.steps(chain)]
        pooled_sizes: list[int] = [
            pooled_group.rows * pooled_group.nodes for pooled_group in pooled if pooled_group is not None
        ]
        if len(pooled_sizes) == len(pooled) > 0:
            return heads * max(pooled_sizes)
        return self._most_rows * heads * shape.hidden_dim

    @property
    def everywhere(self) -> Plan | Self:
        """The plan for the output of every node, on the same sums."""
        return self if self._everywhere is None else self._everywhere

    def steps(self, chain: int) -> list[Step]:
        """The steps of a chain, one per hop."""
        return list(cast("list[Step]", self.chains[chain]))


def fusion_plan(
    graph: MultilayerGraph,
    shape: Shape,
    nodes: Nodes | None = None,
    *,
    fuse: str,
    edge_scales: EdgeScales | None = None,
) -> Plan:
    """The plan of a :class:`~gramme.nn.FusionNetwork`: a chain for the layers of each architecture.

    ``nodes``: For training: the nodes that output is wanted for. All if not given; ``fuse`` {"end", "every hop"};
    ``edge_scales``: Of features of edges and memberships.
    """
    names = list(graph.layers)
    grouped_layers = [[names[layer_index] for layer_index in group] for group in shape.architectures()]
    # members of a group hear alike, unless edges have features or listeners scores of their own
    both_ends = shape.score == "leaky"
    alike = [not both_ends and (not edge_scales or edge_scales.keys().isdisjoint(layers)) for layers in grouped_layers]
    group_sums: list[NeighbourhoodSum] = [
        listener_sums(graph, layers)
        if both_ends
        else (groups_sum(graph, layers) if is_alike else None) or layers_sum(graph, layers, scales=edge_scales)
        for layers, is_alike in zip(grouped_layers, alike, strict=True)
    ]
    depths = [shape.depth[group[0]] for group in shape.architectures()]
    pooled = None
    single_process = communicator_of(graph).alone  # the sums of groups that processes share come before the projection
    if single_process and fuse == "every hop" and alike == [True] and not shape.attention_dropout:
        pooled = PooledGroups.of(graph, grouped_layers[0], shape.hidden_dim)
    whole_chains = [
        _chain(one, depth, Step(one, _groups(one), pooled=pooled), pooled)
        for one, depth in zip(group_sums, depths, strict=True)
    ]
    everywhere = _plan_of(whole_chains, graph)
    if nodes is None:
        return everywhere
    early = _pays(group_sums, nodes, graph)
    # members of a group are equal after the first hop: it stands for them to the end, unless dropout or a fusion
    # between the hops tells them apart
    groups_stand = fuse == "end" and not shape.drops
    chains = []
    for group_sum, depth, layers in zip(group_sums, depths, grouped_layers, strict=True):
        last = Step(group_sum, _groups(group_sum), nodes if early else None, pooled)
        if early and group_sum.supports_subset:
            last = Step(layers_sum(graph, layers, nodes))
        if groups_stand and isinstance(group_sum, GroupSum) and depth > 1:
            between = [Step(None) for _ in range(depth - 2)]
            chains.append([Step(group_sum), *between, Step(None, last.groups, nodes if early else None)])
        else:
            chains.append(_chain(group_sum, depth, last, pooled))
    return _plan_of(chains, graph, nodes, early, everywhere)


def supra_plan(
    graph: MultilayerGraph, shape: Shape, nodes: Nodes | None = None, *, edge_scales: EdgeScales | None = None
) -> Plan:
    """The plan of a :class:`~gramme.nn.SGNetwork`: one chain over all copies; the rest is as in :func:`fusion_plan`."""
    depth = shape.depth[0]
    both_ends = shape.score == "leaky"
    whole: NeighbourhoodSum = listener_sums(graph, pillars=True) if both_ends else supra_sum(graph, scales=edge_scales)
    everywhere = _plan_of([_chain(whole, depth, Step(whole))], graph)
    if nodes is None:
        return everywhere
    early = _pays([whole], nodes, graph)
    last = Step(supra_sum(graph, nodes) if early else whole)
    return _plan_of([_chain(whole, depth, last)], graph, nodes, early, everywhere)


def _chain(one: NeighbourhoodSum, depth: int, last: Step, pooled: PooledGroups | None = None) -> list[Step]:
    """One sum for all hops but the last, which has a step of its own."""
    return [*(Step(one, _groups(one), pooled=pooled) for _ in range(depth - 1)), last]


def _groups(one: NeighbourhoodSum) -> GroupSum | None:
    return one if isinstance(one, GroupSum) else None


def _pays(sums: Sequence[NeighbourhoodSum], nodes: Nodes, graph: MultilayerGraph) -> bool:
    """Whether a last hop for these nodes alone costs less."""
    # asked of all processes that hold parts of the graph: their plans must agree
    fewer = communicator_of(graph).all_sum(nodes.size) < node_count(graph)
    return bool(fewer and any(hop_sum.supports_subset for hop_sum in sums))


def _plan_of(
    chains: Sequence[Sequence[Step]],
    graph: MultilayerGraph,
    nodes: Nodes | None = None,
    early: bool = False,
    everywhere: Plan | None = None,
) -> Plan:
    """A plan for all nodes or some: then all but them are left behind in the last hop, or else in the output."""
    last, output = (nodes, None) if early else (None, nodes)
    present = [layer.present for layer in graph.layers.values()]
    return Plan(
        chains,
        np.stack(present) if present else np.zeros((0, graph.num_nodes), bool),
        last,
        output,
        everywhere,
        places=_places(graph),
        places_at_end=_places(graph, last),
        communicator=communicator_of(graph),
    )


def _places(graph: MultilayerGraph, nodes: Nodes | None = None) -> Places | None:
    """Which nodes of the whole graph the rows stand for, all of a part's or some; None for all of a whole graph."""
    if nodes is None and communicator_of(graph).alone:
        return None
    whole_positions = global_positions(graph)
    chosen_positions = whole_positions if nodes is None else whole_positions[nodes]
    return Places(torch.from_numpy(np.asarray(chosen_positions, dtype=np.int64)), node_count(graph))
