"""The training loop: full-batch Adam on an ensemble of networks, with everything optional in callbacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from gramme.nn import Network, Output, Structure
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
    structure: Structure
    epoch: int = 0
    losses: Tensor = field(default_factory=lambda: torch.zeros(0))
    accuracies: Tensor = field(default_factory=lambda: torch.zeros(0))
    stop: bool = False
    interrupted: bool = False
    _output: Output | None = None

    def predict(self) -> Output:
        """The network's output as it is now, without dropout; computed once per epoch however many ask."""
        if self._output is None:
            self._output = evaluate(self.network, self.features, self.structure)
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
    structure: Structure,
    task: Task,
    *,
    epochs: int,
    learning_rate: float,
    weight_decay: float,
    callbacks: Sequence[Callback] = (),
) -> State:
    """Train all members together; Ctrl-C ends it early with the network as it is.

    The members' losses are added. Adam works parameter by parameter, so each member learns exactly as it would alone.
    """
    optimiser = torch.optim.Adam(
        network.parameters(), lr=learning_rate, weight_decay=weight_decay, fused=True
    )
    state = State(network, features, structure)
    # the last hop is computed for the labelled nodes alone, where that saves anything
    asked = structure.asking(task.nodes)
    if asked is not structure:
        task = task.in_order()
    for callback in callbacks:
        callback.start(state)
    try:
        for epoch in range(1, epochs + 1):
            _step(state, asked, task, optimiser)
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


def _step(state: State, structure: Structure, task: Task, optimiser: torch.optim.Optimizer) -> None:
    state.network.train()
    optimiser.zero_grad(set_to_none=True)
    with threads_for(_activation_size(state.network, structure)):
        scores = state.network(state.features, structure).scores
        losses = task.losses(scores)
        losses.sum().backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    state.changed()
    state.losses = losses.detach()
    state.accuracies = task.accuracies(scores.detach())


@torch.no_grad()
def evaluate(network: Network, features: Tensor, structure: Structure) -> Output:
    """The network's output without dropout and without gradients."""
    network.eval()
    with threads_for(_activation_size(network, structure)):
        output: Output = network(features, structure)
    return output


def _activation_size(network: Network, structure: Structure) -> int:
    """Numbers in the largest tensors of a pass."""
    shape = network.shape
    rows = max((one.rows for one in structure.sums), default=0)
    return rows * network.random.members * max(shape.heads, default=1) * shape.hidden_dim
