"""Training networks over relations: labels that are hidden and asked for, and steps until held-out labels are learned.

How long to train follows from the task: every few steps labels that were set aside are predicted, training ends when
that gets no better, and the weights that predicted them best are kept. A label that is predicted is never shown in the
same step, so that no node's own label reaches its loss.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from gramme.nn.relations import LabelNetwork, RelationNetwork, RelationPlan, SparseSum, StackedViews, TableNetwork

from .loop import Adam, threads_for


@dataclass(frozen=True)
class RelationSettings:
    """How a network over relations is trained.

    At most ``steps`` steps of Adam, each on all labels; of labels as inputs the share ``shown`` is shown in a step, and
    the others are predicted. Held-out labels are predicted ``every`` so many steps; training ends when that was not
    better ``patience`` times, or at the ``deadline``, on the clock of ``time.perf_counter``.
    """

    steps: int
    learning_rate: float
    weight_decay: float
    shown: float = 0.7
    every: int = 10
    patience: int = 3
    deadline: float | None = None


@dataclass(frozen=True)
class RelationTask:
    """Labels to learn from, in ascending order of the nodes; held-out ones are neither shown nor learned from."""

    nodes: Tensor
    codes: Tensor
    weights: Tensor
    held_out: Tensor

    @classmethod
    def of(
        cls,
        nodes: NDArray[np.int64],
        codes: NDArray[np.int64],
        weights: NDArray[np.float64],
        held_out: NDArray[np.bool_],
    ) -> RelationTask:
        """From arrays."""
        found = [torch.from_numpy(one) for one in (nodes, codes, weights, held_out)]
        return cls(found[0], found[1], found[2].to(torch.get_default_dtype()), found[3])


@dataclass
class RelationTraining:
    """What a training leaves.

    ``steps`` after which the kept weights were reached; a ``history`` of loss and accuracy on the labels asked for by
    step, and on held-out ones where they were predicted; and the kept network's log probabilities of the ``held_out``
    labels, (held-out labels, classes), which it never saw.
    """

    steps: int
    history: pd.DataFrame
    held_out: NDArray[np.float64]
    interrupted: bool


Advance = Callable[[int, float], None]


def train_label_network(
    network: LabelNetwork,
    plan: RelationPlan,
    task: RelationTask,
    settings: RelationSettings,
    advance: Advance = lambda steps, loss: None,
) -> RelationTraining:
    """Train a network that starts from labels; the plan is for the task's nodes, held-out ones included.

    Each step hides a random part of the labels and learns from these alone.
    """
    learning = torch.nonzero(~task.held_out)[:, 0]

    def scores(shown: Tensor | None) -> Tensor:
        some = learning if shown is None else shown
        found: Tensor = network(plan, task.nodes[some], task.codes[some]).scores
        return found

    def asked() -> tuple[Tensor, Tensor]:
        draws = torch.rand(learning.numel(), generator=network.generator)
        hidden = draws >= settings.shown
        hidden[draws.argmax()] = True  # at least one is predicted
        return learning[~hidden], learning[hidden]

    return _train(network, task, settings, asked, scores, advance)


def train_table_network(
    network: TableNetwork,
    views: StackedViews,
    layers: list[int],
    rows: SparseSum | None,
    task: RelationTask,
    settings: RelationSettings,
    advance: Advance = lambda steps, loss: None,
) -> RelationTraining:
    """Train a network with learned inputs; the views' listeners are the task's nodes, held-out ones included."""
    learning = torch.nonzero(~task.held_out)[:, 0]

    def scores(shown: Tensor | None) -> Tensor:
        found: Tensor = network(views, rows, layers).scores
        return found

    return _train(network, task, settings, lambda: (learning, learning), scores, advance)


def _train(
    network: RelationNetwork,
    task: RelationTask,
    settings: RelationSettings,
    asked: Callable[[], tuple[Tensor, Tensor]],
    scores: Callable[[Tensor | None], Tensor],
    advance: Advance,
) -> RelationTraining:
    """Train on what ``asked`` gives, labels to show and labels to predict, and keep the weights that were best."""
    optimiser = Adam(network.parameters(), settings.learning_rate, settings.weight_decay)
    aside = task.held_out
    done = RelationTraining(0, pd.DataFrame(), np.zeros((0, 0)), False)
    best: dict[str, Tensor] = {}
    rows: list[dict[str, float]] = []
    lowest, waited, step = np.inf, 0, 0

    @torch.no_grad()
    def compared() -> dict[str, float]:
        """Predict held-out labels, and keep the weights if that was never better; without such labels the last ones."""
        nonlocal best, lowest, waited
        network.eval()
        if not bool(aside.any()):
            done.steps = step
            return {}
        logs = scores(None)[aside].double().log_softmax(1)
        loss = F.nll_loss(logs, task.codes[aside]).item()
        waited += 1
        if loss < lowest:
            lowest, waited, done.steps = loss, 0, step
            best = {name: one.clone() for name, one in network.state_dict().items()}
            done.held_out = logs.numpy()
        right = (logs.argmax(1) == task.codes[aside]).double().mean().item()
        return {"validation_loss": loss, "validation_accuracy": right}

    try:
        with threads_for(task.nodes.numel() * 64):
            while step < settings.steps and waited < settings.patience:
                network.train()
                shown, hidden = asked()
                optimiser.zero_grad()
                found = scores(shown).index_select(0, hidden)
                codes, weights = task.codes[hidden], task.weights[hidden]
                losses = F.cross_entropy(found, codes, reduction="none")
                loss = (losses * weights).sum() / weights.sum().clamp(min=1e-12)
                loss.backward()  # type: ignore[no-untyped-call]
                # a step from a few labels at the start may be far too long
                torch.nn.utils.clip_grad_norm_(network.parameters(), 5.0)
                optimiser.step()
                step += 1
                right = (found.argmax(1) == codes).double().mean().item()
                row = {"epoch": float(step), "loss": loss.item(), "accuracy": right}
                late = settings.deadline is not None and time.perf_counter() > settings.deadline
                if step % settings.every == 0 or step == settings.steps or late:
                    row |= compared()
                rows.append(row)
                advance(1, row["loss"])
                if late:
                    break
    except KeyboardInterrupt:
        if not rows:
            raise
        done.interrupted = True
        if not done.steps:
            compared()
    if best:
        network.load_state_dict(best)
    network.eval()
    done.history = pd.DataFrame(rows).astype({"epoch": int})
    return done
