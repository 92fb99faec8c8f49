"""What each member of an ensemble learns from, and which labels tell it when to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from gramme.distributed import here
from gramme.graph import MultilayerGraph
from gramme.training.task import Task

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Lessons:
    """The labels of an ensemble's training, member by member.

    Attributes
    ----------
    nodes, codes : array of int, shape (labelled,)
        Positions of the labelled nodes and their classes, or their numbers for each member where the task is one of
        numbers, shape (labelled, members).
    weights : array, shape (labelled, members)
        How much each label counts for each member; 0 hides it.
    held_out : array of bool, shape (labelled, members), optional
        Labels that a member sets aside to know when to stop.
    validation : pair of arrays of int, optional
        Nodes and classes that tell all members when to stop, in place of labels set aside.
    task : type
        What is to be learned: classes, or numbers with :class:`~gramme.training.task.NumberTask`.
    graph : MultilayerGraph, optional
        Where it is one process's part, only the labels of its own nodes become tasks.
    """

    nodes: Ints
    codes: NDArray[Any]
    weights: NDArray[np.float64]
    held_out: NDArray[np.bool_] | None = None
    validation: tuple[Ints, Ints] | None = None
    task: type[Task] = Task
    graph: MultilayerGraph | None = None

    @property
    def members(self) -> int:
        """How many members learn."""
        return int(self.weights.shape[1])

    def tasks(self, members: range, device: torch.device) -> tuple[Task, Task | None]:
        """What some members learn from, and what tells them when to stop; None if all epochs are trained."""
        chosen = slice(members.start, members.stop)
        weights = self.weights[:, chosen]
        codes = self.codes if self.codes.ndim == 1 else self.codes[:, chosen]
        if self.held_out is not None:
            aside = self.held_out[:, chosen]
            training, stopping = (
                self._task(self.nodes, codes, weights * part, device) for part in (~aside, aside)
            )
            return training, stopping
        training = self._task(self.nodes, codes, weights, device)
        if self.validation is None:
            return training, None
        nodes, codes = self.validation
        return training, self._task(nodes, codes, np.ones((nodes.size, len(members))), device)

    def _task(
        self, nodes: Ints, codes: Ints, weights: NDArray[np.float64], device: torch.device
    ) -> Task:
        whole = self.task.of(nodes, codes, weights, device)
        if self.graph is None:
            return whole
        which, positions = here(self.graph, nodes)
        return whole.at(torch.from_numpy(which).to(device), torch.from_numpy(positions).to(device))


def held_out_labels(
    codes: Ints, seen: NDArray[np.bool_], fraction: float, seed: int
) -> NDArray[np.bool_] | None:
    """Which of the labels it sees each member sets aside, at random within each class.

    At least one label of each class stays in training.

    Parameters
    ----------
    codes : array of int, shape (labelled,)
        Classes, numbered from 0.
    seen : array of bool, shape (labelled, members)
    fraction : float
        Share of each class that is set aside.
    seed : int

    Returns
    -------
    array of bool, shape (labelled, members), or None if the labels are too few to set any aside
    """
    aside = np.zeros_like(seen)
    for member in range(seen.shape[1]):
        random = np.random.default_rng([seed, member, 1])
        for code in range(int(codes.max(initial=-1)) + 1):
            mine = np.flatnonzero((codes == code) & seen[:, member])
            count = min(round(fraction * mine.size), max(mine.size - 1, 0))
            aside[random.permutation(mine)[:count], member] = True
    return aside if aside.any() else None
