"""The two networks of the paper, GrAMME-SG and GrAMME-Fusion, for whole ensembles at once.

Both turn features (nodes, members, in_dim) into an embedding (nodes, members, hidden_dim) and class scores
(nodes, members, classes). With ``readout="attention"`` the last hop has a column per class and no activation: its
result is both the embedding and, up to the intercepts, the scores.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import cast, overload

import torch
from torch import Tensor, nn

from gramme.ops import ACTIVATIONS, Features, LayerFeatures, PooledGroups, SparseFeatures, in_plain_torch, plain_torch
from gramme.ops.communicator import SINGLE_PROCESS, Communicator

from .attention import AttentionHop, EntryPlaces, MemberRandom, Places, ScalingFactors, glorot
from .plan import Output, Plan, Shape, Step


# The supra fusion layer of GrAMME-Fusion, which joins what the layers of the graph found.
class SupraFusion(nn.Module):
    """K fusion heads over the L layers and an overall fusion head over the K (the supra fusion layer).

    Without ``feed_forward``, a fully connected layer and the activation in between, both are linear and multiply out to
    one factor per layer, ``sum over k of kappa_k gamma_kl``. ``muted``: Layers that give every node the mean of what
    they found, over the processes of ``communicator``, so that they tell no nodes apart: for explanations.
    """

    muted: tuple[int, ...] = ()
    communicator: Communicator = SINGLE_PROCESS

    def __init__(self, shape: Shape, random: MemberRandom, fusion_heads: int, feed_forward: bool) -> None:
        super().__init__()
        dim = shape.hidden_dim
        self.gamma = ScalingFactors(random, (fusion_heads, shape.layers), shape.head_weights)
        self.kappa = ScalingFactors(random, (fusion_heads,), shape.head_weights)
        self.activation = ACTIVATIONS[shape.activation]
        self.feed_forward = glorot(random, (fusion_heads, dim, dim), dim, dim) if feed_forward else None

    def layer_factors(self) -> Tensor:
        """What each layer is multiplied with if there is no feed-forward layer in between, (members, layers)."""
        return torch.einsum("mk,mkl->ml", self.kappa(), self.gamma())

    def forward(self, values: Tensor, groups: PooledGroups | None = None) -> Tensor:
        """From (layers, nodes, members, dim), or (members, rows, dim) of groups, to (nodes, members, dim)."""
        if groups is not None:
            if self.feed_forward is None:
                return self._joined(values, groups)
            values = groups.by_layer(values)
        if self.muted:
            values = levelled(values, self.muted, self.communicator)
        if self.feed_forward is None:
            return torch.einsum("lnmd,ml->nmd", values, self.layer_factors())
        fused = torch.einsum("mkl,lnmd->nmkd", self.gamma(), values)
        fused = self.activation(torch.einsum("nmkd,mkde->nmke", fused, self.feed_forward))
        return torch.einsum("mk,nmkd->nmd", self.kappa(), fused)

    def directions(self, values: Tensor, direction: Tensor) -> Tensor:
        """What each layer's values are multiplied with so that all of it adds up to the result times a direction.

        The activation of a feed-forward layer counts as the product with its quotient, f(x) / x.

        ``values`` (layers, nodes, members, dim): What the layers found; ``direction`` (nodes, members, dim).

        Returns (layers, nodes, members, dim).
        """
        gamma, kappa = self.gamma().to(values.dtype), self.kappa().to(values.dtype)
        if self.feed_forward is None:
            return torch.einsum("mk,mkl,nmd->lnmd", kappa, gamma, direction)
        weight = self.feed_forward.to(values.dtype)
        fused = torch.einsum("mkl,lnmd,mkde->nmke", gamma, values, weight)
        back = self.activation.quotient(fused) * direction.unsqueeze(2) * kappa[None, :, :, None]
        return torch.einsum("nmke,mkde,mkl->lnmd", back, weight, gamma)

    def _joined(self, values: Tensor, groups: PooledGroups) -> Tensor:
        """The sum over each node's groups, with the factors of their layers."""
        scaled = values * self.layer_factors().index_select(1, groups.layer_of)[..., None]
        if not self.muted:
            return groups.joined(scaled)
        muted = torch.isin(groups.layer_of, torch.tensor(self.muted, device=values.device))
        level = torch.einsum("mrd,r->md", scaled, (muted * groups.portion).to(scaled.dtype))
        return groups.joined(scaled * ~muted[:, None]) + level


def levelled(values: Tensor, layers: Sequence[int], communicator: Communicator = SINGLE_PROCESS) -> Tensor:
    """Values (layers, nodes, ...) in which some layers have their mean over the nodes everywhere."""
    chosen_layers = list(layers)
    values = values.clone()
    values[chosen_layers] = communicator.mean(values[chosen_layers], 1).unsqueeze(1)
    return values


class Network(nn.Module, ABC):
    """What the two networks share: input dropout and the readout, by default a fully connected layer per member."""

    def __init__(self, shape: Shape, random: MemberRandom) -> None:
        super().__init__()
        self.shape, self.random = shape, random
        self.classifier = (
            glorot(random, (shape.hidden_dim, shape.classes), shape.hidden_dim, shape.classes)
            if shape.readout == "linear"
            else None
        )
        self.bias = nn.Parameter(torch.zeros(random.members, shape.classes))

    @abstractmethod
    def forward(self, features: Features, plan: Plan) -> Output:
        """Class scores and embedding of every node, or of those that the plan is made for."""

    @abstractmethod
    def last_hops(self, plan: Plan) -> list[tuple[list[int], AttentionHop, Step]]:
        """Positions of the layers that pass a last hop together, the hop, and what it does on the graph."""

    @abstractmethod
    def layer_directions(
        self, entered: Mapping[nn.Module, Tensor], plan: Plan, rows: Tensor, direction: Tensor
    ) -> Tensor:
        """What each layer's last hop is multiplied with so that all adds up to the embedding times a direction.

        ``entered``: What entered each module of this network in a pass over all nodes; ``plan``: For all nodes;
        ``rows``: Positions of some nodes; ``direction`` (rows, members, dim).

        Returns (layers, rows, members, dim).
        """

    def output(self, embedding: Tensor, plan: Plan) -> Output:
        """Apply the classifier, if there is one."""
        scores = embedding
        if self.classifier is not None:
            dropped = self.drop(embedding, plan.places_at_end)
            scores = torch.einsum("nmd,mdc->nmc", dropped, self.classifier)
        return Output(scores + self.bias, embedding).at(plan.nodes)

    def class_weights(self) -> Tensor:
        """What the embedding is multiplied with to give the scores, (members, out_dim, classes)."""
        if self.classifier is not None:
            return self.classifier
        identity_weights = torch.eye(self.shape.classes, dtype=self.bias.dtype, device=self.bias.device)
        return identity_weights.expand(self.random.members, -1, -1)

    def largest(self, plan: Plan) -> int:
        """Numbers in the largest tensors of a pass."""
        return self.random.members * plan.numbers(self.shape)

    @overload
    def drop(self, features: Tensor, places: Places | None) -> Tensor: ...

    @overload
    def drop(self, features: Features, places: Places | None) -> Features: ...

    def drop(self, features: Features, places: Places | None) -> Features:
        """Dropout on the way into a hop; ``places`` are those of the rows."""
        if not self.training or self.shape.dropout == 0:
            return features
        if isinstance(features, SparseFeatures):  # zeros stay zeros, whatever they are multiplied with
            entries = features.values[:, None].expand(-1, self.random.members)
            keys = EntryPlaces(places, features.shape[0], *features.rows_of_entries())
            kept_entries = self.random.mask(entries, 1, self.shape.dropout, keys)
            if features.beside is None:
                return features.times(kept_entries)
            dense = features.beside[:, None].expand(-1, self.random.members, -1)
            return features.times(kept_entries, self.random.mask(dense, 1, self.shape.dropout, places))
        if isinstance(features, LayerFeatures):
            features = features.dense()
        return features * self.random.mask(features, features.dim() - 2, self.shape.dropout, places)

    def hop(self, layers: Sequence[int], heads: int, number: int, depth: int, weights: int) -> AttentionHop:
        """Hop number 0 .. depth - 1 of a stack for some layers, with weights for so many, and this network's sizes."""
        shape = self.shape
        last = number == depth - 1
        scores = last and shape.readout == "attention"
        return AttentionHop(
            self.random,
            weights,
            shape.hidden_dim if number else shape.in_dim,
            shape.out_dim if last else shape.hidden_dim,
            heads,
            head_weights=shape.head_weights,
            activation="none" if scores else shape.activation,
            attention_dropout=shape.attention_dropout,
            # side by side heads would share the classes, so of class scores the mean is taken
            combine_heads="average" if scores and shape.combine_heads == "concatenate" else shape.combine_heads,
            score_bound=shape.score_bound,
            edge_columns=sum(shape.edge_columns[layer] for layer in layers) if shape.edge_columns else 0,
            score=shape.score,
        )


class FusionNetwork(Network):
    """GrAMME-Fusion: a stack of hops per layer, joined by supra fusion.

    ``fuse="end"`` joins the layers after the last hop, as in the paper; ``"every hop"`` joins them after each and
    gives all layers the joint result as the next input, as in the authors' code. Layers of equal architecture run
    together as one batch. Features are (nodes, members, in_dim), or (layers, nodes, members, in_dim) where layers have
    features of their own.
    """

    def __init__(self, shape: Shape, random: MemberRandom, *, fusion_heads: int, feed_forward: bool, fuse: str) -> None:
        super().__init__(shape, random)
        self.fuse = fuse
        self.groups = shape.architectures()
        depth = max(shape.depth, default=0)
        self.hops = nn.ModuleList(
            nn.ModuleList(
                self.hop(group, shape.heads[group[0]], step, shape.depth[group[0]], len(group))
                for step in range(shape.depth[group[0]])
            )
            for group in self.groups
        )
        joints = depth if fuse == "every hop" else 1
        self.fusions = nn.ModuleList(
            SupraFusion(
                shape,
                random,
                fusion_heads,
                # an activation would cut off class scores
                feed_forward and not (shape.readout == "attention" and fusion_number == joints - 1),
            )
            for fusion_number in range(joints)
        )

    def forward(self, features: Features, plan: Plan) -> Output:
        if self.fuse == "end":
            embedding = self._fused_at_end(features, plan)
        else:
            embedding = self._fused_at_every_hop(features, plan)
        return self.output(embedding, plan)

    def _fused_at_end(self, features: Features, plan: Plan) -> Tensor:
        group_values: list[Tensor] = []
        for group_number in range(len(self.groups)):
            values = self._of_group(features, group_number)
            for hop, step in zip(self.chain(group_number), plan.steps(group_number), strict=True):
                values = step.at_nodes(hop(self.drop(values, plan.places), step.sum, plan.places))
            group_values.append(cast("Tensor", values))  # every layer passes a hop
        embedding: Tensor = self.fusions[0](self._by_layer(group_values, plan.present_at_end))
        return embedding

    def _fused_at_every_hop(self, features: Features, plan: Plan) -> Tensor:
        embedding = features
        for hop_number, fusion in enumerate(self.fusions):
            dropped = self.drop(embedding, plan.places)
            pooled = plan.steps(0)[hop_number].pooled
            if pooled is not None and isinstance(dropped, Tensor) and dropped.dim() == 3 and not plain_torch():
                embedding = fusion(self.chain(0)[hop_number](dropped, pooled), pooled)
                continue
            group_values = []
            for group_number in range(len(self.groups)):
                hop, step = self.chain(group_number)[hop_number], plan.steps(group_number)[hop_number]
                group_values.append(step.at_nodes(hop(self._of_group(dropped, group_number), step.sum, plan.places)))
            last = hop_number == len(self.fusions) - 1
            present = plan.present_at_end if last else plan.present
            embedding = fusion(self._by_layer(group_values, present))
        return cast("Tensor", embedding)

    def last_hops(self, plan: Plan) -> list[tuple[list[int], AttentionHop, Step]]:
        return [
            (group, self.chain(group_number)[-1], plan.steps(group_number)[-1])
            for group_number, group in enumerate(self.groups)
        ]

    def layer_directions(
        self, entered: Mapping[nn.Module, Tensor], plan: Plan, rows: Tensor, direction: Tensor
    ) -> Tensor:
        fusion = cast("SupraFusion", self.fusions[-1])
        layer_values = entered[fusion].index_select(1, rows).to(direction)
        directions = fusion.directions(layer_values, direction)
        if plan.present is None:
            return directions
        return directions * plan.present.index_select(1, rows).to(direction)[:, :, None, None]

    def _of_group(self, features: Features, place: int) -> Features:
        """What the layers of one architecture start from, where each layer has features of its own."""
        if isinstance(features, SparseFeatures) or features.dim() < 4 or len(self.groups) == 1:
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
        every_layer = range(shape.layers)
        depth = shape.depth[0]
        self.hops = nn.ModuleList(self.hop(every_layer, shape.heads[0], step, depth, 1) for step in range(depth))

    def forward(self, features: Features, plan: Plan) -> Output:
        """Features are (copies, members, in_dim) with the copies of layer 0 first, or (nodes, ...) for all layers."""
        layers = self.shape.layers
        assert not isinstance(features, LayerFeatures)  # its copies have one weight together
        values: Features = features if features.shape[0] == plan.rows else features.repeat(layers, 1, 1)
        pooled = values
        for hop_number, (hop, step) in enumerate(zip(self.hops, plan.steps(0), strict=True), start=1):
            last = hop_number == len(self.hops)
            hop_output: Tensor = hop(self.drop(values, plan.places), step.sum, plan.places)[0]
            values = hop_output
            if self.pool == "every hop" or last:
                copies = hop_output.view(layers, -1, *hop_output.shape[1:])
                joint = _average(copies, plan.present_at_end if last else plan.present)
                pooled, values = joint, hop_output if last else joint.repeat(layers, 1, 1)
        return self.output(cast("Tensor", pooled), plan)

    def last_hops(self, plan: Plan) -> list[tuple[list[int], AttentionHop, Step]]:
        hop = cast("AttentionHop", self.hops[-1])
        return [(list(range(self.shape.layers)), hop, plan.steps(0)[-1])]

    def layer_directions(
        self, entered: Mapping[nn.Module, Tensor], plan: Plan, rows: Tensor, direction: Tensor
    ) -> Tensor:
        copies = direction.expand(self.shape.layers, *direction.shape)
        if plan.present is None:
            return copies / self.shape.layers
        present = plan.present.index_select(1, rows).to(direction)
        return copies * (present / present.sum(0).clamp(min=1))[:, :, None, None]


class FittedNetworks(nn.Module):
    """Trained networks on one graph: from features (nodes, members, in_dim) to probabilities (nodes, classes).

    Made of torch's own operations alone; ``order`` says which node of the plan each row of the result stands for.
    """

    order: Tensor

    def __init__(self, network: Network, plan: Plan, order: Tensor) -> None:
        super().__init__()
        self.network, self.plan = network, plan
        self.register_buffer("order", order, persistent=False)

    def forward(self, features: Tensor) -> Tensor:
        with in_plain_torch():
            output: Output = self.network(features, self.plan)
        return output.scores.softmax(-1).mean(1).index_select(0, self.order)


def _average(copies: Tensor, present: Tensor | None) -> Tensor:
    """The mean over the copies that exist, from (layers, nodes, members, dim); zero for a node in no layer."""
    if present is None:
        return copies.mean(0)
    count = present.sum(0).clamp(min=1)
    return (copies * (present / count)[:, :, None, None]).sum(0)
