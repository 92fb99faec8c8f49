"""One fit of an ensemble: what each member learns from, batch after batch, and what comes out of it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight
from torch import Tensor

from gramme.errors import DataError, GrammeError, GrammeWarning
from gramme.methods.labels import KnownLabels, coded_labels
from gramme.nn import Network, Plan
from gramme.training import (
    Callback,
    EarlyStopping,
    History,
    Progress,
    ProgressDisplay,
    State,
    Task,
    joined_history,
    train,
)

if TYPE_CHECKING:
    from gramme.methods.attention.estimator import AttentionModel


class EnsembleFit:
    """Trains all members of a model and gathers their weights and history.

    Parameters
    ----------
    model, known, validation, monitor
        As in :meth:`AttentionModel.fit`.
    seen : array of bool, shape (labelled, members), optional
        Which labels each member learns from; the number of its columns stands in for ``model.ensemble``. All of them
        where not given.

    Attributes
    ----------
    state : dict of str to tensor
        The weights of all members, who lie along the first axis.
    history : DataFrame
    members : int
        Members that were trained: fewer than asked for only after an interrupt.
    interrupted : bool
        Whether the user ended it with Ctrl-C.
    """

    def __init__(
        self,
        model: AttentionModel,
        known: KnownLabels,
        validation: Any = None,
        monitor: Any = None,
        seen: NDArray[np.bool_] | None = None,
    ) -> None:
        self.model, self.known = model, known
        self.seen = (
            np.ones((known.nodes.size, model.ensemble), dtype=bool) if seen is None else seen
        )
        self.wanted = self.seen.shape[1]
        graph, classes = model.graph_, known.classes
        self.validation = (
            None
            if validation is None
            else coded_labels(graph, validation, classes, "validation", strict=True)
        )
        self.monitor = (
            None
            if monitor is None
            else coded_labels(graph, monitor, classes, "monitor", strict=False)
        )
        self.node_weights = self._node_weights()
        self.held_out = self._held_out()
        self.histories: list[History] = []
        self.states: list[dict[str, Tensor]] = []
        self.members = 0
        self.interrupted = False

    def _node_weights(self) -> NDArray[np.float64]:
        wanted, classes = self.model.class_weight, self.known.classes
        if wanted is None:
            return np.ones(self.known.nodes.size)
        if isinstance(wanted, str):
            numbers = np.arange(len(classes))
            weights = compute_class_weight(wanted, classes=numbers, y=self.known.codes)
        else:
            listed = classes.tolist()
            for label in wanted:
                if label not in listed:
                    raise DataError(
                        f"class_weight names {label!r}, which is no class; classes: {listed}"
                    )
            weights = np.array([wanted.get(label, 1.0) for label in listed])
        chosen: NDArray[np.float64] = weights[self.known.codes]
        return chosen

    def _held_out(self) -> NDArray[np.bool_] | None:
        """Which training labels each member sets aside to know when to stop, (labelled, members).

        At least one label of each class stays in training.
        """
        model = self.model
        if model.validation_fraction == 0 or self.validation is not None:
            return None
        aside = np.zeros_like(self.seen)
        for member in range(self.wanted):
            random = np.random.default_rng([model.seed_, member, 1])
            for code in range(len(self.known.classes)):
                mine = np.flatnonzero((self.known.codes == code) & self.seen[:, member])
                count = min(round(model.validation_fraction * mine.size), max(mine.size - 1, 0))
                aside[random.permutation(mine)[:count], member] = True
        if aside.any():
            return aside
        warnings.warn(
            f"validation_fraction={model.validation_fraction} of {self.known.nodes.size} labels in "
            f"{len(self.known.classes)} classes sets none aside, so all {model.epochs} epochs are trained",
            GrammeWarning,
            stacklevel=6,
        )
        return None

    def run(self) -> None:
        """Train batch after batch; Ctrl-C keeps the members that are fully trained, or, if none is, those under way."""
        model = self.model
        plan = model._plan(model.graph_, self.known.nodes).to(model._device())
        batches = list(model._batches(model.graph_.num_nodes, self.wanted))
        total = model.epochs * len(batches)
        with ProgressDisplay(total, type(model).__name__, model.progress) as display:
            for members in batches:
                network, history, state = self._train(members, plan, display)
                if not state.interrupted or not self.states:
                    self.histories.append(history)
                    self.states.append(_weights(network))
                    self.members += len(members)
                if state.interrupted:
                    self.interrupted = True
                    self._warn_of_interrupt(
                        state, complete=len(self.states) > 1 or members.start > 0
                    )
                    break
        self.state = {
            name: torch.cat([state[name] for state in self.states]) for name in self.states[0]
        }
        self.history = self._history()

    def _warn_of_interrupt(self, state: State, *, complete: bool) -> None:
        how = "fully trained" if complete else f"after {state.epoch} of {self.model.epochs} epochs"
        warnings.warn(
            f"interrupted: the model has {self.members} of {self.wanted} members, {how}",
            GrammeWarning,
            stacklevel=6,
        )

    def _tasks(self, members: range) -> tuple[Task, Task | None]:
        """What the members learn from, and what tells when to stop."""
        device = self.model._device()
        nodes, codes = self.known.nodes, self.known.codes
        weights = self.node_weights[:, None] * self.seen[:, members.start : members.stop]
        if self.held_out is not None:
            aside = self.held_out[:, members.start : members.stop]
            held_out = Task.of(nodes, codes, weights * aside, device)
            return Task.of(nodes, codes, weights * ~aside, device), held_out
        training = Task.of(nodes, codes, weights, device)
        if self.validation is None:
            return training, None
        even = np.ones((self.validation[0].size, len(members)))
        return training, Task.of(*self.validation, even, device)

    def _train(
        self, members: range, plan: Plan, display: ProgressDisplay
    ) -> tuple[Network, History, State]:
        """Train one batch of members."""
        model = self.model
        task, validation = self._tasks(members)
        watched = None if self.monitor is None else torch.from_numpy(self.monitor[0])
        history = History(validation, None if watched is None else watched.to(model._device()))
        callbacks: list[Callback] = [history, Progress(display.advance)]
        if validation is not None:
            callbacks.append(EarlyStopping(validation, model.patience))
        network = model._new_network(members)
        state = train(
            network,
            model._inputs(model.graph_, members),
            plan,
            task,
            epochs=model.epochs,
            learning_rate=model.learning_rate,
            weight_decay=model.weight_decay,
            callbacks=callbacks,
        )
        display.finish(model.epochs - state.epoch)
        return network, history, state

    def _history(self) -> pd.DataFrame:
        table = joined_history(self.histories)
        if self.monitor is not None:
            kept = [history.watched_probabilities for history in self.histories]
            accuracies = []
            for epoch in range(len(table)):
                total = sum(
                    probabilities[min(epoch, len(probabilities) - 1)] * history.members
                    for probabilities, history in zip(kept, self.histories, strict=True)
                    if probabilities
                )
                accuracies.append(float((np.argmax(total, axis=1) == self.monitor[1]).mean()))
            table["monitor_accuracy"] = accuracies
        return table


def _weights(network: Network) -> dict[str, Tensor]:
    """A trained network's weights, which must be numbers."""
    weights = {name: value.cpu() for name, value in network.state_dict().items()}
    if not all(bool(value.isfinite().all()) for value in weights.values()):
        raise GrammeError(
            "the training diverged: weights are no longer finite; a smaller learning_rate or scaled features help"
        )
    return weights
