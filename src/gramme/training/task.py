"""What a network is trained on: which nodes carry which class, and how much each counts for each member."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor


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
        cls,
        nodes: NDArray[np.int64],
        classes: NDArray[Any],
        weights: NDArray[np.float64],
        device: torch.device,
    ) -> Self:
        """A task from arrays; ``weights`` of shape (labelled, members) are scaled to sum to 1 per member."""
        total = weights.sum(0, keepdims=True)
        scaled = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
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


class NumberTask(Task):
    """Labelled nodes with numbers in the place of classes, for each member its own: shape (labelled, members).

    The loss is the squared error of the network's one output.
    """

    @classmethod
    def of(
        cls,
        nodes: NDArray[np.int64],
        classes: NDArray[Any],
        weights: NDArray[np.float64],
        device: torch.device,
    ) -> Self:
        """As for classes; ``classes`` are the numbers."""
        return super().of(nodes, classes.astype(_default_float()), weights, device)

    def losses(self, scores: Tensor) -> Tensor:
        """The weighted squared error of each member, (members,), from outputs (labelled, members, 1)."""
        missed = scores[..., 0] - self.classes
        return (missed.square() * self.weights).sum(0)

    def accuracies(self, scores: Tensor) -> Tensor:
        """R2 of each member, (members,): 1 where every number is met, 0 for saying the mean."""
        mean = (self.weights * self.classes).sum(0)
        spread = (self.weights * (self.classes - mean).square()).sum(0)
        return 1 - self.losses(scores) / spread.clamp(min=torch.finfo(spread.dtype).tiny)


def _default_float() -> Any:
    return torch.empty(0).numpy().dtype
