"""The members of an ensemble: how each is made, in batches that fit the cache, and how many are trained for how long.

What a member becomes depends on its seeds alone, not on the members it is trained with. To save time, an ensemble first
gives up the second copies that leave out a fold, then members, since half of them predict nearly the same as all, and
only then epochs.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gramme._text import setting
from gramme.distributed import communicator_of, gather_rows
from gramme.errors import DataError, GrammeError, GrammeWarning
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.graph.arrays import plain
from gramme.methods.cross_fitting import FOLDS
from gramme.methods.labels import KnownLabels, coded_labels, stratified_folds
from gramme.nn import MemberRandom, Network, Output, Plan, Shape
from gramme.ops import Features, LayerFeatures
from gramme.training import Callback, Settings, State, Task, TrainingTargets, held_out_labels, train

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


# How much is trained: all that was asked for, what a budget of time allows, or what labels decide.
TRAINING_SHARE = 0.9
"""Of the time for a training; the rest is for making its plan and for predicting."""


MAX_EPOCHS = 200
"""At most so many epochs where the labels choose their number, and just as many where they are too few to choose; twice
as many changed leskovec_ng by less than a point (realisations 0 to 3, the paper's learning rate)."""


class OutOfTimeError(GrammeError):
    """There is not time enough for even the smallest training."""


@dataclass(frozen=True)
class TimeBudget:
    """The time that a training may take.

    ``measured``: Whether the first steps are timed, so a slow or busy machine trains less. Otherwise the time is
    estimated from the size of the data, and the same data always get the same training.
    """

    seconds: float
    measured: bool


@dataclass(frozen=True)
class TrainingSize:
    """Members that see all labels, members that leave out the same fold, and epochs."""

    members: int
    copies: int
    epochs: int

    def steps(self, folds: int) -> int:
        """Training steps of single members in all."""
        return (self.members + folds * self.copies) * self.epochs

    def within(self, steps: float, folds: int) -> TrainingSize:
        """The largest effort up to this one that takes so many steps of single members.

        >>> full = TrainingSize(members=8, copies=2, epochs=40)
        >>> full.within(720, folds=5), full.within(300, folds=5)
        (TrainingSize(members=8, copies=2, epochs=40), TrainingSize(members=2, copies=1, epochs=40))
        >>> full.within(150, folds=5)
        TrainingSize(members=1, copies=1, epochs=25)
        """
        effort = self
        while effort.steps(folds) > steps and effort.copies > 1:
            effort = replace(effort, copies=effort.copies - 1)
        while effort.steps(folds) > steps and effort.members > 1:
            effort = replace(effort, members=effort.members // 2)
        if effort.steps(folds) > steps:
            effort = replace(effort, epochs=int(steps / (effort.members + folds * effort.copies)))
        least = 10  # epochs, below which attention has learned next to nothing
        if effort.epochs < min(least, self.epochs):
            raise OutOfTimeError(
                f"there is time for {max(effort.epochs, 0)} epochs of attention, and fewer than {least} teach it "
                f"nothing; give it a larger {setting('budget')}"
            )
        return effort


def settled_training_size(
    full: TrainingSize, folds: int, allowance: TimeBudget | None, graph: MultilayerGraph, timed: Callable[[], float]
) -> TrainingSize:
    """What is trained: everything, or as much of it as the allowance lets.

    ``full``: What was asked for; ``folds``: How many folds are left out; ``timed``: Takes some steps and returns the
    seconds of one; called only if steps are to be measured.
    """
    if allowance is None:
        _warn_if_long(full, folds, graph)
        return full
    communicator = communicator_of(graph)  # processes that train together go by the clock of the slowest
    seconds_left = -float(communicator.all_max(-allowance.seconds))
    seconds = expected_step_seconds(graph)
    if allowance.measured:
        seconds = float(communicator.all_max(timed()))
    return full.within(TRAINING_SHARE * seconds_left / max(seconds, 1e-9), folds)


def chosen_epochs(members: Members, graph: MultilayerGraph, plan: Plan, known: KnownLabels, settings: Settings) -> int:
    """How long to train, from the known labels alone: as long as labels that are left out are predicted no worse.

    Each of five networks, trained together, leaves out another fifth of the labels. The loss on all that was left out
    is taken every ten epochs; once it is above the smallest by more than its standard error for ``patience`` epochs,
    the training has been long enough.
    """
    if known.nodes.size < 10:  # too few to choose by
        return MAX_EPOCHS
    left_out = stratified_folds(known.codes, FOLDS, members.seed)[:, None] == np.arange(FOLDS)
    lessons = TrainingTargets(known.nodes, known.codes, known.weights[:, None] * np.ones(FOLDS), left_out, graph=graph)
    chosen_numbers = []
    for batch in members.batches(plan, FOLDS):
        network, features = members.new(graph, batch)
        task, held_out = lessons.tasks(batch, features.device)
        assert held_out is not None
        longest = _LongestTraining(held_out, settings.patience)
        state = train(network, features, plan, task, settings, callbacks=[longest], communicator=communicator_of(graph))
        if state.interrupted:
            raise KeyboardInterrupt
        chosen_numbers += [longest.epoch] * len(batch)
    return round(sum(chosen_numbers) / len(chosen_numbers))


class _LongestTraining(Callback):
    """The last epoch at which labels held out are predicted as well as ever, give or take a standard error.

    The epoch with the smallest loss alone would be far too early where labels are few: networks still get better while
    they get too sure of a few labels.
    """

    EVERY = 10  # epochs between two looks, which cost about as much as an epoch

    def __init__(self, held_out: Task, patience: int) -> None:
        self.held_out, self.patience = held_out, patience
        self.epoch = self.EVERY
        self.best: Tensor | None = None

    def after_epoch(self, state: State) -> None:
        if state.epoch % self.EVERY:
            return
        chances = self.held_out.among(state.predict().scores).double().log_softmax(-1)
        left_out, member = (self.held_out.weights > 0).nonzero(as_tuple=True)
        losses = -chances[left_out, member, self.held_out.classes[left_out]]
        rise = losses - (losses if self.best is None else self.best)
        rise_sums = torch.stack([torch.ones_like(rise).sum(), rise.sum(), rise.square().sum()])
        count, rise_total, squares = state.communicator.all_sum_(rise_sums).tolist()
        mean = rise_total / count
        if self.best is None or mean < 0:
            self.best = losses
        if mean <= (max(squares / count - mean**2, 0) / max(count - 1, 1)) ** 0.5:
            self.epoch = state.epoch
        state.stop = state.epoch - self.epoch >= self.patience


def _warn_if_long(effort: TrainingSize, folds: int, graph: MultilayerGraph) -> None:
    """Tell whoever set no budget what takes long, and what would take less."""
    if graph.num_entries * effort.steps(folds) < 100_000_000 or not communicator_of(graph).first:
        return
    if effort.members == effort.epochs == 1:  # nothing would take less
        return
    who, fewer = f"{effort.members} members", f"fewer members ({setting('ensemble', 1, of_method=True)})"
    if effort.members == 1:
        who, fewer = "1 member", f"fewer epochs ({setting('epochs', max(effort.epochs // 2, 1), of_method=True)})"
    warnings.warn(
        f"this may take minutes: {who} x {effort.epochs} epochs on {graph.num_entries:,} nodes, memberships and ends "
        f"of edges, over all {graph.num_layers:,} layers; {fewer} take less, and gramme-auto keeps to a "
        f"{setting('budget')}",
        GrammeWarning,
        stacklevel=6,
    )


def expected_step_seconds(graph: MultilayerGraph) -> float:
    """About how long a step of one member takes on one core, judged by the size of a graph and its kinds of layer."""
    entries = graph.num_entries
    for layer in graph.layers.values():
        groups = layer.as_groups()
        if groups is not None and not groups.single:
            entries += 3 * layer.num_entries  # where nodes are in several groups, sums go to groups and back
    return 2e-7 * entries  # measured on one core, per node, membership and end of an edge


def step_seconds(
    members: Members, graph: MultilayerGraph, plan: Plan, lessons: TrainingTargets, settings: Settings
) -> float:
    """How long a step of one member takes: the second of two steps that are thrown away, the first warms up."""
    batch = members.batches(plan, lessons.members)[0]
    network, features = members.new(graph, batch)
    clock = _Clock()
    state = train(
        network,
        features,
        plan,
        lessons.tasks(batch, features.device)[0],
        replace(settings, epochs=2),
        callbacks=[clock],
    )
    if state.interrupted:
        raise KeyboardInterrupt
    return (clock.ticks[-1] - clock.ticks[-2]) / len(batch)


class _Clock(Callback):
    """When each epoch ended."""

    def __init__(self) -> None:
        self.ticks: list[float] = []

    def start(self, state: State) -> None:
        self.ticks.append(time.perf_counter())

    def after_epoch(self, state: State) -> None:
        self.ticks.append(time.perf_counter())
