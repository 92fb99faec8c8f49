"""Which labels look wrong, by confident learning on predictions of models that had not seen the label.

A model is surer of some classes than of others, so the bar differs from class to class: the *threshold* of class j is
the mean probability that nodes labelled j are given of being j. The label of a node is doubted if the node is predicted
to be of another class whose probability reaches its threshold: the node looks as much like that class as
the class's own members do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class LabelDoubts:
    """What confident learning says about some labels.

    Attributes
    ----------
    thresholds : array of float, shape (classes,)
        NaN for classes that no node is labelled with.
    doubtful : array of bool, shape (nodes,)
        Whether the predicted class is suggested in place of the label.
    """

    thresholds: NDArray[np.float64]
    doubtful: NDArray[np.bool_]


def label_doubts(
    labels: Sequence[Any], classes: Sequence[Any], shares: NDArray[np.floating[Any]]
) -> LabelDoubts:
    """Doubts about labels, from class probabilities (nodes, classes) of models that did not see them.

    References
    ----------
    C. G. Northcutt, L. Jiang, I. L. Chuang, "Confident Learning: Estimating Uncertainty in Dataset Labels", Journal of
    Artificial Intelligence Research 70, 2021.

    Examples
    --------
    >>> shares = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.45, 0.55], [0.02, 0.98]])
    >>> found = label_doubts(["a", "a", "b", "a", "a"], ["a", "b"], shares)
    >>> found.thresholds.round(2), found.doubtful
    (array([0.54, 0.9 ]), array([False, False, False, False,  True]))
    """
    number = {label: place for place, label in enumerate(classes)}
    own = np.array([number.get(label, -1) for label in labels], dtype=np.int64)
    rows = np.arange(own.size)
    thresholds = np.full(len(number), np.nan)
    for place in np.unique(own[own >= 0]).tolist():
        mine = own == place
        thresholds[place] = float(shares[mine, place].mean(dtype=np.float64))
    if not own.size:
        return LabelDoubts(thresholds, np.zeros(0, dtype=bool))
    predicted = shares.argmax(axis=1)
    bar = np.where(np.isnan(thresholds), np.inf, thresholds)[predicted]
    doubtful: NDArray[np.bool_] = (predicted != own) & (shares[rows, predicted] >= bar)
    return LabelDoubts(thresholds, doubtful)
