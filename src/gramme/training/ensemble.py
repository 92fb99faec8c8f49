"""Training an ensemble of networks, batch after batch of its members.

It knows no estimator: the caller says how a batch is made, on which plan, from which labels and with which settings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from gramme.distributed.world import ALONE, World
from gramme.errors import GrammeError
from gramme.nn import Network, Output, Plan
from gramme.ops import Features
from gramme.training.callbacks import EarlyStopping, History, Progress, joined_history
from gramme.training.lessons import Lessons
from gramme.training.loop import Callback, evaluate, train
from gramme.training.progress import ProgressDisplay


@dataclass(frozen=True)
class Settings:
    """Of Adam on the full batch, and of early stopping."""

    epochs: int
    learning_rate: float
    weight_decay: float
    patience: int


@dataclass(frozen=True)
class TrainedEnsemble:
    """What an ensemble's training leaves.

    Attributes
    ----------
    state : dict of str to tensor
        The weights of all members, who lie along the first axis.
    history : DataFrame
        Loss and accuracy per epoch, means over the members.
    members : int
        Members that were trained: fewer than asked for only after an interrupt.
    interrupted : bool
        Whether the user ended it with Ctrl-C.
    complete : bool
        Whether the members that were trained had all their epochs.
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
    lessons: Lessons,
    settings: Settings,
    *,
    monitor: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
    trained: Callable[[range, Output], None] | None = None,
    title: str = "",
    progress: bool | None = False,
    world: World = ALONE,
) -> TrainedEnsemble:
    """Train batch after batch; Ctrl-C keeps the members that are fully trained, or, if none is, those under way.

    It is raised if they have not finished an epoch.

    Parameters
    ----------
    batches : sequence of range
        The members that train together, in order.
    make : callable
        A fresh network and the features of some members.
    plan : Plan
        For the nodes of the lessons, on the device that the networks are on.
    lessons : Lessons
    settings : Settings
    monitor : pair of arrays of int, optional
        Nodes and classes whose accuracy is noted after every epoch; nothing depends on it.
    trained : callable, optional
        Called with the members of each batch that is kept and with what its network says about all nodes.
    title : str, default=""
        Stands beside the progress bar.
    progress : bool, default=False
        Show it or not; where None, only if standard error is a terminal.
    world : World, optional
        The processes that train together, each on its part of the graph.
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
            callbacks: list[Callback] = [history, Progress(display.advance)]
            if stopping is not None:
                callbacks.append(EarlyStopping(stopping, settings.patience))
            try:
                state = train(
                    network,
                    features,
                    plan,
                    task,
                    epochs=settings.epochs,
                    learning_rate=settings.learning_rate,
                    weight_decay=settings.weight_decay,
                    callbacks=callbacks,
                    world=world,
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
    joined = {name: torch.cat([state[name] for state in states]) for name in states[0]}
    return TrainedEnsemble(joined, _history(histories, monitor), members, interrupted, complete)


def _weights(network: Network) -> dict[str, Tensor]:
    """A trained network's weights, which must be numbers."""
    weights = {name: value.cpu() for name, value in network.state_dict().items()}
    if not all(bool(value.isfinite().all()) for value in weights.values()):
        raise GrammeError(
            "the training diverged: weights are no longer finite; a smaller learning_rate or scaled features help"
        )
    return weights


def _history(
    histories: list[History], monitor: tuple[NDArray[np.int64], NDArray[np.int64]] | None
) -> pd.DataFrame:
    """The batches' histories as one, with the accuracy of the members' mean on the nodes watched."""
    table = joined_history(histories)
    if monitor is None:
        return table
    kept = [history.watched_probabilities for history in histories]
    accuracies = []
    for epoch in range(len(table)):
        total = sum(
            probabilities[min(epoch, len(probabilities) - 1)] * history.members
            for probabilities, history in zip(kept, histories, strict=True)
            if probabilities
        )
        accuracies.append(float((np.argmax(total, axis=1) == monitor[1]).mean()))
    table["monitor_accuracy"] = accuracies
    return table
