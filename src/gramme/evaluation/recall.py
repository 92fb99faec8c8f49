"""How well each class is found, and whether a model beats the best blind guess. Accuracy alone hides rare classes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramme.evaluation.intervals import accuracy_interval

UNEQUAL_CLASS_RATIO = 2.0
"""Classes count as unequal if the most common has more than this many times as many nodes as the rarest."""


@dataclass(frozen=True)
class Recall:
    """How many nodes of each class were found.

    Attributes
    ----------
    classes : list
        The classes that tested nodes have.
    sizes, found : array of int
        Tested nodes of each class, and how many of them were predicted to be of it.
    worth : float
        How many independent tests a tested node is worth (:attr:`Estimate.worth`).
    """

    classes: list[Any]
    sizes: NDArray[np.int64]
    found: NDArray[np.int64]
    worth: float = 1.0

    @classmethod
    def of(cls, classes: list[Any], confusion: NDArray[np.int64], worth: float = 1.0) -> Recall:
        """From how often each class (row) was predicted as each (column)."""
        sizes = confusion.sum(axis=1)
        there = np.flatnonzero(sizes)
        found = np.diag(confusion)[there]
        return cls([classes[place] for place in there], sizes[there], found, worth)

    @property
    def shares(self) -> NDArray[np.float64]:
        """The recall of each class."""
        shares: NDArray[np.float64] = self.found / self.sizes
        return shares

    @property
    def unequal(self) -> bool:
        """Whether some class is so much rarer than another that accuracy alone would mislead."""
        return len(self.classes) > 1 and bool(
            self.sizes.max() > UNEQUAL_CLASS_RATIO * self.sizes.min()
        )

    @property
    def balanced_accuracy(self) -> float:
        """The mean recall: every class counts alike, however rare."""
        return float(self.shares.mean())

    @property
    def balanced_interval(self) -> tuple[float, float]:
        """The 95 % interval of the balanced accuracy, from Wilson's intervals of the recalls.

        The recalls' distances to their bounds add up in squares (the method of variance estimates recovery), which is
        sensible also for a recall of 0 or 1.
        """
        bounds = np.array(
            [
                accuracy_interval(self.worth * int(one), self.worth * int(of))
                for one, of in zip(self.found, self.sizes, strict=True)
            ]
        )
        count, mean = len(self.classes), self.balanced_accuracy
        low = mean - math.sqrt(float(((self.shares - bounds[:, 0]) ** 2).sum())) / count
        high = mean + math.sqrt(float(((bounds[:, 1] - self.shares) ** 2).sum())) / count
        return max(0.0, low), min(1.0, high)

    @property
    def guess(self) -> tuple[Any, float]:
        """The most common class, and the accuracy of always saying it."""
        place = int(self.sizes.argmax())
        return self.classes[place], float(self.sizes[place] / self.sizes.sum())

    def verdict(self, accuracy: float, interval: tuple[float, float]) -> str:
        """Whether the model beats always saying the most common class: "better", "unclear" or "no better".

        Where classes are unequal the balanced accuracy decides, of which a guess has one part in as many classes.

        >>> one = Recall(["ok", "fraud"], np.array([294, 6]), np.array([294, 0]))
        >>> one.balanced_accuracy, one.verdict(0.98, (0.957, 0.991))
        (0.5, 'no better')
        """
        blind = self.guess[1]
        if self.unequal:
            accuracy, interval, blind = (
                self.balanced_accuracy,
                self.balanced_interval,
                1 / len(self.classes),
            )
        if accuracy <= blind + 1e-9:
            return "no better"
        return "unclear" if interval[0] <= blind else "better"

    def record(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            str(label): {"nodes": int(of), "found": int(one), "recall": float(share)}
            for label, of, one, share in zip(
                self.classes, self.sizes, self.found, self.shares, strict=True
            )
        }
