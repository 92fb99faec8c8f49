"""The two networks of the paper, GrAMME-SG and GrAMME-Fusion, for whole ensembles at once.

Both turn features (nodes, members, in_dim) into an embedding (nodes, members, hidden_dim) and class scores
(nodes, members, classes).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import cast

import torch
from torch import Tensor, nn

from gramme.nn.hop import AttentionHop
from gramme.nn.plan import Plan
from gramme.nn.random import MemberRandom
from gramme.nn.shape import Output, Shape
from gramme.nn.supra_fusion import SupraFusion
from gramme.nn.weights import glorot


class Network(nn.Module, ABC):
    """What the two networks share: input dropout and the classifier, a fully connected layer per member."""

    def __init__(self, shape: Shape, random: MemberRandom) -> None:
        super().__init__()
        self.shape, self.random = shape, random
        self.classifier = glorot(
            random, (shape.hidden_dim, shape.classes), shape.hidden_dim, shape.classes
        )
        self.bias = nn.Parameter(torch.zeros(random.members, shape.classes))

    @abstractmethod
    def forward(self, features: Tensor, plan: Plan) -> Output:
        """Class scores and embedding of every node, or of those that the plan is made for."""

    def output(self, embedding: Tensor, plan: Plan) -> Output:
        """Apply the classifier."""
        dropped = self.drop(embedding)
        scores = torch.einsum("nmd,mdc->nmc", dropped, self.classifier) + self.bias
        return Output(scores, embedding).at(plan.nodes)

    def largest(self, plan: Plan) -> int:
        """Numbers in the largest tensors of a pass."""
        shape = self.shape
        return plan.rows * self.random.members * max(shape.heads, default=1) * shape.hidden_dim

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
            score_bound=shape.score_bound,
        )


class FusionNetwork(Network):
    """GrAMME-Fusion: a stack of hops per layer, joined by supra fusion.

    ``fuse="end"`` joins the layers after the last hop, as in the paper; ``"every hop"`` joins them after each and
    gives all layers the joint result as the next input, as in the authors' code. Layers of equal architecture run
    together as one batch. Features are (nodes, members, in_dim), or (layers, nodes, members, in_dim) where layers have
    features of their own.
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
        self.groups = shape.architectures()
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

    def forward(self, features: Tensor, plan: Plan) -> Output:
        if self.fuse == "end":
            embedding = self._fused_at_end(features, plan)
        else:
            embedding = self._fused_at_every_hop(features, plan)
        return self.output(embedding, plan)

    def _fused_at_end(self, features: Tensor, plan: Plan) -> Tensor:
        found = []
        for place in range(len(self.groups)):
            values = self._of_group(features, place)
            for hop, step in zip(self.chain(place), plan.steps(place), strict=True):
                values = step.at_nodes(hop(self.drop(values), step.sum))
            found.append(values)
        embedding: Tensor = self.fusions[0](self._by_layer(found, plan.present_at_end))
        return embedding

    def _fused_at_every_hop(self, features: Tensor, plan: Plan) -> Tensor:
        embedding = features
        for number, fusion in enumerate(self.fusions):
            dropped = self.drop(embedding)
            found = []
            for place in range(len(self.groups)):
                hop, step = self.chain(place)[number], plan.steps(place)[number]
                found.append(step.at_nodes(hop(self._of_group(dropped, place), step.sum)))
            last = number == len(self.fusions) - 1
            present = plan.present_at_end if last else plan.present
            embedding = fusion(self._by_layer(found, present))
        return embedding

    def _of_group(self, features: Tensor, place: int) -> Tensor:
        """What the layers of one architecture start from, where each layer has features of its own."""
        if features.dim() < 4 or len(self.groups) == 1:
            return features
        return features[self.groups[place]]

    def chain(self, place: int) -> list[AttentionHop]:
        """The hops of the layers of one architecture."""
        return list(cast("list[AttentionHop]", self.hops[place]))

    def _by_layer(self, found: list[Tensor], present: Tensor | None) -> Tensor:
        """The groups' results as one tensor in the order of the layers; absent nodes contribute nothing."""
        values = found[0]
        if len(found) > 1:
            order = [position for group in self.groups for position in group]
            back = torch.tensor(sorted(range(len(order)), key=order.__getitem__))
            values = torch.cat(found).index_select(0, back.to(found[0].device))
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

    def forward(self, features: Tensor, plan: Plan) -> Output:
        """Features are (copies, members, in_dim) with the copies of layer 0 first, or (nodes, ...) for all layers."""
        layers = self.shape.layers
        values = features if features.shape[0] == plan.rows else features.repeat(layers, 1, 1)
        pooled = values
        for number, (hop, step) in enumerate(zip(self.hops, plan.steps(0), strict=True), start=1):
            last = number == len(self.hops)
            values = hop(self.drop(values), step.sum)[0]
            if self.pool == "every hop" or last:
                copies = values.view(layers, -1, *values.shape[1:])
                pooled = _average(copies, plan.present_at_end if last else plan.present)
                values = values if last else pooled.repeat(layers, 1, 1)
        return self.output(pooled, plan)


def _average(copies: Tensor, present: Tensor | None) -> Tensor:
    """The mean over the copies that exist, from (layers, nodes, members, dim); zero for a node in no layer."""
    if present is None:
        return copies.mean(0)
    count = present.sum(0).clamp(min=1)
    return (copies * (present / count)[:, :, None, None]).sum(0)
