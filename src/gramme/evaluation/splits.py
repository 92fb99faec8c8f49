"""The protocol's splits: which labelled nodes a realisation learns from, the same for every method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.graph import sorted_labels
from gramme.graph.canonical import sorted_places

from .metrics import accuracy_interval


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


# Labels set aside before anything is learned, so that an accuracy can be measured on nodes the
# model never saw.


@dataclass(frozen=True)
class Holdout:
    """Labels to learn from and the nodes set aside, all aligned with the nodes of a graph.

    Attributes
    ----------
    train : array of object, shape (nodes,)
        The labels to learn from; None where unknown or set aside.
    held_out : array of int
        Positions of the nodes set aside.
    labels : array of object, shape (nodes,)
        All known labels.
    """

    train: NDArray[np.object_]
    held_out: NDArray[np.int64]
    labels: NDArray[np.object_]

    def accuracy(self, predicted: NDArray[Any]) -> tuple[float, tuple[float, float]]:
        """Accuracy on the nodes set aside, and its 95 % interval."""
        pairs = zip(self.labels[self.held_out], predicted[self.held_out].tolist(), strict=True)
        right = sum(known == guess for known, guess in pairs)
        total = self.held_out.size
        return right / total, accuracy_interval(right, total)


def hold_out(
    labels: NDArray[np.object_], share: float, random_state: int, nodes: pd.Index | None = None
) -> Holdout:
    """Set aside a share of the labelled nodes, uniformly at random.

    With the names of the nodes, who is set aside depends on names alone and not on their order.

    >>> split = hold_out(np.array(["a", "b", None, "a", "b"], dtype=object), 0.5, random_state=0)
    >>> len(split.held_out), sum(label is not None for label in split.train)
    (2, 2)
    """
    if not 0 < share < 1:
        raise DataError(f"the share to set aside must be between 0 and 1, not {share!r}")
    known = labelled_places(labels, nodes)
    count = round(share * known.size)
    if count < 1 or known.size - count < 2:
        raise DataError(
            f"of {known.size} labelled nodes, setting aside {share:.0%} leaves too few to learn from or to test on"
        )
    aside = np.sort(np.random.default_rng(random_state).permutation(known)[:count])
    train = labels.copy()
    train[aside] = None
    return Holdout(train, aside, labels)


def labelled_places(
    labels: NDArray[np.object_], nodes: pd.Index | None = None
) -> NDArray[np.int64]:
    """Positions of the labelled nodes, in the order of their names where these are given.

    >>> labelled_places(
    ...     np.array(["x", None, "y"], dtype=object), pd.Index(["c", "b", "a"])
    ... ).tolist()
    [2, 0]
    """
    places = None if nodes is None else sorted_places(nodes)
    if places is None:
        places = np.arange(labels.size)
    known: NDArray[np.int64] = places[[label is not None for label in labels[places]]]
    return known
