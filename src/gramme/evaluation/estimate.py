"""How good a model is, judged by labels that it did not see: accuracy, interval, confusion."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.graph import sorted_labels
from gramme.methods import NodeClassifier
from gramme.methods.cross_fitting import OutOfFold, fewest_labels

from .calibration import reliability_table
from .metrics import LabelDoubts, Recall, accuracy_interval, exact_interval, label_doubts
from .splits import Holdout


def unseen_of(estimate: Estimate, classes: NDArray[Any]) -> OutOfFold:
    """The predictions behind an estimate, with a column for each of a model's classes."""
    class_codes = {label: class_code for class_code, label in enumerate(classes.tolist())}
    class_probabilities = np.zeros((len(estimate.labels), len(class_codes)))
    class_probabilities[:, [class_codes[label] for label in estimate.classes]] = estimate.shares
    label_codes = np.array([class_codes.get(label, -1) for label in estimate.labels], dtype=np.int64)
    return OutOfFold(estimate.tested, label_codes, class_probabilities, estimate.folds)


def set_facts(
    model: NodeClassifier, coverage: float, *, by_class: bool = False
) -> tuple[NDArray[np.bool_], dict[str, Any]]:
    """The prediction sets of a fitted model's nodes, and a record of them that JSON can hold.

    The record has ``coverage``, ``expected`` (how often the sets hold the true class: more than ``coverage`` where the
    most probable class alone is right more often), ``alone`` (whether it is, in whole percent, with no second class),
    ``by_class``, ``tested`` (labels the promise rests on), ``halved`` (whether models of half of the labels told how
    much more the model knows than those that were tested), ``enough`` (whether there are enough labels),
    ``unsettled`` (classes with too few labels of their own, by class only), ``thresholds`` by class, ``sizes`` (how
    many of the nodes to predict have a set of 1, 2, ... classes) and ``undecided``: the most frequent sets of several
    classes with the number of nodes of each.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said from the record
        class_sets = model.predict_set(coverage=coverage, by_class=by_class)
        set_thresholds = model.set_thresholds(coverage, by_class=by_class)
        expected_coverage = model.expected_coverage(coverage, by_class=by_class)
    out_of_fold = model.out_of_fold()
    class_names = [str(label) for label in model.classes_.tolist()]
    has_enough_labels = out_of_fold.nodes.size >= fewest_labels(coverage)
    class_counts = np.bincount(out_of_fold.codes[out_of_fold.codes >= 0], minlength=len(class_names))
    scarce_classes = [
        name for name, node_count in zip(class_names, class_counts, strict=True) if node_count < fewest_labels(coverage)
    ]
    unlabelled_sets = class_sets[~model.labelled_]
    set_size_counts = np.bincount(unlabelled_sets.sum(axis=1), minlength=1)
    undecided_sets = Counter(set_row.tobytes() for set_row in unlabelled_sets[unlabelled_sets.sum(axis=1) > 1])
    return class_sets, {
        "coverage": coverage,
        "expected": round(expected_coverage, 6),
        "alone": bool((set_thresholds >= 1).all() and expected_coverage >= coverage + 0.005),
        "by_class": by_class,
        "tested": int(out_of_fold.nodes.size),
        "halved": hasattr(model, "halved_probabilities_"),
        "needed": fewest_labels(coverage),
        "enough": bool(has_enough_labels),
        "unsettled": scarce_classes if by_class and has_enough_labels else [],
        "thresholds": {
            name: round(float(set_threshold), 6)
            for name, set_threshold in zip(class_names, set_thresholds, strict=True)
        },
        "sizes": {str(set_size): int(node_count) for set_size, node_count in enumerate(set_size_counts) if node_count},
        "undecided": [
            {
                "classes": [class_names[class_code] for class_code in np.flatnonzero(np.frombuffer(set_row, bool))],
                "nodes": node_count,
            }
            for set_row, node_count in undecided_sets.most_common(10)
        ],
    }


def joined_sets(sets: NDArray[np.bool_], classes: NDArray[Any]) -> list[str]:
    r"""Each set as text, its classes joined by ``|``; within a name, ``|`` and ``\`` are written with a ``\`` before.

    >>> joined_sets(np.array([[True, True], [False, True]]), np.array(["a", "b|c"]))
    ['a|b\\|c', 'b\\|c']
    """
    class_names = [str(label).replace("\\", "\\\\").replace("|", "\\|") for label in classes.tolist()]
    return [
        "|".join(name for name, is_member in zip(class_names, set_row, strict=True) if is_member)
        for set_row in sets.tolist()
    ]


CROSS_TESTED_VARIANCE = 1.4
"""Of the accuracy by cross-validation or cross-fitting, in units of that of as many independent tests; chosen on three
datasets, see docs/understand/evaluation.md."""


@dataclass(frozen=True)
class Estimate:
    """What predictions for nodes with a known label, made without that label, tell about a model.

    Attributes
    ----------
    kind : {"holdout", "cross-validation", "cross-fitting", "none"}
    note : str
        In words: how it was found, or why there is none.
    tested : array of int
        Positions of the nodes that were predicted without their label.
    labels, predicted : list
        Their labels and what was predicted, in the same order.
    classes : list
        The classes the models know.
    shares : array of float, shape (tested, classes)
        The class probabilities each was given.
    folds : int
        Into how many parts the labels were divided, and how many of these were tested; 0 for a holdout.
    to_predict : int
        The nodes without a label, for which the accuracy is meant; 0 where it is meant for any number of others.
    """

    kind: str
    note: str
    tested: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    labels: list[Any] = field(default_factory=list)
    predicted: list[Any] = field(default_factory=list)
    classes: list[Any] = field(default_factory=list)
    shares: NDArray[np.floating[Any]] = field(default_factory=lambda: np.zeros((0, 0)))
    folds: int = 0
    folds_tested: int = 0
    to_predict: int = 0

    @property
    def accuracy(self) -> float | None:
        """The share of tested nodes that were predicted correctly; None without tested nodes."""
        return self._right() / len(self.labels) if self.labels else None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the accuracy on the nodes without a label.

        Wilson's for labels that were set aside. By cross-validation or cross-fitting it is the exact one, with each
        test counted by its worth, and its upper end is for a model of all labels: one of ``folds`` parts more than the
        tested models had, with errors that become fewer in proportion to the labels at most. Without that, intervals
        miss above far more often than below (docs/evidence/intervals.md).
        """
        effective_right, effective_total = self.worth * self._right(), self.worth * len(self.labels)
        if self.kind == "holdout" or not self.labels:
            return accuracy_interval(effective_right, effective_total)
        lower_bound, upper_bound = exact_interval(effective_right, effective_total)
        return lower_bound, 1 - (1 - upper_bound) * (1 - 1 / max(self.folds, 2))

    @property
    def worth(self) -> float:
        """How many independent tests a tested node is worth: 1 for labels that were set aside, else less.

        Models that test each other's labels have learned from much the same ones, so that they err together: their mean
        has ``CROSS_TESTED_VARIANCE`` times the variance of independent tests. And the nodes to predict are a sample as
        well: the nodes that are hard to predict are either among them or among the tested. Both are shown in
        docs/understand/evaluation.md.
        """
        if self.kind == "holdout" or not self.labels:
            return 1.0
        labels_per_prediction = min(len(self.labels) / self.to_predict, 1.0) if self.to_predict else 0.0
        return 1 / (CROSS_TESTED_VARIANCE + labels_per_prediction)

    def _right(self) -> int:
        return sum(
            known_label == predicted_label
            for known_label, predicted_label in zip(self.labels, self.predicted, strict=True)
        )

    def confusion(self) -> tuple[list[Any], NDArray[np.int64]]:
        """The classes, and how often each (row) was predicted as each (column).

        >>> Estimate("holdout", "", labels=["a", "b"], predicted=["a", "a"]).confusion()
        (['a', 'b'], array([[1, 0],
               [1, 0]]))
        """
        classes = sorted_labels([*self.labels, *self.predicted])
        class_codes = {label: class_code for class_code, label in enumerate(classes)}
        confusion_counts = np.zeros((len(classes), len(classes)), dtype=np.int64)
        for known_label, predicted_label in zip(self.labels, self.predicted, strict=True):
            confusion_counts[class_codes[known_label], class_codes[predicted_label]] += 1
        return classes, confusion_counts

    def recall(self) -> Recall:
        """How many nodes of each class were found."""
        return Recall.of(*self.confusion(), self.worth)

    def doubts(self) -> LabelDoubts:
        """Which of the labels look wrong, by confident learning."""
        return label_doubts(self.labels, self.classes, self.shares)

    def reliability(self) -> pd.DataFrame:
        """How often predictions of about the same probability were right."""
        class_codes = {label: class_code for class_code, label in enumerate(self.classes)}
        label_codes = np.array([class_codes.get(label, -1) for label in self.labels], dtype=np.int64)
        return reliability_table(self.shares, label_codes)

    def predictions(self, nodes: Any) -> dict[Any, dict[str, Any]]:
        """What was said about each tested node without its label.

        ``predicted`` with its ``probability``, the probability of its ``own`` label, and ``suggested``: the predicted
        class where the label looks wrong, else None.
        """
        class_codes = {label: place for place, label in enumerate(self.classes)}
        doubtful = self.doubts().doubtful
        return {
            nodes[place]: {
                "predicted": predicted_label,
                "probability": float(probability_row[class_codes[predicted_label]]),
                "own": float(probability_row[class_codes[label]]) if label in class_codes else 0.0,
                "suggested": predicted_label if is_doubtful else None,
            }
            for place, label, predicted_label, probability_row, is_doubtful in zip(
                self.tested.tolist(), self.labels, self.predicted, self.shares, doubtful, strict=True
            )
        }

    def record(self) -> dict[str, Any]:
        """All but the single predictions, as JSON can hold it."""
        if not self.labels or self.accuracy is None:
            return {"kind": "none", "note": self.note, "nodes": 0}
        classes, confusion_counts = self.confusion()
        recall = self.recall()
        majority_class, guess_accuracy = recall.guess
        doubts = self.doubts()
        return {
            "kind": self.kind,
            "note": self.note,
            "accuracy": self.accuracy,
            "accuracy_ci95": list(self.interval),
            "balanced_accuracy": recall.balanced_accuracy,
            "balanced_accuracy_ci95": list(recall.balanced_interval),
            "unequal_classes": recall.unequal,
            "recall": recall.record(),
            "guess": {"class": str(majority_class), "accuracy": guess_accuracy},
            "against_guess": recall.verdict(self.accuracy, self.interval),
            "nodes": len(self.labels),
            "independent_tests": round(self.worth * len(self.labels), 1),
            "folds": self.folds,
            "folds_tested": self.folds_tested,
            "confusion": {
                "classes": [str(class_label) for class_label in classes],
                "counts": confusion_counts.tolist(),
            },
            "reliability": self.reliability().round(4).to_dict(orient="list"),
            "doubtful_labels": int(doubts.doubtful.sum()),
            "label_thresholds": {
                str(label): round(float(doubt_threshold), 4)
                for label, doubt_threshold in zip(self.classes, doubts.thresholds, strict=True)
                if doubt_threshold == doubt_threshold  # NaN where no tested node has the class
            },
        }


@dataclass(frozen=True)
class UnseenPredictions:
    """What one model's class probabilities say about the nodes it is tested on."""

    tested: NDArray[np.int64]
    labels: list[Any]
    classes: list[Any]
    shares: NDArray[np.floating[Any]]

    @classmethod
    def of(
        cls, tested: NDArray[np.int64], labels: NDArray[np.object_], classes: NDArray[Any], shares: Any
    ) -> UnseenPredictions:
        """From the labels and the class probabilities of all nodes."""
        return cls(tested, list(labels[tested]), classes.tolist(), shares[tested])


def joined_estimate(
    kind: str, note: str, parts: list[UnseenPredictions], folds: int = 0, folds_tested: int = 0, to_predict: int = 0
) -> Estimate:
    """One estimate from several parts, whose models may know different classes."""
    classes = sorted_labels([label for part in parts for label in part.classes])
    class_codes = {label: class_code for class_code, label in enumerate(classes)}
    probability_rows = []
    for unseen_part in parts:
        wide_rows = np.zeros((len(unseen_part.labels), len(classes)), dtype=unseen_part.shares.dtype)
        wide_rows[:, [class_codes[label] for label in unseen_part.classes]] = unseen_part.shares
        probability_rows.append(wide_rows)
    all_probabilities = np.concatenate(probability_rows)
    return Estimate(
        kind,
        note,
        tested=np.concatenate([part.tested for part in parts]),
        labels=[label for part in parts for label in part.labels],
        predicted=[classes[class_code] for class_code in all_probabilities.argmax(axis=1)],
        classes=classes,
        shares=all_probabilities,
        folds=folds,
        folds_tested=folds_tested,
        to_predict=to_predict,
    )


def holdout_estimate(split: Holdout, classes: NDArray[Any], shares: Any) -> Estimate:
    """The estimate of a model that was fitted without the labels of a holdout."""
    if not split.held_out.size:
        raise DataError("no labels were set aside, so there is nothing to test on")
    holdout_note = (
        f"{split.held_out.size:,} labelled nodes, drawn at random, were set aside before anything was learned and "
        "then predicted"
    )
    unseen_part = UnseenPredictions.of(split.held_out, split.labels, classes, shares)
    return joined_estimate("holdout", holdout_note, [unseen_part])
