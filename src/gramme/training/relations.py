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

from gramme.nn.plan import Output
from gramme.nn.relation_plan import RelationPlan
from gramme.nn.relations import LabelNetwork, RelationNetwork, TableNetwork
from gramme.ops.views import SparseSum, StackedViews
from gramme.training.loop import threads_for

MAX_GRADIENT = 5.0
"""Length beyond which a gradient is cut: a step from a few labels at the start may be far too long."""


@dataclass(frozen=True)
class RelationSettings:
    """How a network over relations is trained.

    ``steps``: The most steps, each on all labels; ``learning_rate``, ``weight_decay``: Of Adam; ``shown``: Share of the
    labels that is shown in a step, the others are predicted; for labels as inputs; ``every``, ``patience``: Held-out
    labels are predicted after so many steps, and training ends when that was not better so many times; ``deadline``:
    When training ends at the latest, on the clock of ``time.perf_counter``.
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
    """Labels to learn from.

    ``nodes``, ``codes`` (labels,): In ascending order of the nodes; ``weights`` (labels,): How much each label counts;
    ``held_out`` (labels,): Labels that tell when to stop and are neither shown nor learned from.
    """

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
        """From arrays, nodes in ascending order."""
        return cls(
            torch.from_numpy(nodes),
            torch.from_numpy(codes),
            torch.from_numpy(weights).to(torch.get_default_dtype()),
            torch.from_numpy(held_out),
        )


@dataclass
class RelationTraining:
    """What a training leaves.

    ``steps``: The steps after which the kept weights were reached; ``history``: Loss and accuracy on the labels asked
    for, by step, and on held-out ones where they were predicted; ``held_out`` (held-out labels, classes): The kept
    network's log probabilities of the labels it never saw.
    """

    steps: int
    history: pd.DataFrame
    held_out: NDArray[np.float64]
    interrupted: bool


Pass = Callable[[Tensor | None], Output]


def train_label_network(
    network: LabelNetwork,
    plan: RelationPlan,
    task: RelationTask,
    settings: RelationSettings,
    advance: Callable[[int, float], None] = lambda steps, loss: None,
) -> RelationTraining:
    """Train a network that starts from labels; the plan is for the task's nodes, held-out ones included.

    Each step hides a random part of the labels and learns from these alone.
    """
    learning = torch.nonzero(~task.held_out)[:, 0]

    def scores(shown: Tensor | None) -> Output:
        some = learning if shown is None else shown
        output: Output = network(plan, task.nodes[some], task.codes[some])
        return output

    def asked() -> tuple[Tensor, Tensor]:
        """Labels to show and labels to predict; at least one of the second."""
        draws = torch.rand(learning.numel(), generator=network.generator)
        hidden = draws >= settings.shown
        hidden[draws.argmax()] = True
        return learning[~hidden], learning[hidden]

    return _train(network, task, settings, asked, scores, advance)


def train_table_network(
    network: TableNetwork,
    views: StackedViews,
    layers: list[int],
    rows: SparseSum | None,
    task: RelationTask,
    settings: RelationSettings,
    advance: Callable[[int, float], None] = lambda steps, loss: None,
) -> RelationTraining:
    """Train a network with learned inputs; the views' listeners are the task's nodes, held-out ones included."""
    learning = torch.nonzero(~task.held_out)[:, 0]

    def scores(shown: Tensor | None) -> Output:
        output: Output = network(views, rows, layers)
        return output

    return _train(network, task, settings, lambda: (learning, learning), scores, advance)


def _train(
    network: RelationNetwork,
    task: RelationTask,
    settings: RelationSettings,
    asked: Callable[[], tuple[Tensor, Tensor]],
    scores: Pass,
    advance: Callable[[int, float], None],
) -> RelationTraining:
    optimiser = torch.optim.Adam(
        network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True
    )
    best = _Best(network, task, scores)
    rows: list[dict[str, float]] = []
    step, interrupted = 0, False
    try:
        with threads_for(task.nodes.numel() * 64):
            while step < settings.steps and best.waited < settings.patience:
                network.train()
                shown, hidden = asked()
                optimiser.zero_grad()
                found = scores(shown).scores.index_select(0, hidden)
                losses = F.cross_entropy(found, task.codes[hidden], reduction="none")
                weights = task.weights[hidden]
                loss = (losses * weights).sum() / weights.sum().clamp(min=1e-12)
                loss.backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(network.parameters(), MAX_GRADIENT)
                optimiser.step()
                step += 1
                right = (found.argmax(1) == task.codes[hidden]).double().mean().item()
                row = {"epoch": float(step), "loss": loss.item(), "accuracy": right}
                late = settings.deadline is not None and time.perf_counter() > settings.deadline
                if step % settings.every == 0 or step == settings.steps or late:
                    row |= best.compared(step)
                rows.append(row)
                advance(1, row["loss"])
                if late:
                    break
    except KeyboardInterrupt:
        if not rows:
            raise
        interrupted = True
        if not best.steps:
            best.compared(step)
    best.restore()
    history = pd.DataFrame(rows).astype({"epoch": int})
    return RelationTraining(best.steps, history, best.log_probabilities, interrupted)


class _Best:
    """The weights that predicted held-out labels best so far; without such labels the last ones."""

    def __init__(self, network: RelationNetwork, task: RelationTask, scores: Pass) -> None:
        self.network, self.task, self.scores = network, task, scores
        self.steps, self.waited, self.loss = 0, 0, np.inf
        self.weights: dict[str, Tensor] = {}
        self.log_probabilities = np.zeros((0, 0))

    @torch.no_grad()
    def compared(self, step: int) -> dict[str, float]:
        """Predict held-out labels, and keep the weights if that was never better."""
        self.network.eval()
        aside = self.task.held_out
        if not bool(aside.any()):
            self.steps = step
            return {}
        logs = self.scores(None).scores[aside].double().log_softmax(1)
        codes = self.task.codes[aside]
        loss = F.nll_loss(logs, codes).item()
        if loss < self.loss:
            self.loss, self.steps, self.waited = loss, step, 0
            self.weights = {name: one.clone() for name, one in self.network.state_dict().items()}
            self.log_probabilities = logs.numpy()
        else:
            self.waited += 1
        right = (logs.argmax(1) == codes).double().mean().item()
        return {"validation_loss": loss, "validation_accuracy": right}

    def restore(self) -> None:
        """Give the network the weights that were kept."""
        if self.weights:
            self.network.load_state_dict(self.weights)
        self.network.eval()
