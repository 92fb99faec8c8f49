"""How the members of an ensemble are made: each from seeds of its own, in batches that fit the cache.

What a member becomes depends on its seeds alone, not on the members it is trained with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.methods.attention.feature_sources import InputFeatures, SparseColumns
from gramme.nn import MemberRandom, Network, Plan, Shape
from gramme.ops import Features, LayerFeatures

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
    inputs : InputFeatures
        Where the features come from.
    features_per_layer : bool
        Whether a node's copies have random features of their own.
    """

    network: Callable[[Shape, MemberRandom], Network]
    shape: Shape
    seed: int
    inputs: InputFeatures
    features_per_layer: bool
    device: torch.device
    _shared: dict[int, Any] = field(default_factory=dict)

    def batches(self, plan: Plan, count: int) -> list[range]:
        """The members 0 .. count - 1 in batches, for a graph with such a plan."""
        batch = max(1, MAX_BATCH_NUMBERS // max(plan.numbers(self.shape), 1))
        return [range(start, min(start + batch, count)) for start in range(0, count, batch)]

    def new(self, graph: MultilayerGraph, members: range) -> tuple[Network, Features]:
        """A network for some members, as they start, and their features on a graph."""
        random = MemberRandom([self._seeds(member)[1] for member in members])
        return self.network(self.shape, random).to(self.device), self.features(graph, members)

    def features(self, graph: MultilayerGraph, members: range) -> Features:
        """What some members start from on a graph, (nodes or copies, members, columns).

        Where layers start from features of their own but copies share their random ones, (layers, nodes, members,
        columns).
        """
        if id(graph) not in self._shared:  # the same for every batch
            self._shared[id(graph)] = self.inputs.shared(graph)
        features = self.inputs.tensor(
            graph,
            self._shared[id(graph)],
            [self._seeds(member)[0] for member in members],
            per_layer=self.features_per_layer,
            device=self.device,
        )
        if (
            not isinstance(features, Tensor)
            or self.features_per_layer
            or features.shape[0] == graph.num_nodes
        ):
            return features
        return LayerFeatures(features.view(graph.num_layers, graph.num_nodes, *features.shape[1:]))

    def start(self, graph: MultilayerGraph, nodes: NDArray[np.int64]) -> NDArray[np.float32]:
        """What the first member starts from for some nodes of a graph, (nodes or copies, columns)."""
        shared: Any = self.inputs.shared(graph)
        if isinstance(shared, SparseColumns):
            dense = [] if shared.beside is None else [shared.beside[nodes]]
            sparse: NDArray[np.float32] = np.hstack([shared.entries[nodes].toarray(), *dense])
            return sparse
        copies = np.arange(0, shared.shape[0], max(graph.num_nodes, 1))
        # what is not shared depends on names alone
        alone = MultilayerGraph(
            {layer: EdgeLayer(nodes.size, [], []) for layer in graph.layers},
            nodes=graph.nodes[nodes],
        )
        features = self.inputs.tensor(
            alone,
            shared[(copies[:, None] + nodes).ravel()],
            [self._seeds(0)[0]],
            per_layer=self.features_per_layer,
            device=self.device,
        )
        assert isinstance(features, Tensor)
        first: NDArray[np.float32] = features[:, 0].float().cpu().numpy()
        return first

    def trained(
        self, graph: MultilayerGraph, members: range, state: Mapping[str, Tensor]
    ) -> tuple[Network, Features]:
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
