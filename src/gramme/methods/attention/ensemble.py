"""An ensemble of networks behind one estimator: seeds, features and networks of its members, in batches.

Each member has seeds of its own, so that what it becomes does not depend on the others. Members run together in
batches that fit the cache; the ensemble predicts the mean of its members' probabilities.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from gramme.errors import DataError, NotFittedError
from gramme.graph import MultilayerGraph
from gramme.methods.attention.inputs import feature_columns, input_features
from gramme.methods.base import NodeClassifier
from gramme.methods.parameters import torch_device
from gramme.methods.seen_graph import given_columns
from gramme.nn import MemberRandom, Network, Plan, Shape
from gramme.training import evaluate

_BATCH = 1 << 20  # numbers per activation of a batch of members; beyond that batching gains nothing


class EnsembleModel(NodeClassifier):
    """Base of the methods that train an ensemble of networks; knows how its members are made and asked.

    Attributes
    ----------
    members_ : int
        Members that were trained.
    state_ : dict of str to tensor
        The weights of all members, who lie along the first axis.
    history_ : DataFrame
    shape_, source_, seed_
        Sizes of the networks, where features come from, and the seed of everything random.
    """

    feature_dim: int
    device: str
    members_: int
    seed_: int
    source_: str
    shape_: Shape
    state_: dict[str, Tensor]
    history_: pd.DataFrame

    @abstractmethod
    def _network(self, shape: Shape, random: MemberRandom) -> Network:
        """The network for the members of one batch."""

    @abstractmethod
    def _plan(self, graph: MultilayerGraph, nodes: NDArray[np.int64] | None = None) -> Plan:
        """What the network needs of a graph, for the output of some nodes or of all."""

    _features_per_layer: Any = False

    # Making members

    def _device(self) -> torch.device:
        return torch_device(self.device)

    def _member_seeds(self, member: int) -> tuple[int, int]:
        """The seeds of a member's features and of its starting weights and dropout."""
        sequence = np.random.SeedSequence([self.seed_, member])
        features, weights = sequence.generate_state(2, np.uint64)
        return int(features), int(weights)

    def _batches(self, nodes: int, members: int) -> Iterator[range]:
        size = nodes * self.shape_.layers * max(self.shape_.heads) * self.shape_.hidden_dim
        batch = max(1, _BATCH // max(size, 1))
        for start in range(0, members, batch):
            yield range(start, min(start + batch, members))

    def _inputs(self, graph: MultilayerGraph, members: range) -> Tensor:
        features = input_features(
            graph,
            [self._member_seeds(member)[0] for member in members],
            source=self.source_,
            dim=self.feature_dim,
            per_layer=self._features_per_layer,
            device=self._device(),
        )
        if self._features_per_layer or features.shape[0] == graph.num_nodes:
            return features
        return features.view(graph.num_layers, graph.num_nodes, *features.shape[1:])

    def _new_network(self, members: range) -> Network:
        random = MemberRandom([self._member_seeds(member)[1] for member in members])
        return self._network(self.shape_, random).to(self._device())

    def _fitted_network(self, members: range) -> Network:
        network = self._new_network(members)
        chosen = {name: value[members.start : members.stop] for name, value in self.state_.items()}
        network.load_state_dict(chosen)
        return network

    def _each_batch(self, graph: MultilayerGraph) -> Iterator[tuple[Network, Tensor, Plan]]:
        """Fitted network, features and plan of each batch of members."""
        if feature_columns(graph, self.source_, self.feature_dim) != self.shape_.in_dim:
            needed = self.shape_.in_dim - (self.source_ == "both") * self.feature_dim
            found = given_columns(graph)
            raise DataError(f"the model needs {needed} features per node; the graph has {found}")
        plan = self._plan(graph).to(self._device())
        for members in self._batches(graph.num_nodes, self.members_):
            yield self._fitted_network(members), self._inputs(graph, members), plan

    # Asking them

    def _member_probabilities(
        self, graph: MultilayerGraph, nodes: NDArray[np.int64]
    ) -> Iterator[NDArray[np.float64]]:
        """Each member's class probabilities of some nodes, shape (nodes, classes)."""
        for network, features, plan in self._each_batch(graph):
            scores = evaluate(network, features, plan).scores
            chosen = scores[torch.from_numpy(nodes).to(scores.device)].double().softmax(-1).cpu()
            yield from chosen.transpose(0, 1).numpy()

    def _inductive_proba(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        total = np.zeros((graph.num_nodes, len(self.classes_)))
        if not graph.num_nodes:
            return total.astype(np.float32)
        for network, features, plan in self._each_batch(graph):
            scores = evaluate(network, features, plan).scores
            total += scores.double().softmax(-1).sum(1).cpu().numpy()
        return (total / self.members_).astype(np.float32)

    def embed(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        """The embedding of a graph's nodes, shape (nodes, members * hidden_dim): the members' side by side."""
        self._check_fitted()
        return self._embed(self._with_fitted_layers(graph))

    def _embed(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        if not graph.num_nodes:
            return np.zeros((0, self.members_ * self.shape_.hidden_dim), dtype=np.float32)
        parts = [
            evaluate(network, features, plan).embedding.flatten(1).cpu().numpy()
            for network, features, plan in self._each_batch(graph)
        ]
        return np.concatenate(parts, axis=1).astype(np.float32, copy=False)

    @cached_property
    def embedding_(self) -> NDArray[np.float32]:
        """The embedding of the fitted graph's nodes; see :meth:`embed`."""
        return self._embed(self._fitted_graph())

    def _fitted_graph(self) -> MultilayerGraph:
        self._check_fitted()
        if not hasattr(self, "graph_"):
            raise NotFittedError(
                "a loaded model does not hold the graph it was fitted on; pass the graph, "
                "as in embed(graph) or node_attention(layer, graph=graph)"
            )
        return self.graph_
