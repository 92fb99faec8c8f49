"""Networks of PyTorch Geometric in the shape that the project's training loop takes: one member, edges for a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch.nn.functional as F
from torch import Tensor, nn

from gramme.nn import Output
from gramme.training import Task


class PygOutput(NamedTuple):
    """Scores (nodes, classes), the embedding before the last step, and shares of the layers if there are any."""

    scores: Tensor
    embedding: Tensor
    shares: Tensor | None = None


@dataclass(frozen=True)
class EdgePlan:
    """What a network of PyG's needs of a graph, for the output of some nodes or of all.

    Attributes
    ----------
    edges : object
        In the form that the network takes.
    nodes : tensor of int, optional
        The nodes whose output is wanted; all if not given.
    """

    edges: Any
    nodes: Tensor | None = None

    @property
    def everywhere(self) -> EdgePlan:
        """The same for all nodes."""
        return EdgePlan(self.edges)


class OneMember(nn.Module):
    """A network of PyG's as an ensemble of one member.

    Parameters
    ----------
    network : nn.Module
        Takes features (nodes, columns) and edges, gives a :class:`PygOutput`.
    width : int
        Numbers per node in its largest activation.
    """

    def __init__(self, network: nn.Module, width: int) -> None:
        super().__init__()
        self.network, self.width = network, width

    def forward(self, features: Tensor, plan: EdgePlan) -> Output:
        """Scores (nodes, 1, classes) and embedding (nodes, 1, columns)."""
        found: PygOutput = self.network(features, plan.edges)
        return Output(found.scores[:, None], found.embedding[:, None]).at(plan.nodes)

    def largest(self, plan: EdgePlan) -> int:
        """Numbers in the largest tensors of a pass: these networks hold a row for every edge."""
        return _count(plan.edges) * self.width


class MeanTask(Task):
    """Labels that all count alike, with the mean of the cross entropy as PyTorch takes it."""

    def losses(self, scores: Tensor) -> Tensor:
        return F.cross_entropy(scores[:, 0], self.classes)[None]


def moved(edges: Any, device: Any) -> Any:
    """Edges on another device, in whatever form a network takes them."""
    if isinstance(edges, dict):
        return {key: value.to(device) for key, value in edges.items()}
    if isinstance(edges, tuple):
        return tuple(value.to(device) for value in edges)
    return edges.to(device)


def _count(edges: Any) -> int:
    if isinstance(edges, dict):
        return sum(_count(one) for one in edges.values())
    return int((edges[0] if isinstance(edges, tuple) else edges).shape[-1])
