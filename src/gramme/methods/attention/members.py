"""How the members of an ensemble are made: each from seeds of its own, in batches that fit the cache.

What a member becomes depends on its seeds alone, not on the members it is trained with.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gramme.distributed import gather_rows
from gramme.errors import DataError, GrammeWarning
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.graph.arrays import plain
from gramme.methods.labels import KnownLabels, coded_labels
from gramme.nn import MemberRandom, Network, Output, Plan, Shape
from gramme.ops import Features, LayerFeatures
from gramme.training import TrainingTargets, held_out_labels

from .features import InputFeatures, SparseColumns

if TYPE_CHECKING:
    from .estimator import AttentionModel


MAX_BATCH_NUMBERS = 1 << 20
"""Numbers per activation of a batch of members; beyond that batching gains nothing."""


@dataclass(frozen=True)
class Members:
    """Networks and features of an ensemble's members.

    ``features_per_layer``: Whether a node's copies have random features of their own.
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
        return [range(first_member, min(first_member + batch, count)) for first_member in range(0, count, batch)]

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
        if not isinstance(features, Tensor) or self.features_per_layer or features.shape[0] == graph.num_nodes:
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
        edgeless_graph = MultilayerGraph(
            {layer: EdgeLayer(nodes.size, [], []) for layer in graph.layers}, nodes=graph.nodes[nodes]
        )
        features = self.inputs.tensor(
            edgeless_graph,
            shared[(copies[:, None] + nodes).ravel()],
            [self._seeds(0)[0]],
            per_layer=self.features_per_layer,
            device=self.device,
        )
        assert isinstance(features, Tensor)
        first_features: NDArray[np.float32] = features[:, 0].float().cpu().numpy()
        return first_features

    def trained(self, graph: MultilayerGraph, members: range, state: Mapping[str, Tensor]) -> tuple[Network, Features]:
        """The same with the weights that a training left."""
        network, features = self.new(graph, members)
        network.load_state_dict(
            {name: weight_tensor[members.start : members.stop] for name, weight_tensor in state.items()}
        )
        return network, features

    def _seeds(self, member: int) -> tuple[int, int]:
        """The seeds of a member's features and of its starting weights and dropout."""
        features, weight_seed = np.random.SeedSequence([self.seed, member]).generate_state(2, np.uint64)
        return int(features), int(weight_seed)


def make_targets(
    model: AttentionModel, graph: MultilayerGraph, known: KnownLabels, seen: NDArray[np.bool_], validation: Any = None
) -> TrainingTargets:
    """What each member learns from of the labels it may see, (labelled, members), and which tell it when to stop."""
    label_weights = known.weights[:, None] * seen
    if validation is not None:
        coded = coded_labels(graph, validation, known.classes, "validation", strict=True)
        doubly_used = np.intersect1d(coded[0], known.nodes)
        if doubly_used.size:
            raise DataError(
                f"{doubly_used.size} nodes, such as {plain(graph.nodes[int(doubly_used[0])])!r}, have a label both "
                "to learn from and "
                "in validation; when to stop must be decided by labels that are not learned from"
            )
        return TrainingTargets(known.nodes, known.codes, label_weights, validation=coded, graph=graph)
    aside = None
    if model.validation_fraction > 0:
        aside = held_out_labels(known.codes, seen, model.validation_fraction, model.seed_)
        if aside is None:
            warnings.warn(
                f"validation_fraction={model.validation_fraction} of {known.nodes.size} labels in "
                f"{len(known.classes)} classes sets none aside, so all {model.epochs} epochs are trained",
                GrammeWarning,
                stacklevel=6,
            )
    return TrainingTargets(known.nodes, known.codes, label_weights, aside, graph=graph)


class EnsemblePredictions:
    """Probabilities of an ensemble, batch by batch; the first members, ``proper``, see every label.

    ``copies`` further ones leave out each fold of ``fold`` (labelled,), -1 for labels that everybody sees. ``seen``
    (labelled, members): Which labels each member sees; ``unseen`` (labelled, classes): What the members that did not
    see a label say about it, the mean of the copies; NaN where all saw it.
    """

    def __init__(
        self,
        graph: MultilayerGraph,
        known: KnownLabels,
        proper: int,
        fold: NDArray[np.int64] | None = None,
        copies: int = 1,
    ) -> None:
        self.graph, self.known, self.copies = graph, known, copies
        self.seen = seen_labels(known.nodes.size, proper, fold, copies)
        self.unseen = np.zeros((known.nodes.size, len(known.classes)))
        if fold is not None:
            self.unseen[fold < 0] = np.nan
        self._total = np.zeros((graph.num_nodes, len(known.classes)))
        self._members = 0

    def add(self, members: range, output: Output) -> None:
        """Count what some members say about all nodes."""
        probabilities = output.scores.double().softmax(-1).cpu()
        self._total += probabilities.sum(1).numpy()
        self._members += len(members)
        if self.seen[:, members.start : members.stop].all():
            return
        at_labels = gather_rows(self.graph, probabilities.numpy(), self.known.nodes)
        for batch_place, member in enumerate(members):
            unseen_labels = ~self.seen[:, member]
            self.unseen[unseen_labels] += at_labels[unseen_labels, batch_place] / self.copies

    def mean(self) -> NDArray[np.float64]:
        """The mean over all members, shape (nodes, classes)."""
        mean: NDArray[np.float64] = self._total / self._members
        return mean


def seen_labels(labels: int, proper: int, fold: NDArray[np.int64] | None, copies: int) -> NDArray[np.bool_]:
    """Which labels each member sees, (labels, members): the members proper all of them, further ones all but a fold.

    >>> seen_labels(3, 1, np.array([0, 0, 1]), 1).astype(int)
    array([[1, 0, 1],
           [1, 0, 1],
           [1, 1, 0]])
    """
    folds = 0 if fold is None else int(fold.max()) + 1
    seen_by_member = np.ones((labels, proper + folds * copies), dtype=bool)
    if fold is not None:
        seen_by_member[:, proper:] = fold[:, None] != np.repeat(np.arange(folds), copies)
    return seen_by_member
