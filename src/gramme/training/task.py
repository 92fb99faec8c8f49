"""What a network is trained on: which nodes carry which class, and how much each counts for each member."""

from __future__ import annotations

from dataclasses import dataclass

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
        classes: NDArray[np.int64],
        weights: NDArray[np.float64],
        device: torch.device,
    ) -> Task:
        """A task from arrays; ``weights`` of shape (labelled, members) are scaled to sum to 1 per member."""
        total = weights.sum(0, keepdims=True)
        scaled = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
        return cls(
            torch.from_numpy(nodes).to(device),
            torch.from_numpy(classes).to(device),
            torch.from_numpy(scaled).to(device, torch.get_default_dtype()),
        )

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
