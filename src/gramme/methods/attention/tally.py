"""Adds up the predictions of an ensemble's members, batch by batch: their mean, and predictions out of fold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gramme.distributed import rows_at
from gramme.graph import MultilayerGraph
from gramme.methods.labels import KnownLabels
from gramme.nn import Output


class Tally:
    """Probabilities of an ensemble whose first members are the model proper; further ones leave out a fold each.

    Parameters
    ----------
    graph : MultilayerGraph
    known : KnownLabels
    proper : int
        Members of the model proper, who see every label.
    fold : array of int, shape (labelled,), optional
        The fold of each label; -1 for labels that everybody sees.
    copies : int, default=1
        Further members to a fold.

    Attributes
    ----------
    seen : array of bool, shape (labelled, members)
        Which labels each member sees.
    unseen : array, shape (labelled, classes)
        What the members that did not see a label say about it, the mean of the copies; NaN where all saw it.
    """

    def __init__(
        self,
        graph: MultilayerGraph,
        known: KnownLabels,
        proper: int,
        fold: NDArray[np.int64] | None = None,
        copies: int = 1,
    ) -> None:
        self.graph, self.known, self.copies = graph, known, copies
        self.seen = seen_labels(known.nodes.size, proper, fold, copies)
        self.unseen = np.zeros((known.nodes.size, len(known.classes)))
        if fold is not None:
            self.unseen[fold < 0] = np.nan
        self._total = np.zeros((graph.num_nodes, len(known.classes)))
        self._members = 0

    def add(self, members: range, output: Output) -> None:
        """Count what some members say about all nodes."""
        probabilities = output.scores.double().softmax(-1).cpu()
        self._total += probabilities.sum(1).numpy()
        self._members += len(members)
        if self.seen[:, members.start : members.stop].all():
            return
        at_labels = rows_at(self.graph, probabilities.numpy(), self.known.nodes)
        for place, member in enumerate(members):
            mine = ~self.seen[:, member]
            self.unseen[mine] += at_labels[mine, place] / self.copies

    def mean(self) -> NDArray[np.float64]:
        """The mean over all members, shape (nodes, classes)."""
        mean: NDArray[np.float64] = self._total / self._members
        return mean


def seen_labels(
    labels: int, proper: int, fold: NDArray[np.int64] | None, copies: int
) -> NDArray[np.bool_]:
    """Which labels each member sees, (labels, members): the members proper all of them, further ones all but a fold.

    >>> seen_labels(3, 1, np.array([0, 0, 1]), 1).astype(int)
    array([[1, 0, 1],
           [1, 0, 1],
           [1, 1, 0]])
    """
    folds = 0 if fold is None else int(fold.max()) + 1
    seen = np.ones((labels, proper + folds * copies), dtype=bool)
    if fold is not None:
        seen[:, proper:] = fold[:, None] != np.repeat(np.arange(folds), copies)
    return seen
