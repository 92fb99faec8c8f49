"""The training loop: full-batch Adam on an ensemble of networks, with everything optional in callbacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from gramme.nn import Network, Output, Plan
from gramme.training.task import Task
from gramme.training.threads import threads_for


@dataclass
class State:
    """What callbacks see of a training under way.

    Attributes
    ----------
    network : Network
    epoch : int
        The epoch just finished, counted from 1.
    losses, accuracies : tensor, shape (members,)
        On the training labels, before the step of this epoch.
    stop : bool
        A callback sets this to end the training after this epoch.
    interrupted : bool
        Whether the user ended it with Ctrl-C.
    """

    network: Network
    features: Tensor
    plan: Plan
    epoch: int = 0
    losses: Tensor = field(default_factory=lambda: torch.zeros(0))
    accuracies: Tensor = field(default_factory=lambda: torch.zeros(0))
    stop: bool = False
    interrupted: bool = False
    _output: Output | None = None

    def predict(self) -> Output:
        """The network's output as it is now, without dropout; computed once per epoch however many ask."""
        if self._output is None:
            self._output = evaluate(self.network, self.features, self.plan.everywhere)
        return self._output

    def changed(self) -> None:
        """Note that the network's weights are others than at the last :meth:`predict`."""
        self._output = None


class Callback:
    """Something that happens beside the training."""

    def start(self, state: State) -> None:
        """Called before the first epoch."""

    def after_epoch(self, state: State) -> None:
        """Called after each epoch."""

    def end(self, state: State) -> None:
        """Called once the training has ended, also when it was interrupted."""


def train(
    network: Network,
    features: Tensor,
    plan: Plan,
    task: Task,
    *,
    epochs: int,
    learning_rate: float,
    weight_decay: float,
    callbacks: Sequence[Callback] = (),
    fused: bool = True,
) -> State:
    """Train all members together; Ctrl-C ends it early with the network as it is.

    The plan is one for the task's nodes: only their scores are computed in a step. The members' losses are added. Adam
    works parameter by parameter, so each member learns exactly as it would alone. ``fused`` takes its steps in one
    kernel, which is faster and differs in the last bits.
    """
    optimiser = torch.optim.Adam(
        network.parameters(), lr=learning_rate, weight_decay=weight_decay, fused=fused
    )
    state = State(network, features, plan)
    for callback in callbacks:
        callback.start(state)
    try:
        for epoch in range(1, epochs + 1):
            _step(state, task, optimiser)
            state.epoch = epoch
            for callback in callbacks:
                callback.after_epoch(state)
            if state.stop:
                break
    except KeyboardInterrupt:
        state.interrupted = True
    for callback in callbacks:
        callback.end(state)
    return state


def _step(state: State, task: Task, optimiser: torch.optim.Optimizer) -> None:
    state.network.train()
    optimiser.zero_grad(set_to_none=True)
    with threads_for(state.network.largest(state.plan)):
        scores = state.network(state.features, state.plan).scores
        losses = task.losses(scores)
        losses.sum().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    state.changed()
    state.losses = losses.detach()
    state.accuracies = task.accuracies(scores.detach())


@torch.no_grad()
def evaluate(network: Network, features: Tensor, plan: Plan) -> Output:
    """The network's output without dropout and without gradients."""
    network.eval()
    with threads_for(network.largest(plan)):
        output: Output = network(features, plan)
    return output
