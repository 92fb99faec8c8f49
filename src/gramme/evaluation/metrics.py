"""How good predictions are: accuracy, macro F1, log loss and calibration, also for classes a method never saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
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
    truth: Sequence[Any] | NDArray[np.object_],
    probabilities: NDArray[np.floating[Any]],
    classes: Sequence[Any],
) -> Scores:
    """Compare predictions with the true labels.

    Parameters
    ----------
    truth : sequence
        True labels of the test nodes.
    probabilities : array, shape (test nodes, classes)
    classes : sequence
        The classes the method knows, in the order of the columns; true labels may be others.

    Examples
    --------
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
