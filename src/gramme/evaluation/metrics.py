"""How good predictions are: accuracy, macro F1, log loss and calibration, also for classes a method never saw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, norm
from sklearn.metrics import f1_score

MIN_PROBABILITY = 1e-7
"""The log loss takes no probability for smaller than this, about the grain of 32-bit numbers."""
CALIBRATION_BINS = 15
"""Bins of the calibration error."""


@dataclass(frozen=True)
class Scores:
    """Scores on the test nodes, as shares of 1; the log loss in nats.

    A test node of a class that the training labels did not show counts as wrong, whatever was predicted.
    """

    accuracy: float
    macro_f1: float
    log_loss: float
    calibration_error: float


def score(
    truth: Sequence[Any] | NDArray[np.object_], probabilities: NDArray[np.floating[Any]], classes: Sequence[Any]
) -> Scores:
    """Compare the true labels of test nodes with probabilities, shape (test nodes, classes).

    ``classes`` are those the method knows, in the order of the columns; true labels may be others.

    >>> scores = score(["a", "b", "c"], np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]), ["a", "b"])
    >>> round(scores.accuracy, 3), round(scores.macro_f1, 3)
    (0.667, 0.556)
    """
    number = {label: code for code, label in enumerate(classes)}
    codes = np.array([number.setdefault(label, len(number)) for label in truth], dtype=np.int64)
    probabilities = np.asarray(probabilities, dtype=np.float64)
    guess = probabilities.argmax(axis=1)
    right = guess == codes
    seen = codes < len(classes)
    chance = np.full(codes.size, MIN_PROBABILITY)
    chance[seen] = probabilities[np.flatnonzero(seen), codes[seen]]
    return Scores(
        accuracy=float(right.mean()),
        macro_f1=float(f1_score(codes, guess, average="macro", zero_division=0)),
        log_loss=float(-np.log(np.clip(chance, MIN_PROBABILITY, 1)).mean()),
        calibration_error=calibration_error(probabilities.max(axis=1), right),
    )


def calibration_error(
    confidence: NDArray[np.floating[Any]], right: NDArray[np.bool_], bins: int = CALIBRATION_BINS
) -> float:
    """The expected calibration error: how far the share of right predictions is from the confidence in them.

    Predictions are sorted into ``bins`` bins of equal width by the probability of the predicted class; the differences
    between a bin's share of right ones and its mean confidence are averaged, weighted by the bins' sizes.

    >>> calibration_error(np.array([0.8, 0.8, 0.8, 0.8]), np.array([True, True, True, False]))
    0.05...
    """
    place = np.clip((np.asarray(confidence) * bins).astype(np.int64), 0, bins - 1)
    gaps = np.bincount(place, weights=confidence - right, minlength=bins)
    return float(np.abs(gaps).sum() / right.size)


def accuracy_interval(right: float, total: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval for a share of ``right`` out of ``total``.

    Stays within 0 .. 1 and is sensible for small numbers and for shares near 0 or 1, where the usual plus-minus fails.

    >>> low, high = accuracy_interval(90, 100)
    >>> round(low, 3), round(high, 3)
    (0.826, 0.945)
    """
    if total <= 0:
        return 0.0, 1.0
    z = float(norm.ppf(0.5 + level / 2))
    share = min(max(right / total, 0.0), 1.0)
    centre = share + z * z / (2 * total)
    spread = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    low, high = (centre - spread) / scale, (centre + spread) / scale
    # where all or none are right, the bound is exact but for rounding
    return (max(0.0, low) if share > 1e-12 else 0.0, min(1.0, high) if share < 1 - 1e-12 else 1.0)


def exact_interval(right: float, total: float, level: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's interval for a share, also for numbers of tests that are not whole.

    It holds at least as often as ``level`` says; Wilson's holds so often on average only, and less where shares are
    near 0 or 1.

    >>> low, high = exact_interval(19, 20)
    >>> round(low, 3), round(high, 3)
    (0.751, 0.999)
    """
    if total <= 0:
        return 0.0, 1.0
    tail, wrong = (1 - level) / 2, total - right
    low = float(beta.ppf(tail, right, wrong + 1)) if right > 1e-9 else 0.0
    high = float(beta.ppf(1 - tail, right + 1, wrong)) if wrong > 1e-9 else 1.0
    return low, high


UNEQUAL_CLASS_RATIO = 2.0
"""Classes count as unequal if the most common has more than this many times as many nodes as the rarest."""


@dataclass(frozen=True)
class Recall:
    """How many nodes of each class were found; accuracy alone hides rare classes."""

    classes: list[Any]  # those that tested nodes have
    sizes: NDArray[np.int64]
    found: NDArray[np.int64]  # of the nodes of each class, those predicted to be of it
    worth: float = 1.0  # how many independent tests a tested node is worth (:attr:`Estimate.worth`)

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
        return len(self.classes) > 1 and bool(self.sizes.max() > UNEQUAL_CLASS_RATIO * self.sizes.min())

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
        pairs = zip(self.worth * self.found, self.worth * self.sizes, strict=True)
        bounds = np.array([accuracy_interval(float(one), float(of)) for one, of in pairs])
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
            accuracy, interval, blind = (self.balanced_accuracy, self.balanced_interval, 1 / len(self.classes))
        if accuracy <= blind + 1e-9:
            return "no better"
        return "unclear" if interval[0] <= blind else "better"

    def record(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            str(label): {"nodes": int(of), "found": int(one), "recall": float(share)}
            for label, of, one, share in zip(self.classes, self.sizes, self.found, self.shares, strict=True)
        }


@dataclass(frozen=True)
class LabelDoubts:
    """What confident learning says about some labels."""

    thresholds: NDArray[np.float64]  # by class, NaN for classes that no node is labelled with
    doubtful: NDArray[np.bool_]  # by node, whether the predicted class is suggested in place of the label


def label_doubts(labels: Sequence[Any], classes: Sequence[Any], shares: NDArray[np.floating[Any]]) -> LabelDoubts:
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
