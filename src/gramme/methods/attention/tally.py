"""Adding up what the members of an ensemble say, batch by batch: their mean, and predictions out of fold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gramme.methods.labels import KnownLabels
from gramme.nn import Output


class Tally:
    """Probabilities of an ensemble whose first members are the model proper; further ones leave out a fold each.

    Parameters
    ----------
    nodes : int
    known : KnownLabels
    proper : int
        Members of the model proper, who see every label.
    fold : array of int, shape (labelled,), optional
        The fold of each label.
    copies : int, default=1
        Further members to a fold.

    Attributes
    ----------
    seen : array of bool, shape (labelled, members)
        Which labels each member sees.
    unseen : array, shape (labelled, classes)
        What the members that did not see a label say of it, the mean of the copies.
    """

    def __init__(
        self,
        nodes: int,
        known: KnownLabels,
        proper: int,
        fold: NDArray[np.int64] | None = None,
        copies: int = 1,
    ) -> None:
        self.known, self.copies = known, copies
        folds = 0 if fold is None else int(fold.max()) + 1
        self.seen = np.ones((known.nodes.size, proper + folds * copies), dtype=bool)
        if fold is not None:
            self.seen[:, proper:] = fold[:, None] != np.repeat(np.arange(folds), copies)
        self.unseen = np.zeros((known.nodes.size, len(known.classes)))
        self._total = np.zeros((nodes, len(known.classes)))
        self._members = 0

    def add(self, members: range, output: Output) -> None:
        """Count what some members say of all nodes."""
        probabilities = output.scores.double().softmax(-1).cpu()
        self._total += probabilities.sum(1).numpy()
        self._members += len(members)
        for place, member in enumerate(members):
            mine = ~self.seen[:, member]
            self.unseen[mine] += probabilities[self.known.nodes[mine], place].numpy() / self.copies

    def mean(self) -> NDArray[np.float64]:
        """The mean over all members, shape (nodes, classes)."""
        mean: NDArray[np.float64] = self._total / self._members
        return mean
