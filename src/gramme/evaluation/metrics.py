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


@dataclass(frozen=True)
class Scores:
    """Scores on the test nodes, as shares of 1; the log loss in nats.

    A test node of a class that the training labels did not show counts as wrong, whatever was predicted.
    """

    accuracy: float
    macro_f1: float
    log_loss: float
    calibration_error: float


@dataclass(frozen=True)
class LabelSetScores:
    """Scores of nodes with several labels, as shares of 1; the accuracy is the share of nodes with all labels right."""

    accuracy: float
    macro_f1: float
    micro_f1: float
    ranking_loss: float | None


def score(
    truth: Sequence[Any] | NDArray[np.object_], probabilities: NDArray[np.floating[Any]], classes: Sequence[Any]
) -> Scores:
    """Compare the true labels of test nodes with probabilities, shape (test nodes, classes).

    ``classes`` are those the method knows, in the order of the columns; true labels may be others.

    >>> scores = score(["a", "b", "c"], np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]), ["a", "b"])
    >>> round(scores.accuracy, 3), round(scores.macro_f1, 3)
    (0.667, 0.556)
    """
    class_codes = {label: class_code for class_code, label in enumerate(classes)}
    true_codes = np.array([class_codes.setdefault(label, len(class_codes)) for label in truth], dtype=np.int64)
    probabilities = np.asarray(probabilities, dtype=np.float64)
    predicted_codes = probabilities.argmax(axis=1)
    is_right = predicted_codes == true_codes
    is_known_class = true_codes < len(classes)
    true_probabilities = np.full(true_codes.size, MIN_PROBABILITY)
    true_probabilities[is_known_class] = probabilities[np.flatnonzero(is_known_class), true_codes[is_known_class]]
    return Scores(
        accuracy=float(is_right.mean()),
        macro_f1=float(f1_score(true_codes, predicted_codes, average="macro", zero_division=0)),
        log_loss=float(-np.log(np.clip(true_probabilities, MIN_PROBABILITY, 1)).mean()),
        calibration_error=calibration_error(probabilities.max(axis=1), is_right),
    )


def calibration_error(confidence: NDArray[np.floating[Any]], right: NDArray[np.bool_], bins: int = 15) -> float:
    """The expected calibration error: how far the share of right predictions is from the confidence in them.

    Predictions are sorted into ``bins`` bins of equal width by the probability of the predicted class; the differences
    between a bin's share of right ones and its mean confidence are averaged, weighted by the bins' sizes.

    >>> calibration_error(np.array([0.8, 0.8, 0.8, 0.8]), np.array([True, True, True, False]))
    0.05...
    """
    bin_numbers = np.clip((np.asarray(confidence) * bins).astype(np.int64), 0, bins - 1)
    bin_gaps = np.bincount(bin_numbers, weights=confidence - right, minlength=bins)
    return float(np.abs(bin_gaps).sum() / right.size)


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
    share_right = min(max(right / total, 0.0), 1.0)
    interval_centre = share_right + z * z / (2 * total)
    half_width = z * math.sqrt(share_right * (1 - share_right) / total + z * z / (4 * total * total))
    shrinkage_scale = 1 + z * z / total
    lower_bound, upper_bound = (
        (interval_centre - half_width) / shrinkage_scale,
        (interval_centre + half_width) / shrinkage_scale,
    )
    # where all or none are right, the bound is exact but for rounding
    return (
        max(0.0, lower_bound) if share_right > 1e-12 else 0.0,
        min(1.0, upper_bound) if share_right < 1 - 1e-12 else 1.0,
    )


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
    tail_probability, num_wrong = (1 - level) / 2, total - right
    lower_bound = float(beta.ppf(tail_probability, right, num_wrong + 1)) if right > 1e-9 else 0.0
    upper_bound = float(beta.ppf(1 - tail_probability, right + 1, num_wrong)) if num_wrong > 1e-9 else 1.0
    return lower_bound, upper_bound


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
        class_sizes = confusion.sum(axis=1)
        present_classes = np.flatnonzero(class_sizes)
        num_found = np.diag(confusion)[present_classes]
        return cls(
            [classes[class_code] for class_code in present_classes], class_sizes[present_classes], num_found, worth
        )

    @property
    def shares(self) -> NDArray[np.float64]:
        """The recall of each class."""
        recall_shares: NDArray[np.float64] = self.found / self.sizes
        return recall_shares

    @property
    def unequal(self) -> bool:
        """Whether some class is so much rarer than another that accuracy alone would mislead."""
        return len(self.classes) > 1 and bool(self.sizes.max() > 2 * self.sizes.min())

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
        found_and_size = zip(self.worth * self.found, self.worth * self.sizes, strict=True)
        recall_bounds = np.array(
            [accuracy_interval(float(num_found), float(class_size)) for num_found, class_size in found_and_size]
        )
        num_classes, mean_recall = len(self.classes), self.balanced_accuracy
        lower_bound = mean_recall - math.sqrt(float(((self.shares - recall_bounds[:, 0]) ** 2).sum())) / num_classes
        upper_bound = mean_recall + math.sqrt(float(((recall_bounds[:, 1] - self.shares) ** 2).sum())) / num_classes
        return max(0.0, lower_bound), min(1.0, upper_bound)

    @property
    def guess(self) -> tuple[Any, float]:
        """The most common class, and the accuracy of always saying it."""
        largest_class = int(self.sizes.argmax())
        return self.classes[largest_class], float(self.sizes[largest_class] / self.sizes.sum())

    def verdict(self, accuracy: float, interval: tuple[float, float]) -> str:
        """Whether the model beats always saying the most common class: "better", "unclear" or "no better".

        Where classes are unequal the balanced accuracy decides, of which a guess has one part in as many classes.

        >>> one = Recall(["ok", "fraud"], np.array([294, 6]), np.array([294, 0]))
        >>> one.balanced_accuracy, one.verdict(0.98, (0.957, 0.991))
        (0.5, 'no better')
        """
        guess_accuracy = self.guess[1]
        if self.unequal:
            accuracy, interval, guess_accuracy = (self.balanced_accuracy, self.balanced_interval, 1 / len(self.classes))
        if accuracy <= guess_accuracy + 1e-9:
            return "no better"
        return "unclear" if interval[0] <= guess_accuracy else "better"

    def record(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            str(label): {"nodes": int(class_size), "found": int(num_found), "recall": float(recall_share)}
            for label, class_size, num_found, recall_share in zip(
                self.classes, self.sizes, self.found, self.shares, strict=True
            )
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
    class_codes = {label: place for place, label in enumerate(classes)}
    own_codes = np.array([class_codes.get(label, -1) for label in labels], dtype=np.int64)
    row_numbers = np.arange(own_codes.size)
    thresholds = np.full(len(class_codes), np.nan)
    for class_code in np.unique(own_codes[own_codes >= 0]).tolist():
        is_class = own_codes == class_code
        thresholds[class_code] = float(shares[is_class, class_code].mean(dtype=np.float64))
    if not own_codes.size:
        return LabelDoubts(thresholds, np.zeros(0, dtype=bool))
    predicted_codes = shares.argmax(axis=1)
    doubt_thresholds = np.where(np.isnan(thresholds), np.inf, thresholds)[predicted_codes]
    is_doubtful: NDArray[np.bool_] = (predicted_codes != own_codes) & (
        shares[row_numbers, predicted_codes] >= doubt_thresholds
    )
    return LabelDoubts(thresholds, is_doubtful)
