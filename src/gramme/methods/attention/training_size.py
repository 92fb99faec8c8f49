"""How much of an ensemble is trained: all that was asked for, what a budget of time allows, or what labels decide.

To save time, an ensemble first gives up the second copies that leave out a fold, then members, since half of them
predict nearly the same as all, and only then epochs.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from gramme._text import setting
from gramme.distributed import communicator_of
from gramme.errors import GrammeError, GrammeWarning
from gramme.graph import MultilayerGraph
from gramme.methods.cross_fitting import FOLDS
from gramme.methods.labels import KnownLabels, stratified_folds
from gramme.nn import Plan
from gramme.training import Callback, Settings, State, Task, TrainingTargets, train

from .members import Members

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
