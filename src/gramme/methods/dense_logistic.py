"""Multinomial logistic regression on dense columns, its penalty chosen on the training labels."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from gramme.methods.labels import KnownLabels
from gramme.methods.propagation_choice import split_folds

FOLDS = 5
ENOUGH = 10_000  # labels that C is chosen on at most

Matrix = NDArray[np.float32]
Floats = NDArray[np.float64]


def class_shares(table: Matrix, coefficients: Floats, intercept: Floats) -> Floats:
    """Class probabilities of the rows of a table."""
    scores = table @ coefficients + intercept
    scores -= scores.max(axis=1, keepdims=True)
    weights = np.exp(scores)
    result: Floats = weights / weights.sum(axis=1, keepdims=True)
    return result


def regression(
    rows: Matrix, codes: NDArray[np.int64], classes: int, strength: float
) -> tuple[Floats, Floats]:
    """Coefficients (columns, classes) and intercepts; classes that are not among the codes get no chance."""
    found = np.unique(codes)
    coefficients = np.zeros((rows.shape[1], classes))
    intercept = np.where(np.isin(np.arange(classes), found), 0.0, -np.inf)
    if found.size > 1:
        model = LogisticRegression(C=strength, max_iter=500)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the penalty keeps it near
            model.fit(rows, codes)
        # of two classes scikit-learn keeps one column, the second one's
        learned = found[1:] if found.size == 2 else found
        coefficients[:, learned] = model.coef_.T
        intercept[learned] = model.intercept_
    return coefficients, intercept


def chosen_strength(
    rows: Matrix, known: KnownLabels, strengths: Sequence[float], seed: int
) -> float:
    """The C with the least log loss on held-out training labels; the first where there is nothing to test."""
    codes, classes = known.codes, len(known.classes)
    if codes.size > ENOUGH:
        some = np.random.default_rng(seed).choice(codes.size, ENOUGH, replace=False)
        rows, codes = rows[some], codes[some]
    tested = np.bincount(codes, minlength=classes)[codes] > 1
    if not tested.any():
        return strengths[0]
    fold = split_folds(codes, FOLDS, seed)
    losses = []
    for strength in strengths:
        loss = 0.0
        for number in range(int(fold.max()) + 1):
            held = fold == number
            fitted = regression(rows[~held], codes[~held], classes, strength)
            own = class_shares(rows[held], *fitted)[np.arange(int(held.sum())), codes[held]]
            loss -= float(np.log(np.maximum(own, 1e-3))[tested[held]].sum())
        losses.append(loss)
    return strengths[int(np.argmin(losses))]
