"""The two networks of the paper, GrAMME-SG and GrAMME-Fusion, for whole ensembles at once.

Both turn features (nodes, members, in_dim) into an embedding (nodes, members, hidden_dim) and class scores
(nodes, members, classes).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gramme.graph import MultilayerGraph
from gramme.nn.hop import ACTIVATIONS, AttentionHop
from gramme.nn.random import MemberRandom
from gramme.nn.weights import ScalingFactors, glorot
from gramme.ops import NeighbourhoodSum, layers_sum, supra_sum


@dataclass(frozen=True)
class Shape:
    """The sizes and choices that both networks share; the paper's symbols in brackets.

    Parameters
    ----------
    layers : int
        Layers of the graph (L).
    in_dim, hidden_dim, classes : int
        Columns of the features (D), of the embedding (d), and classes (C).
    heads, depth : tuple of int
        Attention heads (H) and hops (T) of each layer.
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


@dataclass(frozen=True)
class Structure:
    """What a network needs of a graph: neighbourhood sums and which copies of nodes exist."""

    sums: tuple[NeighbourhoodSum, ...]
    present: Tensor | None

    def to(self, device: torch.device) -> Structure:
        """The same on another device."""
        present = None if self.present is None else self.present.to(device)
        return Structure(tuple(one.to(device) for one in self.sums), present)


@dataclass(frozen=True)
class Output:
    """Class scores (nodes, members, classes), embedding (nodes, members, hidden_dim), and, when asked for, what each
    layer gave to the embedding at each hop that combines layers, (layers, nodes, members, hidden_dim).
    """

    scores: Tensor
    embedding: Tensor
    contributions: tuple[Tensor, ...] = ()


class Network(nn.Module):
    """What the two networks share: input dropout and the classifier, a fully connected layer per member."""

    def __init__(self, shape: Shape, random: MemberRandom) -> None:
        super().__init__()
        self.shape, self.random = shape, random
        self.classifier = glorot(
            random, (shape.hidden_dim, shape.classes), shape.hidden_dim, shape.classes
        )
        self.bias = nn.Parameter(torch.zeros(random.members, shape.classes))

    @staticmethod
    def structure(graph: MultilayerGraph, shape: Shape) -> Structure:
        """What this kind of network needs of a graph."""
        raise NotImplementedError

    def forward(self, features: Tensor, structure: Structure, explain: bool = False) -> Output:
        """Class scores and embedding of every node."""
        raise NotImplementedError

    def output(self, embedding: Tensor, contributions: Sequence[Tensor]) -> Output:
        """Apply the classifier."""
        dropped = self.drop(embedding)
        scores = torch.einsum("nmd,mdc->nmc", dropped, self.classifier) + self.bias
        return Output(scores, embedding, tuple(contributions))

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
        )


class SupraFusion(nn.Module):
    """K fusion heads over the L layers and an overall fusion head over the K (the supra fusion layer).

    Without a feed-forward layer between the two, both are linear and multiply out to one factor per layer,
    ``sum over k of kappa_k gamma_kl``, which is how it is computed.

    Parameters
    ----------
    shape : Shape
    random : MemberRandom
    fusion_heads : int
        K.
    feed_forward : bool
        Whether each head's result passes a fully connected layer and the activation before the overall fusion.
    """

    def __init__(
        self, shape: Shape, random: MemberRandom, fusion_heads: int, feed_forward: bool
    ) -> None:
        super().__init__()
        dim = shape.hidden_dim
        self.gamma = ScalingFactors(random, (fusion_heads, shape.layers), shape.head_weights)
        self.kappa = ScalingFactors(random, (fusion_heads,), shape.head_weights)
        self.activation = ACTIVATIONS[shape.activation]
        self.feed_forward = (
            glorot(random, (fusion_heads, dim, dim), dim, dim) if feed_forward else None
        )

    def layer_factors(self) -> Tensor:
        """What each layer is multiplied with when no feed-forward layer stands between, (members, layers)."""
        return torch.einsum("mk,mkl->ml", self.kappa(), self.gamma())

    def forward(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """From (layers, nodes, members, dim) to (nodes, members, dim), and each layer's scaled part of it."""
        parts = values * self.layer_factors().t()[:, None, :, None]
        if self.feed_forward is None:
            return parts.sum(0), parts
        fused = torch.einsum("mkl,lnmd->nmkd", self.gamma(), values)
        fused = self.activation(torch.einsum("nmkd,mkde->nmke", fused, self.feed_forward))
        return torch.einsum("mk,nmkd->nmd", self.kappa(), fused), parts


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
        sums = tuple(
            layers_sum(graph, [names[position] for position in group])
            for group in architectures(shape)
        )
        return Structure(sums, _present(graph))

    def forward(self, features: Tensor, structure: Structure, explain: bool = False) -> Output:
        contributions: list[Tensor] = []
        if self.fuse == "end":
            found = []
            for hops, neighbourhood in zip(self.hops, structure.sums, strict=True):
                values = features
                for hop in hops:  # type: ignore[attr-defined]
                    values = hop(self.drop(values), neighbourhood)
                found.append(values)
            embedding, parts = self.fusions[0](self._in_order(found, structure))
            contributions.append(parts)
        else:
            embedding = features
            for step, fusion in enumerate(self.fusions):
                dropped = self.drop(embedding)
                found = [
                    hops[step](dropped, neighbourhood)  # type: ignore[index]
                    for hops, neighbourhood in zip(self.hops, structure.sums, strict=True)
                ]
                embedding, parts = fusion(self._in_order(found, structure))
                contributions.append(parts)
        return self.output(embedding, contributions if explain else ())

    def _in_order(self, found: list[Tensor], structure: Structure) -> Tensor:
        """The groups' results as one tensor in the order of the layers; absent nodes contribute nothing."""
        values = found[0]
        if len(found) > 1:
            order = [position for group in self.groups for position in group]
            back = torch.tensor(sorted(range(len(order)), key=order.__getitem__))
            values = torch.cat(found).index_select(0, back.to(found[0].device))
        if structure.present is not None:
            values = values * structure.present[:, :, None, None]
        return values


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
        return Structure((supra_sum(graph),), _present(graph))

    def forward(self, features: Tensor, structure: Structure, explain: bool = False) -> Output:
        """Features are (copies, members, in_dim) with the copies of layer 0 first, or (nodes, ...) for all layers."""
        layers = self.shape.layers
        rows = structure.sums[0].rows
        nodes = rows // layers
        contributions: list[Tensor] = []
        values = features if features.shape[0] == rows else features.repeat(layers, 1, 1)
        pooled = values
        for step, hop in enumerate(self.hops, start=1):
            values = hop(self.drop(values), structure.sums[0])[0]
            if self.pool == "every hop" or step == len(self.hops):
                parts = self._shares(values.view(layers, nodes, *values.shape[1:]), structure)
                contributions.append(parts)
                pooled = parts.sum(0)
                values = pooled.repeat(layers, 1, 1) if step < len(self.hops) else values
        return self.output(pooled, contributions if explain else ())

    @staticmethod
    def _shares(copies: Tensor, structure: Structure) -> Tensor:
        """Each copy divided by the number of the node's copies, so that their sum is the average."""
        if structure.present is None:
            return copies / copies.shape[0]
        count = structure.present.sum(0).clamp(min=1)
        return copies * (structure.present / count)[:, :, None, None]


def architectures(shape: Shape) -> list[list[int]]:
    """Positions of the layers, grouped by equal numbers of heads and hops."""
    groups: dict[tuple[int, int], list[int]] = {}
    for position, key in enumerate(zip(shape.heads, shape.depth, strict=True)):
        groups.setdefault(key, []).append(position)
    return list(groups.values())


def _present(graph: MultilayerGraph) -> Tensor | None:
    """Which copies exist, (layers, nodes) as numbers; None where all do."""
    if all(layer.holds_all_nodes for layer in graph.layers.values()):
        return None
    rows = [torch.tensor(layer.present) for layer in graph.layers.values()]
    return torch.stack(rows).to(torch.get_default_dtype())
