"""The protocol's splits: which labelled nodes a realisation learns from, the same for every method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.graph import sorted_labels


@dataclass(frozen=True)
class Split:
    """One realisation of a training percentage.

    Attributes
    ----------
    train, test : array of int
        Positions of the nodes to learn from and of all other labelled nodes.
    y : array of object, shape (nodes,)
        The labels of the training nodes; None everywhere else. All that a method may learn from.
    monitor : array of object, shape (nodes,)
        The labels of the test nodes; None everywhere else. For scoring, and for looking at a training.
    classes : list
        The classes of all labelled nodes, in order.
    missed : int
        Classes that no training node has. Such a realisation is kept, as in the paper, and counted.
    """

    train: NDArray[np.int64]
    test: NDArray[np.int64]
    y: NDArray[np.object_]
    monitor: NDArray[np.object_]
    classes: list[object]
    missed: int


def random_split(labels: NDArray[np.object_], percent: float, realisation: int) -> Split:
    """Draw the training nodes uniformly at random from the labelled ones, with the realisation's number as seed.

    One order of the nodes serves all percentages: the training nodes of 10 % are among those of 20 %.

    Examples
    --------
    >>> labels = np.array(["a", "b", None, "a", "b"], dtype=object)
    >>> split = random_split(labels, 50, realisation=0)
    >>> len(split.train), len(split.test), split.missed
    (2, 2, 1)
    """
    check_percent(percent)
    known = np.array([i for i, label in enumerate(labels) if label is not None], dtype=np.int64)
    size = max(1, round(known.size * percent / 100))
    if known.size - size < 1:
        raise DataError(
            f"{percent:g} % of {known.size} labelled nodes leaves none to test on; more labels or a smaller percentage "
            "are needed"
        )
    order = known[np.random.default_rng(realisation).permutation(known.size)]
    train, test = np.sort(order[:size]), np.sort(order[size:])
    classes = sorted_labels(labels[known])
    missed = len(classes) - len(set(labels[train]))
    return Split(train, test, _only(labels, train), _only(labels, test), classes, missed)


def check_percent(percent: float) -> None:
    """Refuse a percentage of training nodes that leaves nothing to learn from or to test on."""
    if not 0 < percent < 100:
        raise DataError(
            f"a training percentage must be more than 0 and less than 100, not {percent:g}"
        )


def _only(labels: NDArray[np.object_], nodes: NDArray[np.int64]) -> NDArray[np.object_]:
    chosen = np.full(labels.size, None, dtype=object)
    chosen[nodes] = labels[nodes]
    return chosen
