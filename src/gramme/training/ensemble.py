"""Training an ensemble of networks, batch after batch of its members.

It knows no estimator: the caller says how a batch is made, on which plan, from which labels and with which settings.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressBar
from torch import Tensor

from gramme._progress import advance
from gramme._types import Ints
from gramme.distributed import local_index
from gramme.errors import GrammeError
from gramme.graph import MultilayerGraph
from gramme.nn import Network, Output, Plan
from gramme.ops import Features
from gramme.ops.communicator import SINGLE_PROCESS, Communicator

from .loop import Callback, EarlyStopping, History, Loss, Progress, Settings, Task, evaluate, joined_history, train


# What each member of an ensemble learns from, and which labels tell it when to stop.
@dataclass(frozen=True)
class TrainingTargets:
    """The labels of an ensemble's training, member by member.

    ``nodes``, ``codes`` (labelled,): Positions of the labelled nodes and their classes, or numbers for each member,
    (labelled, members), with :class:`~gramme.training.loop.NumberTask` as ``task``; ``weights`` (labelled, members):
    How much each label counts for each member; 0 hides it; ``held_out`` (labelled, members): Labels that a member sets
    aside to know when to stop; ``validation``: Nodes and classes that tell all members, in place of these; ``graph``:
    Where it is one process's part, only the labels of its own nodes become tasks.
    """

    nodes: Ints
    codes: NDArray[Any]
    weights: NDArray[np.float64]
    held_out: NDArray[np.bool_] | None = None
    validation: tuple[Ints, Ints] | None = None
    task: type[Task] = Task
    graph: MultilayerGraph | None = None

    @property
    def members(self) -> int:
        """How many members learn."""
        return int(self.weights.shape[1])

    def tasks(self, members: range, device: torch.device) -> tuple[Task, Task | None]:
        """What some members learn from, and what tells them when to stop; None if all epochs are trained."""
        member_slice = slice(members.start, members.stop)
        label_weights = self.weights[:, member_slice]
        label_codes = self.codes if self.codes.ndim == 1 else self.codes[:, member_slice]
        if self.held_out is not None:
            aside = self.held_out[:, member_slice]
            training, stopping = (
                self._task(self.nodes, label_codes, label_weights * label_mask, device)
                for label_mask in (~aside, aside)
            )
            return training, stopping
        training = self._task(self.nodes, label_codes, label_weights, device)
        if self.validation is None:
            return training, None
        validation_nodes, label_codes = self.validation
        return training, self._task(
            validation_nodes, label_codes, np.ones((validation_nodes.size, len(members))), device
        )

    def _task(self, nodes: Ints, codes: Ints, weights: NDArray[np.float64], device: torch.device) -> Task:
        whole_task = self.task.of(nodes, codes, weights, device)
        if self.graph is None:
            return whole_task
        which, positions = local_index(self.graph, nodes)
        return whole_task.at(torch.from_numpy(which).to(device), torch.from_numpy(positions).to(device))


def held_out_labels(codes: Ints, seen: NDArray[np.bool_], fraction: float, seed: int) -> NDArray[np.bool_] | None:
    """Which labels each member sets aside, (labelled, members): a share of those it sees, at random within each class.

    At least one label of each class stays in training. None if the labels are too few to set any aside.
    """
    aside = np.zeros_like(seen)
    for member in range(seen.shape[1]):
        random = np.random.default_rng([seed, member, 1])
        for code in range(int(codes.max(initial=-1)) + 1):
            class_labels = np.flatnonzero((codes == code) & seen[:, member])
            count = min(round(fraction * class_labels.size), max(class_labels.size - 1, 0))
            aside[random.permutation(class_labels)[:count], member] = True
    return aside if aside.any() else None


# A progress bar on the terminal for trainings that take longer than two seconds.
PATIENCE_SECONDS = 2.0
"""Seconds after which a training shows its progress."""


class ProgressDisplay:
    """Shows a bar with the time left, once a training of ``total`` epochs has taken two seconds.

    If it is not said whether it is ``wanted``, only if standard error is a terminal.
    """

    def __init__(self, total: int, title: str, wanted: bool | None) -> None:
        self.total, self.title = total, title
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self.done = 0
        self._bar: ProgressBar | None = None

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        return self

    def advance(self, epochs: int, loss: float) -> None:
        """Note that epochs were done; the loss is shown beside the bar."""
        self.done += epochs
        advance(self.done / max(self.total, 1))
        if not self.wanted:
            return
        if self._bar is None and time.monotonic() - self._began > PATIENCE_SECONDS:
            self._bar = ProgressBar(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("loss {task.fields[loss]:.3f}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(self.title, total=self.total, loss=loss)
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, loss=loss)

    def finish(self, epochs: int) -> None:
        """Count epochs that were not needed as done."""
        self.done += epochs
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


@dataclass(frozen=True)
class TrainedEnsemble:
    """What an ensemble's training leaves.

    ``state``: The weights of all members, who lie along the first axis; ``history``: Loss and accuracy per epoch, means
    over the members; ``members``: Members that were trained: fewer than asked for only after an interrupt;
    ``interrupted``: Whether the user ended it with Ctrl-C; ``complete``: Whether the members that were trained had all
    their epochs.
    """

    state: dict[str, Tensor]
    history: pd.DataFrame
    members: int
    interrupted: bool
    complete: bool


def train_ensemble(
    batches: Sequence[range],
    make: Callable[[range], tuple[Network, Features]],
    plan: Plan,
    lessons: TrainingTargets,
    settings: Settings,
    *,
    monitor: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
    trained: Callable[[range, Output], None] | None = None,
    title: str = "",
    progress: bool | None = False,
    communicator: Communicator = SINGLE_PROCESS,
    further: Sequence[Callback] = (),
    loss: Loss | None = None,
) -> TrainedEnsemble:
    """Train batch after batch; Ctrl-C keeps the members that are fully trained, or, if none is, those under way.

    It is raised if they have not finished an epoch.

    ``batches``: The members that train together, in order; ``make``: A fresh network and the features of some members;
    ``plan``: For the nodes of the lessons; ``monitor``: Nodes and classes whose accuracy is noted after every epoch;
    nothing depends on it; ``trained``: Called with the members of each batch that is kept and with what its network
    says about all nodes; ``further``: What else happens beside the training of each batch.
    """
    histories: list[History] = []
    states: list[dict[str, Tensor]] = []
    members, interrupted, complete = 0, False, True
    with ProgressDisplay(settings.epochs * len(batches), title, progress) as display:
        for batch in batches:
            network, features = make(batch)
            device = features.device
            task, stopping = lessons.tasks(batch, device)
            watched = None if monitor is None else torch.from_numpy(monitor[0]).to(device)
            history = History(stopping, watched)
            callbacks: list[Callback] = [history, Progress(display.advance), *further]
            if stopping is not None:
                callbacks.append(EarlyStopping(stopping, settings.patience))
            try:
                state = train(
                    network, features, plan, task, settings, callbacks=callbacks, communicator=communicator, loss=loss
                )
            except KeyboardInterrupt:
                if not states:
                    raise
                interrupted = True
                break
            display.finish(settings.epochs - state.epoch)
            interrupted = state.interrupted
            if not interrupted or not states:
                histories.append(history)
                states.append(_weights(network))
                members, complete = members + len(batch), not interrupted
                if trained is not None:
                    trained(batch, evaluate(network, features, plan.everywhere))
            if interrupted:
                break
    joined_weights = {name: torch.cat([state[name] for state in states]) for name in states[0]}
    return TrainedEnsemble(joined_weights, _history(histories, monitor), members, interrupted, complete)


def _weights(network: Network) -> dict[str, Tensor]:
    """A trained network's weights, which must be numbers."""
    network_weights = {name: weight_tensor.cpu() for name, weight_tensor in network.state_dict().items()}
    if not all(bool(weight_tensor.isfinite().all()) for weight_tensor in network_weights.values()):
        raise GrammeError(
            "the training diverged: weights are no longer finite; a smaller learning_rate or scaled features help"
        )
    return network_weights


def _history(histories: list[History], monitor: tuple[NDArray[np.int64], NDArray[np.int64]] | None) -> pd.DataFrame:
    """The batches' histories as one, with the accuracy of the members' mean on the nodes watched."""
    history_table = joined_history(histories)
    if monitor is None:
        return history_table
    kept = [history.watched_probabilities for history in histories]
    accuracies = []
    for epoch in range(len(history_table)):
        probability_sum = sum(
            probabilities[min(epoch, len(probabilities) - 1)] * history.members
            for probabilities, history in zip(kept, histories, strict=True)
            if probabilities
        )
        accuracies.append(float((np.argmax(probability_sum, axis=1) == monitor[1]).mean()))
    history_table["monitor_accuracy"] = accuracies
    return history_table
