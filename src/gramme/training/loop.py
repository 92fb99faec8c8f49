"""The training loop: full-batch Adam on an ensemble of networks, with everything optional in callbacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from gramme.distributed.gradients import add_up_gradients
from gramme.distributed.world import ALONE, World
from gramme.nn import Network, Output, Plan
from gramme.ops import Features
from gramme.training.adam import Adam
from gramme.training.checkpoint import current_keeper
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
    world : World
        The processes that train together, each on its part of the graph.
    """

    network: Network
    features: Features
    plan: Plan
    epoch: int = 0
    losses: Tensor = field(default_factory=lambda: torch.zeros(0))
    accuracies: Tensor = field(default_factory=lambda: torch.zeros(0))
    stop: bool = False
    interrupted: bool = False
    world: World = ALONE
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

    def kept_state(self) -> tuple[dict[str, Tensor], Any]:
        """What a checkpoint has to hold of it: tensors, and what JSON can hold."""
        return {}, None

    def restore(self, tensors: dict[str, Tensor], record: Any) -> None:
        """Go on from what :meth:`kept_state` gave; called after :meth:`start`."""


def train(
    network: Network,
    features: Features,
    plan: Plan,
    task: Task,
    *,
    epochs: int,
    learning_rate: float,
    weight_decay: float,
    callbacks: Sequence[Callback] = (),
    fused: bool = True,
    world: World = ALONE,
) -> State:
    """Train all members together; Ctrl-C ends it early with the network as it is, if it has finished an epoch.

    The plan is one for the task's nodes: only their scores are computed in a step. The members' losses are added. Adam
    works parameter by parameter, so each member learns exactly as it would alone. ``fused`` takes its steps in one
    kernel, which is faster and differs in the last bits. Of several processes each has the losses of its own nodes; all
    have the same parameters, and gradients are added up.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C comes before the first epoch is over: there is no result yet.
    """
    optimiser: Adam | torch.optim.Adam = (
        Adam(network.parameters(), learning_rate, weight_decay)
        if fused
        else torch.optim.Adam(
            network.parameters(), lr=learning_rate, weight_decay=weight_decay, fused=False
        )
    )
    state = State(network, features, plan, world=world)
    for callback in callbacks:
        callback.start(state)
    keeper = current_keeper()
    kept = None
    if keeper is not None and isinstance(optimiser, Adam):
        kept = keeper.next_training(network, epochs, (learning_rate, weight_decay))
        state.stop = kept.restore(state, optimiser, callbacks)
    finished = state.epoch
    try:
        while state.epoch < epochs and not state.stop:
            _step(state, task, optimiser)
            state.epoch += 1
            for callback in callbacks:
                callback.after_epoch(state)
            finished = state.epoch
            if kept is not None and isinstance(optimiser, Adam):
                ended = state.epoch == epochs or bool(state.stop)
                kept.keep(state, optimiser, callbacks, ended=ended)
    except KeyboardInterrupt:
        if not finished:
            raise
        state.interrupted = True
    for callback in callbacks:
        callback.end(state)
    return state


def _step(state: State, task: Task, optimiser: Adam | torch.optim.Adam) -> None:
    state.network.train()
    optimiser.zero_grad()
    with threads_for(state.network.largest(state.plan)):
        scores = state.network(state.features, state.plan).scores
        losses = task.losses(scores)
        losses.sum().backward()  # type: ignore[no-untyped-call]
        add_up_gradients(state.network, state.world)
        optimiser.step()
    state.changed()
    state.losses = state.world.total_(losses.detach())
    state.accuracies = state.world.total_(task.accuracies(scores.detach()))


@torch.no_grad()
def evaluate(network: Network, features: Features, plan: Plan) -> Output:
    """The network's output without dropout and without gradients."""
    network.eval()
    with threads_for(network.largest(plan)):
        output: Output = network(features, plan)
    return output
