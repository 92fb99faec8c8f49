"""Facts about prediction sets: the promise, how many classes they hold, which classes are hard to tell apart."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramme.evaluation.estimate import Estimate
from gramme.methods import NodeClassifier
from gramme.methods.out_of_fold import OutOfFold
from gramme.methods.set_promise import fewest_labels

MAX_UNDECIDED_SHOWN = 10
"""Sets of several classes that are named, the most frequent first."""


def unseen_of(estimate: Estimate, classes: NDArray[Any]) -> OutOfFold:
    """The predictions behind an estimate, with a column for each of a model's classes."""
    number = {label: place for place, label in enumerate(classes.tolist())}
    shares = np.zeros((len(estimate.labels), len(number)))
    shares[:, [number[label] for label in estimate.classes]] = estimate.shares
    codes = np.array([number.get(label, -1) for label in estimate.labels], dtype=np.int64)
    return OutOfFold(estimate.tested, codes, shares, estimate.folds)


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
        sets = model.predict_set(coverage=coverage, by_class=by_class)
        bars = model.set_thresholds(coverage, by_class=by_class)
        expected = model.expected_coverage(coverage, by_class=by_class)
    seen = model.out_of_fold()
    classes = [str(label) for label in model.classes_.tolist()]
    enough = seen.nodes.size >= fewest_labels(coverage)
    counts = np.bincount(seen.codes[seen.codes >= 0], minlength=len(classes))
    few = [
        name for name, count in zip(classes, counts, strict=True) if count < fewest_labels(coverage)
    ]
    free = sets[~model.labelled_]
    sizes = np.bincount(free.sum(axis=1), minlength=1)
    several = Counter(row.tobytes() for row in free[free.sum(axis=1) > 1])
    return sets, {
        "coverage": coverage,
        "expected": round(expected, 6),
        "alone": bool((bars >= 1).all() and expected >= coverage + 0.005),
        "by_class": by_class,
        "tested": int(seen.nodes.size),
        "halved": model.out_of_half() is not None,
        "needed": fewest_labels(coverage),
        "enough": bool(enough),
        "unsettled": few if by_class and enough else [],
        "thresholds": {name: round(float(bar), 6) for name, bar in zip(classes, bars, strict=True)},
        "sizes": {str(size): int(count) for size, count in enumerate(sizes) if count},
        "undecided": [
            {
                "classes": [classes[place] for place in np.flatnonzero(np.frombuffer(row, bool))],
                "nodes": count,
            }
            for row, count in several.most_common(MAX_UNDECIDED_SHOWN)
        ],
    }


def joined_sets(sets: NDArray[np.bool_], classes: NDArray[Any]) -> list[str]:
    r"""Each set as text, its classes joined by ``|``; within a name, ``|`` and ``\`` are written with a ``\`` before.

    >>> joined_sets(np.array([[True, True], [False, True]]), np.array(["a", "b|c"]))
    ['a|b\\|c', 'b\\|c']
    """
    names = [str(label).replace("\\", "\\\\").replace("|", "\\|") for label in classes.tolist()]
    return [
        "|".join(name for name, there in zip(names, row, strict=True) if there)
        for row in sets.tolist()
    ]
