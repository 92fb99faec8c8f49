"""The training loop: full-batch Adam on an ensemble of networks, with everything optional in callbacks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from gramme.nn import Network, Output, Plan
from gramme.ops import Features
from gramme.ops.communicator import SINGLE_PROCESS, Communicator, add_up_gradients

from .checkpoint import current_keeper

LOGGER = logging.getLogger("gramme.training")
"""Says how every training went (INFO), and how it goes after each epoch (DEBUG)."""

# How many threads a training may use: small tensors are faster on one.
MIN_SHARED_NUMBERS = 1 << 21
"""Numbers in an activation from which several threads pay off."""


@contextmanager
def threads_for(numbers: int) -> Iterator[None]:
    """Run the body on one thread where its tensors hold fewer than :data:`MIN_SHARED_NUMBERS` numbers.

    >>> before = torch.get_num_threads()
    >>> with threads_for(1000):
    ...     torch.get_num_threads()
    1
    >>> torch.get_num_threads() == before
    True
    """
    threads_before = torch.get_num_threads()
    if numbers >= MIN_SHARED_NUMBERS or threads_before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads_before)


# Adam, the optimiser of all trainings.
class Adam:
    """Adam with an L2 penalty on the weights (not decoupled), as in ``torch.optim.Adam``.

    Works number by number, so that each member of an ensemble learns exactly as it would alone.

    References
    ----------
    D. P. Kingma, J. Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], learning_rate: float, weight_decay: float) -> None:
        self.parameters = list(parameters)
        self.learning_rate, self.weight_decay = learning_rate, weight_decay
        self.means = [torch.zeros_like(own_parameter) for own_parameter in self.parameters]
        self.squares = [torch.zeros_like(own_parameter) for own_parameter in self.parameters]
        # counted for each parameter: one that has had no gradient yet has not begun
        self.steps = [torch.zeros((), device=own_parameter.device) for own_parameter in self.parameters]

    def state(self) -> dict[str, Tensor]:
        """What it has to remember between two steps."""
        state_parts = {"means": self.means, "squares": self.squares, "steps": self.steps}
        return {
            f"{name}.{place}": state_tensor
            for name, part_tensors in state_parts.items()
            for place, state_tensor in enumerate(part_tensors)
        }

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for own_parameter in self.parameters:
            own_parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Move the parameters that have a gradient."""
        moved = [place for place, own_parameter in enumerate(self.parameters) if own_parameter.grad is not None]
        if not moved:
            return
        grads: list[Tensor] = [
            own_parameter.grad for own_parameter in self.parameters if own_parameter.grad is not None
        ]
        steps = [self.steps[place] for place in moved]
        torch._foreach_add_(steps, 1)
        torch._fused_adam_(
            [self.parameters[place] for place in moved],
            grads,
            [self.means[place] for place in moved],
            [self.squares[place] for place in moved],
            [],
            steps,
            lr=self.learning_rate,
            beta1=0.9,
            beta2=0.999,
            weight_decay=self.weight_decay,
            eps=1e-8,
            amsgrad=False,
            maximize=False,
        )


# What a network is trained on: which nodes carry which class, and how much each counts for each member.
@dataclass(frozen=True)
class Task:
    """Labelled nodes and their weight in the loss of each member.

    Attributes
    ----------
    nodes : tensor of int, shape (labelled,)
        Positions of the labelled nodes.
    classes : tensor of int, shape (labelled,)
        Their classes.
    weights : tensor, shape (labelled, members)
        How much a node counts in a member's loss; a member's weights add up to 1. Members may learn from different
        nodes: a weight of 0 hides a label from a member.
    """

    nodes: Tensor
    classes: Tensor
    weights: Tensor

    @classmethod
    def of(
        cls, nodes: NDArray[np.int64], classes: NDArray[Any], weights: NDArray[np.float64], device: torch.device
    ) -> Self:
        """A task from arrays; ``weights`` of shape (labelled, members) are scaled to sum to 1 per member."""
        weight_totals = weights.sum(0, keepdims=True)
        scaled = np.divide(weights, weight_totals, out=np.zeros_like(weights), where=weight_totals > 0)
        return cls(
            torch.from_numpy(nodes).to(device),
            torch.from_numpy(classes).to(device),
            torch.from_numpy(scaled).to(device, torch.get_default_dtype()),
        )

    def at(self, which: Tensor, nodes: Tensor) -> Task:
        """Some of the labels, with the positions their nodes have in a part of the graph; weights stay as they are."""
        return Task(nodes, self.classes[which], self.weights[which])

    def among(self, scores: Tensor) -> Tensor:
        """The scores of the labelled nodes, from those of all nodes."""
        return scores.index_select(0, self.nodes)

    def losses(self, scores: Tensor) -> Tensor:
        """The weighted cross entropy of each member, (members,), from scores (labelled, members, classes)."""
        labels, members, classes = scores.shape
        targets = self.classes[:, None].expand(labels, members).reshape(-1)
        loss = F.cross_entropy(scores.reshape(-1, classes), targets, reduction="none")
        return (loss.view(labels, members) * self.weights).sum(0)

    def accuracies(self, scores: Tensor) -> Tensor:
        """The share of each member's labelled nodes that it gets right, (members,); scores as in :meth:`losses`."""
        right = scores.argmax(-1) == self.classes[:, None]
        return (right * self.weights).sum(0)


Loss = Callable[[Tensor, Task], Tensor]
"""A loss of one's own: from the scores of the labelled nodes, (labelled, members, classes), and the task, which holds
their classes and weights, to the loss of each member, (members,)."""


class NumberTask(Task):
    """Labelled nodes with numbers in the place of classes, for each member its own: shape (labelled, members).

    The loss is the squared error of the network's one output.
    """

    @classmethod
    def of(
        cls, nodes: NDArray[np.int64], classes: NDArray[Any], weights: NDArray[np.float64], device: torch.device
    ) -> Self:
        """As for classes; ``classes`` are the numbers."""
        return super().of(nodes, classes.astype(torch.empty(0).numpy().dtype), weights, device)

    def losses(self, scores: Tensor) -> Tensor:
        """The weighted squared error of each member, (members,), from outputs (labelled, members, 1)."""
        missed = scores[..., 0] - self.classes
        return (missed.square() * self.weights).sum(0)

    def accuracies(self, scores: Tensor) -> Tensor:
        """R2 of each member, (members,): 1 where every number is met, 0 for saying the mean."""
        mean = (self.weights * self.classes).sum(0)
        spread = (self.weights * (self.classes - mean).square()).sum(0)
        return 1 - self.losses(scores) / spread.clamp(min=torch.finfo(spread.dtype).tiny)


@dataclass(frozen=True)
class ChangingTask(Task):
    """Labels of which other ones are learned in every step: those at the positions that ``asked`` gives."""

    asked: Callable[[], Tensor]

    def losses(self, scores: Tensor) -> Tensor:
        asked_task = self._asked()
        return asked_task.losses(asked_task.among(scores))

    def accuracies(self, scores: Tensor) -> Tensor:
        asked_task = self._asked()
        return asked_task.accuracies(asked_task.among(scores))

    def _asked(self) -> Task:
        chosen_labels = self.asked()
        label_weights = self.weights[chosen_labels]
        return Task(
            self.nodes[chosen_labels],
            self.classes[chosen_labels],
            label_weights / label_weights.sum(0).clamp(min=1e-12),
        )


@dataclass
class State:
    """What callbacks see of a training under way.

    Attributes
    ----------
    network : Network
    epochs : int
        How many are trained at most.
    epoch : int
        The epoch just finished, counted from 1.
    losses, accuracies : tensor, shape (members,)
        On the training labels, before the step of this epoch.
    stop : bool
        A callback sets this to end the training after this epoch.
    interrupted : bool
        Whether the user ended it with Ctrl-C.
    communicator : Communicator
        The processes that train together, each on its part of the graph.
    """

    network: Network
    features: Features
    plan: Plan
    epochs: int = 0
    epoch: int = 0
    losses: Tensor = field(default_factory=lambda: torch.zeros(0))
    accuracies: Tensor = field(default_factory=lambda: torch.zeros(0))
    stop: bool = False
    interrupted: bool = False
    communicator: Communicator = SINGLE_PROCESS
    _output: Output | None = None

    @property
    def ends(self) -> bool:
        """Whether the epoch just finished is the last one."""
        return self.stop or self.epoch == self.epochs

    def predict(self) -> Output:
        """The network's output as it is now, without dropout; computed once per epoch however many ask."""
        if self._output is None:
            self._output = evaluate(self.network, self.features, self.plan.everywhere)
        return self._output

    def changed(self) -> None:
        """Note that the network's weights are others than at the last :meth:`predict`."""
        self._output = None


@dataclass(frozen=True)
class Settings:
    """Of Adam on the full batch, and of early stopping."""

    epochs: int
    learning_rate: float
    weight_decay: float
    patience: int = 0


class Callback:
    """Something that happens beside the training; a subclass has only the methods that it needs.

    Members of an ensemble that do not fit together are trained one batch after the other: then :meth:`start` and
    :meth:`end` are called once for each batch. What ``State`` holds may be read, and ``State.stop`` set.

    Examples
    --------
    >>> class Losses(Callback):
    ...     def start(self, state):
    ...         self.seen = []
    ...
    ...     def after_epoch(self, state):
    ...         self.seen.append(float(state.losses.mean()))
    >>> from gramme import GrammeFusion, datasets
    >>> losses = Losses()
    >>> graph = datasets.load("synthetic", nodes=30, random_state=0)
    >>> model = GrammeFusion(epochs=3, random_state=0).fit(graph, callbacks=[losses])
    >>> len(losses.seen)
    3
    """

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
    settings: Settings,
    *,
    callbacks: Sequence[Callback] = (),
    communicator: Communicator = SINGLE_PROCESS,
    loss: Loss | None = None,
    largest_gradient: float | None = None,
) -> State:
    """Train all members together; Ctrl-C ends it early with the network as it is, if it has finished an epoch.

    The plan is one for the task's nodes: only their scores are computed in a step. The members' losses are added. Adam
    works parameter by parameter, so each member learns exactly as it would alone. Of several processes each has the
    losses of its own nodes; all have the same parameters, and gradients are added up. ``loss`` stands in for the task's
    own. Gradients are scaled down to the norm ``largest_gradient``, where one is given.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C comes before the first epoch is over: there is no result yet.
    """
    epochs, rates = settings.epochs, (settings.learning_rate, settings.weight_decay)
    optimiser = Adam(network.parameters(), *rates)
    state = State(network, features, plan, epochs, communicator=communicator)
    for callback in callbacks:
        callback.start(state)
    keeper = current_keeper()
    checkpoint = None
    if keeper is not None and hasattr(network, "random"):  # others draw from torch's own generator
        checkpoint = keeper.next_training(network, epochs, rates)
        state.stop = checkpoint.restore(state, optimiser, callbacks)
    finished = state.epoch
    try:
        while state.epoch < epochs and not state.stop:
            _step(state, task, optimiser, loss, largest_gradient)
            state.epoch += 1
            if LOGGER.isEnabledFor(logging.DEBUG):
                LOGGER.debug("epoch %d of %d: loss %.4f", state.epoch, epochs, state.losses.mean().item())
            for callback in callbacks:
                callback.after_epoch(state)
            finished = state.epoch
            if checkpoint is not None:
                checkpoint.keep(state, optimiser, callbacks, ended=state.ends)
    except KeyboardInterrupt:
        if not finished:
            raise
        state.interrupted = True
    for callback in callbacks:
        callback.end(state)
    how_ended = "interrupted" if state.interrupted else "trained"
    LOGGER.info("%s %d networks for %d of at most %d epochs", how_ended, state.losses.numel(), state.epoch, epochs)
    return state


def _step(state: State, task: Task, optimiser: Adam, loss: Loss | None, largest_gradient: float | None) -> None:
    state.network.train()
    optimiser.zero_grad()
    with threads_for(state.network.largest(state.plan)):
        scores = state.network(state.features, state.plan).scores
        losses = task.losses(scores) if loss is None else loss(scores, task)
        losses.sum().backward()  # type: ignore[no-untyped-call]
        add_up_gradients(state.network, state.communicator)
        if largest_gradient is not None:
            nn.utils.clip_grad_norm_(state.network.parameters(), largest_gradient)
        optimiser.step()
    state.changed()
    state.losses = state.communicator.all_sum_(losses.detach())
    state.accuracies = state.communicator.all_sum_(task.accuracies(scores.detach()))


@torch.no_grad()
def evaluate(network: Network, features: Features, plan: Plan) -> Output:
    """The network's output without dropout and without gradients."""
    network.eval()
    with threads_for(network.largest(plan)):
        output: Output = network(features, plan)
    return output


# What can happen beside a training: a history, early stopping on held-out labels, a progress display.


class History(Callback):
    """Loss and training accuracy per epoch, as means over the members.

    ``validation``: Held-out labels whose loss and accuracy are noted too, ``every`` so many epochs and after the last;
    ``watched``: Positions of nodes whose class probabilities, averaged over the members, are kept for every epoch. For
    looking only: nothing in the training depends on them.
    """

    def __init__(self, validation: Task | None = None, watched: Tensor | None = None, every: int = 1) -> None:
        self.validation, self.watched, self.every = validation, watched, every
        self.rows: list[dict[str, float]] = []
        self.members = 0
        self.watched_probabilities: list[NDArray[np.float32]] = []

    def after_epoch(self, state: State) -> None:
        self.members = state.losses.numel()
        row = {
            "epoch": float(state.epoch),
            "loss": state.losses.mean().item(),
            "accuracy": state.accuracies.mean().item(),
        }
        if self.validation is not None and (state.epoch % self.every == 0 or state.ends):
            scores = self.validation.among(state.predict().scores)
            process_sum = state.communicator.all_sum_
            row["validation_loss"] = process_sum(self.validation.losses(scores)).mean().item()
            row["validation_accuracy"] = process_sum(self.validation.accuracies(scores)).mean().item()
        if self.watched is not None:
            watched_scores = state.predict().scores.index_select(0, self.watched)
            self.watched_probabilities.append(watched_scores.softmax(-1).mean(1).cpu().numpy())
        self.rows.append(row)

    def kept_state(self) -> tuple[dict[str, Tensor], Any]:
        watched = {
            f"{epoch_place:06d}": torch.from_numpy(one) for epoch_place, one in enumerate(self.watched_probabilities)
        }
        return watched, {"members": self.members, "rows": self.rows}

    def restore(self, tensors: dict[str, Tensor], record: Any) -> None:
        self.members, self.rows = int(record["members"]), list(record["rows"])
        self.watched_probabilities = [tensors[name].numpy() for name in sorted(tensors)]


def joined_history(histories: list[History]) -> pd.DataFrame:
    """One table from the batches of an ensemble: means over all members, by epoch.

    Batches may have stopped at different epochs; an epoch's row speaks of the members that still trained.
    """
    trained = [history for history in histories if history.rows]
    if not trained:
        return pd.DataFrame({"epoch": pd.Series(dtype=int), "loss": [], "accuracy": []})
    if len(trained) == 1:  # the usual case, in a fraction of the time that grouping takes
        (only_history,) = trained
        epoch_table = pd.DataFrame(only_history.rows)
        mean_values = epoch_table.to_numpy() * only_history.members / only_history.members
        return pd.DataFrame(mean_values, columns=epoch_table.columns).astype({"epoch": int})
    epoch_table = pd.concat([pd.DataFrame(history.rows).assign(members=history.members) for history in trained])
    measures = [name for name in epoch_table.columns if name not in ("epoch", "members")]
    weighted = epoch_table[measures].mul(epoch_table["members"], axis=0).groupby(epoch_table["epoch"]).sum()
    result = weighted.div(epoch_table.groupby("epoch")["members"].sum(), axis=0).reset_index()
    return result.astype({"epoch": int})


class EarlyStopping(Callback):
    """Keep each member as it was when its held-out labels were predicted best, and stop when none improves.

    ``validation``: Held-out labels; their loss decides; it is taken ``every`` so many epochs and after the last;
    ``patience``: How often it may be taken without improvement until a member counts as done.
    """

    def __init__(self, validation: Task, patience: int, every: int = 1) -> None:
        self.validation, self.patience, self.every = validation, patience, every

    def start(self, state: State) -> None:
        members = self.validation.weights.shape[1]
        device = self.validation.weights.device
        self.best = torch.full((members,), torch.inf, device=device)
        self.since = torch.zeros(members, dtype=torch.long, device=device)
        self.kept = {name: weight_tensor.clone() for name, weight_tensor in state.network.state_dict().items()}

    def after_epoch(self, state: State) -> None:
        if state.epoch % self.every and not state.ends:
            return
        scores = self.validation.among(state.predict().scores)
        losses = state.communicator.all_sum_(self.validation.losses(scores))
        better = losses < self.best
        self.best = torch.where(better, losses, self.best)
        self.since = torch.where(better, 0, self.since + 1)
        for name, weight_tensor in state.network.state_dict().items():
            self.kept[name] = torch.where(
                better.view(-1, *[1] * (weight_tensor.dim() - 1)), weight_tensor, self.kept[name]
            )
        state.stop = state.stop or bool((self.since >= self.patience).all())

    def end(self, state: State) -> None:
        if state.epoch and bool(self.best.isinf().all()):  # interrupted before the first look
            return
        state.network.load_state_dict(self.kept)
        state.changed()

    def kept_state(self) -> tuple[dict[str, Tensor], Any]:
        best = {"best": self.best, "since": self.since}
        return best | {f"kept.{name}": kept_tensor for name, kept_tensor in self.kept.items()}, None

    def restore(self, tensors: dict[str, Tensor], record: Any) -> None:
        device = self.best.device
        self.best, self.since = tensors["best"].to(device), tensors["since"].to(device)
        self.kept = {name: tensors[f"kept.{name}"].to(device) for name in self.kept}


class Progress(Callback):
    """Tell a display how far the training is.

    ``advance``: Called after every epoch with the number of epochs done since the last call and the loss.
    """

    def __init__(self, advance: Callable[[int, float], None]) -> None:
        self.advance = advance

    def after_epoch(self, state: State) -> None:
        self.advance(1, state.losses.mean().item())
