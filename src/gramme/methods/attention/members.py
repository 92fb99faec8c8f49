"""How the members of an ensemble are made: each from seeds of its own, in batches that fit the cache.

What a member becomes depends on its seeds alone, not on the members it is trained with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from gramme.graph import MultilayerGraph
from gramme.methods.attention.inputs import input_features
from gramme.nn import MemberRandom, Network, Shape

MAX_BATCH_NUMBERS = 1 << 20
"""Numbers per activation of a batch of members; beyond that batching gains nothing."""


@dataclass(frozen=True)
class Members:
    """Networks and features of an ensemble's members.

    Attributes
    ----------
    network : callable
        Makes a network from its shape and the random numbers of its members.
    shape : Shape
    seed : int
    source : {"random", "given", "both"}
        Where the features come from; ``feature_dim`` is the number of random columns.
    features_per_layer : bool
        Whether a node's copies have random features of their own.
    """

    network: Callable[[Shape, MemberRandom], Network]
    shape: Shape
    seed: int
    source: str
    feature_dim: int
    features_per_layer: bool
    device: torch.device

    def batches(self, nodes: int, count: int) -> list[range]:
        """The members 0 .. count - 1 in batches, for a graph of so many nodes."""
        shape = self.shape
        size = nodes * shape.layers * max(shape.heads) * shape.hidden_dim
        batch = max(1, MAX_BATCH_NUMBERS // max(size, 1))
        return [range(start, min(start + batch, count)) for start in range(0, count, batch)]

    def new(self, graph: MultilayerGraph, members: range) -> tuple[Network, Tensor]:
        """A network for some members, as they start, and their features on a graph."""
        random = MemberRandom([self._seeds(member)[1] for member in members])
        return self.network(self.shape, random).to(self.device), self.features(graph, members)

    def features(self, graph: MultilayerGraph, members: range) -> Tensor:
        """What some members start from on a graph, (nodes or copies, members, columns).

        Where layers start from features of their own but copies share their random ones, (layers, nodes, members,
        columns).
        """
        features = input_features(
            graph,
            [self._seeds(member)[0] for member in members],
            source=self.source,
            dim=self.feature_dim,
            per_layer=self.features_per_layer,
            device=self.device,
        )
        if self.features_per_layer or features.shape[0] == graph.num_nodes:
            return features
        return features.view(graph.num_layers, graph.num_nodes, *features.shape[1:])

    def trained(
        self, graph: MultilayerGraph, members: range, state: Mapping[str, Tensor]
    ) -> tuple[Network, Tensor]:
        """The same with the weights that a training left."""
        network, features = self.new(graph, members)
        network.load_state_dict(
            {name: value[members.start : members.stop] for name, value in state.items()}
        )
        return network, features

    def _seeds(self, member: int) -> tuple[int, int]:
        """The seeds of a member's features and of its starting weights and dropout."""
        features, weights = np.random.SeedSequence([self.seed, member]).generate_state(2, np.uint64)
        return int(features), int(weights)
