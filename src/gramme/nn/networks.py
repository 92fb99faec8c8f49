"""The two networks of the paper, GrAMME-SG and GrAMME-Fusion, for whole ensembles at once.

Both turn features (nodes, members, in_dim) into an embedding (nodes, members, hidden_dim) and class scores
(nodes, members, classes).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from gramme.graph import MultilayerGraph
from gramme.nn.hop import AttentionHop
from gramme.nn.random import MemberRandom
from gramme.nn.shape import Output, Shape, Structure
from gramme.nn.supra_fusion import SupraFusion
from gramme.nn.weights import glorot
from gramme.ops import (
    GroupSum,
    NeighbourhoodSum,
    groups_sum,
    layers_sum,
    spread,
    supra_sum,
)


class Network(nn.Module, ABC):
    """What the two networks share: input dropout and the classifier, a fully connected layer per member."""

    def __init__(self, shape: Shape, random: MemberRandom) -> None:
        super().__init__()
        self.shape, self.random = shape, random
        self.classifier = glorot(
            random, (shape.hidden_dim, shape.classes), shape.hidden_dim, shape.classes
        )
        self.bias = nn.Parameter(torch.zeros(random.members, shape.classes))

    @staticmethod
    @abstractmethod
    def structure(graph: MultilayerGraph, shape: Shape) -> Structure:
        """What this kind of network needs of a graph."""

    @abstractmethod
    def forward(self, features: Tensor, structure: Structure) -> Output:
        """Class scores and embedding of every node, or of those that the structure is asked for."""

    def output(self, embedding: Tensor) -> Output:
        """Apply the classifier."""
        dropped = self.drop(embedding)
        scores = torch.einsum("nmd,mdc->nmc", dropped, self.classifier) + self.bias
        return Output(scores, embedding)

    def drop(self, features: Tensor) -> Tensor:
        """Dropout on the way into a hop."""
        if not self.training or self.shape.dropout == 0:
            return features
        return features * self.random.mask(features, features.dim() - 2, self.shape.dropout)

    def hop(self, layers: int, heads: int, first: bool) -> AttentionHop:
        """A hop with this network's sizes."""
        shape = self.shape
        return AttentionHop(
            self.random,
            layers,
            shape.in_dim if first else shape.hidden_dim,
            shape.hidden_dim,
            heads,
            head_weights=shape.head_weights,
            activation=shape.activation,
            attention_dropout=shape.attention_dropout,
            combine_heads=shape.combine_heads,
        )


class FusionNetwork(Network):
    """GrAMME-Fusion: a stack of hops per layer, joined by supra fusion.

    ``fuse="end"`` joins the layers after the last hop, as in the paper; ``"every hop"`` joins them after each and
    gives all layers the joint result as the next input, as in the authors' code. Layers of equal architecture run
    together as one batch.
    """

    def __init__(
        self,
        shape: Shape,
        random: MemberRandom,
        *,
        fusion_heads: int,
        feed_forward: bool,
        fuse: str,
    ) -> None:
        super().__init__(shape, random)
        self.fuse = fuse
        self.groups = architectures(shape)
        depth = max(shape.depth, default=0)
        self.hops = nn.ModuleList(
            nn.ModuleList(
                self.hop(len(group), shape.heads[group[0]], first=step == 0)
                for step in range(shape.depth[group[0]])
            )
            for group in self.groups
        )
        joints = depth if fuse == "every hop" else 1
        self.fusions = nn.ModuleList(
            SupraFusion(shape, random, fusion_heads, feed_forward) for _ in range(joints)
        )

    @staticmethod
    def structure(graph: MultilayerGraph, shape: Shape) -> Structure:
        names = list(graph.layers)
        sums: list[NeighbourhoodSum] = []
        for group in architectures(shape):
            chosen = [names[position] for position in group]
            sums.append(groups_sum(graph, chosen) or layers_sum(graph, chosen))
        return Structure(graph.num_nodes, tuple(sums), _present(graph))

    def forward(self, features: Tensor, structure: Structure) -> Output:
        if self.fuse == "end":
            found = [
                self._chain(list(hops), features, place, structure)  # type: ignore[call-overload]
                for place, hops in enumerate(self.hops)
            ]
            embedding = self.fusions[0](self._in_order(found, structure))
        else:
            embedding = features
            for step, fusion in enumerate(self.fusions):
                now = structure.at_hop(step, len(self.fusions))
                dropped = self.drop(embedding)
                found = [
                    _at_nodes(hops[step](dropped, now.wanted_sum(place)), place, now)  # type: ignore[index]
                    for place, hops in enumerate(self.hops)
                ]
                embedding = fusion(self._in_order(found, now))
        return self.output(embedding)

    def _chain(
        self, hops: Sequence[AttentionHop], features: Tensor, place: int, structure: Structure
    ) -> Tensor:
        """One hop after the other.

        Where all layers are groups, the members of a group are equal after the first hop. In training a group then
        stands for them to the end, unless dropout tells them apart.
        """
        shape = self.shape
        apart = not self.training or shape.dropout > 0 or shape.attention_dropout > 0
        stands = isinstance(structure.sums[place], GroupSum) and not apart
        values = features
        for step, hop in enumerate(hops):
            now = structure.at_hop(step, len(hops))
            if step > 0 and stands:
                values = hop(values, None)
            else:
                values = hop(self.drop(values), now.wanted_sum(place))
            if now is structure or not stands:
                values = _at_nodes(values, place, now)
        return values

    def _in_order(self, found: list[Tensor], structure: Structure) -> Tensor:
        """The groups' results as one tensor in the order of the layers; absent nodes contribute nothing."""
        values = found[0]
        if len(found) > 1:
            order = [position for group in self.groups for position in group]
            back = torch.tensor(sorted(range(len(order)), key=order.__getitem__))
            values = torch.cat(found).index_select(0, back.to(found[0].device))
        present = structure.wanted_copies
        return values if present is None else values * present[:, :, None, None]


class SGNetwork(Network):
    """GrAMME-SG: hops over the supra graph, whose copies of a node are averaged in the end.

    ``pool="end"`` averages a node's copies after the last hop, as in the paper; ``"every hop"`` after each, and gives
    the average back to all copies, as in the authors' code.
    """

    def __init__(self, shape: Shape, random: MemberRandom, *, pool: str) -> None:
        super().__init__(shape, random)
        self.pool = pool
        self.hops = nn.ModuleList(
            self.hop(1, shape.heads[0], first=step == 0) for step in range(shape.depth[0])
        )

    @staticmethod
    def structure(graph: MultilayerGraph, shape: Shape) -> Structure:
        return Structure(graph.num_nodes, (supra_sum(graph),), _present(graph))

    def forward(self, features: Tensor, structure: Structure) -> Output:
        """Features are (copies, members, in_dim) with the copies of layer 0 first, or (nodes, ...) for all layers."""
        layers = self.shape.layers
        rows = structure.sums[0].rows
        values = features if features.shape[0] == rows else features.repeat(layers, 1, 1)
        pooled = values
        for step, hop in enumerate(self.hops):
            last = step == len(self.hops) - 1
            now = structure.at_hop(step, len(self.hops))
            values = hop(self.drop(values), now.wanted_sum(0))[0]
            if self.pool == "every hop" or last:
                copies = values.view(layers, -1, *values.shape[1:])
                pooled = _average(copies, now.wanted_copies)
                values = values if last else pooled.repeat(layers, 1, 1)
        return self.output(pooled)


def architectures(shape: Shape) -> list[list[int]]:
    """Positions of the layers, grouped by equal numbers of heads and hops."""
    groups: dict[tuple[int, int], list[int]] = {}
    for position, key in enumerate(zip(shape.heads, shape.depth, strict=True)):
        groups.setdefault(key, []).append(position)
    return list(groups.values())


def _at_nodes(values: Tensor, place: int, structure: Structure) -> Tensor:
    """One row per node that is asked about, where there may be one per group or per node."""
    whole = structure.sums[place]
    if isinstance(whole, GroupSum):
        values = spread(values, whole)
    if structure.asked is None or structure.last[place] is not None:
        return values
    return values.index_select(1, structure.asked)


def _present(graph: MultilayerGraph) -> Tensor | None:
    """Which copies exist, (layers, nodes) as numbers; None where all do."""
    if all(layer.holds_all_nodes for layer in graph.layers.values()):
        return None
    rows = [torch.tensor(layer.present) for layer in graph.layers.values()]
    return torch.stack(rows).to(torch.get_default_dtype())


def _average(copies: Tensor, present: Tensor | None) -> Tensor:
    """The mean over the copies that exist, from (layers, nodes, members, dim); zero for a node in no layer."""
    if present is None:
        return copies.mean(0)
    count = present.sum(0).clamp(min=1)
    return (copies * (present / count)[:, :, None, None]).sum(0)
