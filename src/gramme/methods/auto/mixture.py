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
    doubt = 0.01
    mixed: Floats = (1 - doubt) * probabilities.astype(np.float64) + doubt * prior
    return mixed


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
    credit = np.asarray(pseudo_labels, dtype=np.float64)
    weights: Floats = credit / credit.sum()
    for _ in range(steps if own.shape[0] else 0):
        shares = own * weights
        shares /= shares.sum(axis=1, keepdims=True)
        if label_weights is not None:
            shares *= label_weights[:, None]
        weights = shares.sum(axis=0) + credit
        weights /= weights.sum()
    return weights


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
    found = np.empty_like(parts[0])
    # of so many labels, those of one fold hardly change a handful of weights
    numbers = np.unique(fold) if codes.size <= MAX_CROSS_FITTED else [-1]
    for number in numbers:
        mine = fold == number if number >= 0 else np.ones(codes.size, dtype=bool)
        others = counted & ((fold != number) | (number < 0))
        seen = [part[others] for part in parts]
        rows = np.arange(int(others.sum()))
        own = np.stack([part[rows, codes[others]] for part in seen], axis=1)
        counts = None if label_weights is None else label_weights[others]
        weights = mixture_weights(own, pseudo_labels, label_weights=counts)
        exponent = calibrating_exponent(pooled(seen, weights), codes[others], counts)
        found[mine] = sharpened(pooled([part[mine] for part in parts], weights), exponent)
    return found


def pooled(parts: Sequence[Floats], weights: Sequence[float] | Floats) -> Floats:
    """The weighted geometric mean of several ingredients' probabilities, made to sum to 1.

    >>> pooled([np.array([[0.5, 0.5]]), np.array([[0.99, 0.01]])], [0.5, 0.5]).round(2)
    array([[0.91, 0.09]])
    """
    mean: Floats = sum(
        (weight * np.log(part) for weight, part in zip(weights, parts, strict=True)), start=np.zeros_like(parts[0])
    )
    return sharpened(np.exp(mean), 1.0)


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
    scores = np.log(probabilities)
    rows = np.arange(codes.size)
    counts = np.ones(codes.size) if label_weights is None else label_weights

    def loss(logarithm: float) -> float:
        raised = np.exp(logarithm) * scores
        top = raised.max(axis=1)
        total = top + np.log(np.exp(raised - top[:, None]).sum(axis=1))
        # five labels' worth of evidence against an exponent a factor e away from 1
        return float(((total - raised[rows, codes]) * counts).sum() + 5.0 * logarithm**2)

    best = minimize_scalar(loss, bounds=(-1.2, 1.2), method="bounded")
    return float(np.exp(best.x))
