"""What can happen beside a training: a history, early stopping on held-out labels, a progress display."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from .loop import Callback, State, Task


class History(Callback):
    """Loss and training accuracy per epoch, as means over the members.

    ``validation``: Held-out labels whose loss and accuracy are noted too; ``watched``: Positions of nodes whose class
    probabilities, averaged over the members, are kept for every epoch. For looking only: nothing in the training
    depends on them.
    """

    def __init__(self, validation: Task | None = None, watched: Tensor | None = None) -> None:
        self.validation, self.watched = validation, watched
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
        if self.validation is not None:
            scores = self.validation.among(state.predict().scores)
            total = state.communicator.all_sum_
            row["validation_loss"] = total(self.validation.losses(scores)).mean().item()
            row["validation_accuracy"] = total(self.validation.accuracies(scores)).mean().item()
        if self.watched is not None:
            chosen = state.predict().scores.index_select(0, self.watched)
            self.watched_probabilities.append(chosen.softmax(-1).mean(1).cpu().numpy())
        self.rows.append(row)

    def kept_state(self) -> tuple[dict[str, Tensor], Any]:
        watched = {f"{place:06d}": torch.from_numpy(one) for place, one in enumerate(self.watched_probabilities)}
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
        (only,) = trained
        table = pd.DataFrame(only.rows)
        found = table.to_numpy() * only.members / only.members
        return pd.DataFrame(found, columns=table.columns).astype({"epoch": int})
    table = pd.concat([pd.DataFrame(history.rows).assign(members=history.members) for history in trained])
    measures = [name for name in table.columns if name not in ("epoch", "members")]
    weighted = table[measures].mul(table["members"], axis=0).groupby(table["epoch"]).sum()
    result = weighted.div(table.groupby("epoch")["members"].sum(), axis=0).reset_index()
    return result.astype({"epoch": int})


class EarlyStopping(Callback):
    """Keep each member as it was when its held-out labels were predicted best, and stop when none improves.

    ``validation``: Held-out labels; their loss decides; ``patience``: Epochs without improvement after which a member
    counts as done.
    """

    def __init__(self, validation: Task, patience: int) -> None:
        self.validation, self.patience = validation, patience

    def start(self, state: State) -> None:
        members = self.validation.weights.shape[1]
        device = self.validation.weights.device
        self.best = torch.full((members,), torch.inf, device=device)
        self.since = torch.zeros(members, dtype=torch.long, device=device)
        self.kept = {name: value.clone() for name, value in state.network.state_dict().items()}

    def after_epoch(self, state: State) -> None:
        scores = self.validation.among(state.predict().scores)
        losses = state.communicator.all_sum_(self.validation.losses(scores))
        better = losses < self.best
        self.best = torch.where(better, losses, self.best)
        self.since = torch.where(better, 0, self.since + 1)
        for name, value in state.network.state_dict().items():
            self.kept[name][better] = value[better]
        if bool((self.since >= self.patience).all()):
            state.stop = True

    def end(self, state: State) -> None:
        state.network.load_state_dict(self.kept)
        state.changed()

    def kept_state(self) -> tuple[dict[str, Tensor], Any]:
        best = {"best": self.best, "since": self.since}
        return best | {f"kept.{name}": one for name, one in self.kept.items()}, None

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
