"""How predictions of several methods become one: weights and an exponent from out-of-fold predictions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from gramme._types import Floats
from gramme.methods.labels import softmax

MAX_CROSS_FITTED = 20_000  # labels up to which weights are learned anew without each fold
EM_STEPS = 300  # of the expectation-maximisation, which is convex here and settles well before


def mixed_with_prior(probabilities: NDArray[np.floating], prior: Floats) -> Floats:
    """Probabilities with a little of the class frequencies mixed in: no ingredient may rule a class out."""
    prior_share = 0.01
    mixed_probabilities: Floats = (1 - prior_share) * probabilities.astype(np.float64) + prior_share * prior
    return mixed_probabilities


def mixture_weights(
    own: Floats, pseudo_labels: Sequence[float] | Floats, steps: int = EM_STEPS, label_weights: Floats | None = None
) -> Floats:
    """The most probable weights of a mixture, summing to 1.

    ``own`` is the probability that each ingredient gave to the right class of a label it had not seen, (labels,
    ingredients), ``pseudo_labels`` how many labels each is credited with beforehand.

    >>> surer = np.array([[0.9, 0.5]] * 50)
    >>> mixture_weights(surer, [1, 1]).round(1)
    array([1., 0.])
    >>> mixture_weights(surer[:0], [1, 3])
    array([0.25, 0.75])
    """
    pseudo_counts = np.asarray(pseudo_labels, dtype=np.float64)
    ingredient_weights: Floats = pseudo_counts / pseudo_counts.sum()
    for _ in range(steps if own.shape[0] else 0):
        responsibilities = own * ingredient_weights
        responsibilities /= responsibilities.sum(axis=1, keepdims=True)
        if label_weights is not None:
            responsibilities *= label_weights[:, None]
        ingredient_weights = responsibilities.sum(axis=0) + pseudo_counts
        ingredient_weights /= ingredient_weights.sum()
    return ingredient_weights


def cross_fitted(
    parts: Sequence[Floats],
    codes: NDArray[np.int64],
    fold: NDArray[np.int64],
    counted: NDArray[np.bool_],
    pseudo_labels: Sequence[float],
    label_weights: Floats | None = None,
) -> Floats:
    """What the mixture says about each label if ingredients, weights and exponent have not seen its fold.

    ``parts`` is what each ingredient says about labels it had not seen, (labels, classes); weights and exponent are
    learned from the labels that are ``counted``.
    """
    mixed_probabilities = np.empty_like(parts[0])
    # of so many labels, those of one fold hardly change a handful of weights
    fold_numbers = np.unique(fold) if codes.size <= MAX_CROSS_FITTED else [-1]
    for fold_number in fold_numbers:
        in_fold = fold == fold_number if fold_number >= 0 else np.ones(codes.size, dtype=bool)
        is_learned_from = counted & ((fold != fold_number) | (fold_number < 0))
        learned_parts = [part[is_learned_from] for part in parts]
        row_numbers = np.arange(int(is_learned_from.sum()))
        own_probabilities = np.stack([part[row_numbers, codes[is_learned_from]] for part in learned_parts], axis=1)
        learned_weights = None if label_weights is None else label_weights[is_learned_from]
        ingredient_weights = mixture_weights(own_probabilities, pseudo_labels, label_weights=learned_weights)
        exponent = calibrating_exponent(
            pooled(learned_parts, ingredient_weights), codes[is_learned_from], learned_weights
        )
        mixed_probabilities[in_fold] = sharpened(
            pooled([part[in_fold] for part in parts], ingredient_weights), exponent
        )
    return mixed_probabilities


def pooled(parts: Sequence[Floats], weights: Sequence[float] | Floats) -> Floats:
    """The weighted geometric mean of several ingredients' probabilities, made to sum to 1.

    >>> pooled([np.array([[0.5, 0.5]]), np.array([[0.99, 0.01]])], [0.5, 0.5]).round(2)
    array([[0.91, 0.09]])
    """
    mean_logs: Floats = sum(
        (weight * np.log(part) for weight, part in zip(weights, parts, strict=True)), start=np.zeros_like(parts[0])
    )
    return sharpened(np.exp(mean_logs), 1.0)


def sharpened(probabilities: Floats, exponent: float) -> Floats:
    """p^t, made to sum to 1.

    >>> sharpened(np.array([[0.8, 0.2]]), 2).round(3)
    array([[0.941, 0.059]])
    """
    return softmax(exponent * np.log(probabilities))


def calibrating_exponent(probabilities: Floats, codes: NDArray[np.int64], label_weights: Floats | None = None) -> float:
    """The exponent with the least log loss on labels that were not seen; 1 where there are none.

    >>> unsure = np.array([[0.6, 0.4]] * 100)  # and right every time
    >>> calibrating_exponent(unsure, np.zeros(100, dtype=int)) > 2
    True
    """
    if not codes.size:
        return 1.0
    log_probabilities = np.log(probabilities)
    row_numbers = np.arange(codes.size)
    label_counts = np.ones(codes.size) if label_weights is None else label_weights

    def loss(logarithm: float) -> float:
        raised_logs = np.exp(logarithm) * log_probabilities
        highest_logs = raised_logs.max(axis=1)
        log_totals = highest_logs + np.log(np.exp(raised_logs - highest_logs[:, None]).sum(axis=1))
        # five labels' worth of evidence against an exponent a factor e away from 1
        return float(((log_totals - raised_logs[row_numbers, codes]) * label_counts).sum() + 5.0 * logarithm**2)

    best_logarithm = minimize_scalar(loss, bounds=(-1.2, 1.2), method="bounded")
    return float(np.exp(best_logarithm.x))
