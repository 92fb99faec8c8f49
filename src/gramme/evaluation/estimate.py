"""How good a model is, as far as labels that it did not see can tell: an accuracy, its interval, who was confused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.evaluation.holdout import Holdout
from gramme.evaluation.intervals import accuracy_interval
from gramme.graph import sorted_labels


@dataclass(frozen=True)
class Estimate:
    """What predictions for nodes with a known label, made without that label, tell about a model.

    Attributes
    ----------
    kind : {"holdout", "cross-validation", "none"}
    note : str
        In words: how it was found, or why there is none.
    tested : array of int
        Positions of the nodes that were predicted without their label.
    labels, predicted : list
        Their labels and what was predicted, in the same order.
    probability : array of float
        The probability each was given of having its own label.
    folds : int
        Into how many parts the labels were divided, and how many of these were tested; 0 for a holdout.
    """

    kind: str
    note: str
    tested: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    labels: list[Any] = field(default_factory=list)
    predicted: list[Any] = field(default_factory=list)
    probability: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    folds: int = 0
    folds_tested: int = 0

    @property
    def accuracy(self) -> float | None:
        """The share of tested nodes that were predicted rightly; None without tested nodes."""
        return self._right() / len(self.labels) if self.labels else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the accuracy."""
        return accuracy_interval(self._right(), len(self.labels))

    def _right(self) -> int:
        return sum(known == guess for known, guess in zip(self.labels, self.predicted, strict=True))

    def confusion(self) -> tuple[list[Any], NDArray[np.int64]]:
        """The classes, and how often each (row) was predicted as each (column).

        >>> Estimate("holdout", "", labels=["a", "b"], predicted=["a", "a"]).confusion()
        (['a', 'b'], array([[1, 0],
               [1, 0]]))
        """
        classes = sorted_labels([*self.labels, *self.predicted])
        number = {label: place for place, label in enumerate(classes)}
        counts = np.zeros((len(classes), len(classes)), dtype=np.int64)
        for known, guess in zip(self.labels, self.predicted, strict=True):
            counts[number[known], number[guess]] += 1
        return classes, counts

    def predictions(self, nodes: Any) -> dict[Any, list[Any]]:
        """For each tested node what was predicted without its label, and the probability given to its own label."""
        return {
            nodes[place]: [guess, float(probability)]
            for place, guess, probability in zip(
                self.tested.tolist(), self.predicted, self.probability, strict=True
            )
        }

    def record(self) -> dict[str, Any]:
        """All but the single predictions, as JSON can hold it."""
        if not self.labels:
            return {"kind": "none", "note": self.note, "nodes": 0}
        classes, counts = self.confusion()
        return {
            "kind": self.kind,
            "note": self.note,
            "accuracy": self.accuracy,
            "accuracy_ci95": list(self.interval),
            "nodes": len(self.labels),
            "folds": self.folds,
            "folds_tested": self.folds_tested,
            "confusion": {"classes": [str(one) for one in classes], "counts": counts.tolist()},
        }


def tested_part(
    tested: NDArray[np.int64], labels: NDArray[np.object_], classes: NDArray[Any], shares: Any
) -> dict[str, Any]:
    """What a model's class probabilities (nodes, classes) say about the tested nodes, as parts of an estimate."""
    chosen = shares[tested]
    listed = classes.tolist()
    number = {label: place for place, label in enumerate(listed)}
    known = list(labels[tested])
    own = [number.get(label, -1) for label in known]
    probability = [
        row[place] if place >= 0 else 0.0 for row, place in zip(chosen, own, strict=True)
    ]
    return {
        "tested": tested,
        "labels": known,
        "predicted": [listed[place] for place in chosen.argmax(axis=1)],
        "probability": np.array(probability, dtype=np.float64),
    }


def holdout_estimate(split: Holdout, classes: NDArray[Any], shares: Any) -> Estimate:
    """The estimate of a model that was fitted on the labels a holdout left."""
    if not split.held_out.size:
        raise DataError("no labels were set aside, so there is nothing to test on")
    note = (
        f"{split.held_out.size:,} labelled nodes, drawn at random, were set aside before anything was learned and "
        "then predicted"
    )
    return Estimate("holdout", note, **tested_part(split.held_out, split.labels, classes, shares))
