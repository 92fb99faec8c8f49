"""The file of a mixture holds the fitted models it is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from gramme._types import Floats
from gramme.methods.base import GraphEstimator
from gramme.methods.labels import softmax
from gramme.methods.persistence import Learned, MisfitError, SavedField, Sizes, from_json, to_json

# How predictions of several methods become one: weights and an exponent from out-of-fold
# predictions.


PRIOR_SHARE = 0.01
"""Part of the class frequencies in every ingredient's probabilities: none may rule a class out."""
MAX_CROSS_FITTED = 20_000  # labels up to which weights are learned anew without each fold
EM_STEPS = 300  # of the expectation-maximisation, which is convex here and settles well before
MAX_LOG_EXPONENT = 1.2  # the logarithm of the exponent stays within plus or minus this
EXPONENT_CAUTION = 5.0  # labels' worth of evidence against an exponent a factor e away from 1


def mixed_with_prior(probabilities: NDArray[np.floating], prior: Floats) -> Floats:
    """Probabilities with a little doubt mixed in."""
    mixed: Floats = (1 - PRIOR_SHARE) * probabilities.astype(np.float64) + PRIOR_SHARE * prior
    return mixed


def mixture_weights(
    own: Floats, pseudo_labels: Sequence[float] | Floats, steps: int = EM_STEPS
) -> Floats:
    """The most probable weights of a mixture, summing to 1.

    Parameters
    ----------
    own : array, shape (labels, ingredients)
        The probability each ingredient gave to the right class of a label it had not seen.
    pseudo_labels : sequence of float
        How many labels each ingredient is credited with beforehand.

    Examples
    --------
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
        weights = shares.sum(axis=0) + credit
        weights /= weights.sum()
    return weights


def cross_fitted(
    parts: Sequence[Floats],
    codes: NDArray[np.int64],
    fold: NDArray[np.int64],
    counted: NDArray[np.bool_],
    pseudo_labels: Sequence[float],
) -> Floats:
    """What the mixture says about each label if ingredients, weights and exponent have not seen its fold.

    Parameters
    ----------
    parts : sequence of arrays, shape (labels, classes)
        What each ingredient says about labels it had not seen.
    codes, fold : array of int, shape (labels,)
    counted : array of bool, shape (labels,)
        The labels that weights and exponent are learned from.
    pseudo_labels : sequence of float
        As for :func:`mixture_weights`.
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
        weights = mixture_weights(own, pseudo_labels)
        exponent = calibrating_exponent(pooled(seen, weights), codes[others])
        found[mine] = sharpened(pooled([part[mine] for part in parts], weights), exponent)
    return found


def pooled(parts: Sequence[Floats], weights: Sequence[float] | Floats) -> Floats:
    """The weighted geometric mean of several ingredients' probabilities, made to sum to 1.

    >>> pooled([np.array([[0.5, 0.5]]), np.array([[0.99, 0.01]])], [0.5, 0.5]).round(2)
    array([[0.91, 0.09]])
    """
    mean: Floats = sum(
        (weight * np.log(part) for weight, part in zip(weights, parts, strict=True)),
        start=np.zeros_like(parts[0]),
    )
    return sharpened(np.exp(mean), 1.0)


def sharpened(probabilities: Floats, exponent: float) -> Floats:
    """p^t, made to sum to 1.

    >>> sharpened(np.array([[0.8, 0.2]]), 2).round(3)
    array([[0.941, 0.059]])
    """
    return softmax(exponent * np.log(probabilities))


def calibrating_exponent(probabilities: Floats, codes: NDArray[np.int64]) -> float:
    """The exponent with the least log loss on labels that were not seen; 1 where there are none.

    >>> unsure = np.array([[0.6, 0.4]] * 100)  # and right every time
    >>> calibrating_exponent(unsure, np.zeros(100, dtype=int)) > 2
    True
    """
    if not codes.size:
        return 1.0
    scores = np.log(probabilities)
    rows = np.arange(codes.size)

    def loss(logarithm: float) -> float:
        raised = np.exp(logarithm) * scores
        top = raised.max(axis=1)
        total = top + np.log(np.exp(raised - top[:, None]).sum(axis=1))
        return float((total - raised[rows, codes]).sum() + EXPONENT_CAUTION * logarithm**2)

    best = minimize_scalar(loss, bounds=(-MAX_LOG_EXPONENT, MAX_LOG_EXPONENT), method="bounded")
    return float(np.exp(best.x))


SHARED = ("classes", "layers", "nodes")  # what all ingredients know alike is saved once


class Kind(Protocol):
    """An ingredient, as far as its file goes: which class it is of."""

    @property
    def estimator(self) -> type[GraphEstimator]:
        """The class of the method."""


class SavedModels(SavedField):
    """The fitted ingredients, each with its parameters; what all of them know alike is saved once.

    Parameters
    ----------
    name : str
    ingredients : mapping of str to Ingredient
    """

    def __init__(self, name: str, ingredients: Mapping[str, Kind]) -> None:
        super().__init__(name)
        self.ingredients = ingredients

    def save(self, model: GraphEstimator, learned: Learned) -> None:
        learned.record[self.name] = {}
        for name, inner in getattr(model, self.attribute).items():
            own = inner._learned()
            learned.record[self.name][name] = {
                "parameters": {
                    key: to_json(value, key) for key, value in inner.get_params().items()
                },
                "learned": {key: v for key, v in own.record.items() if key not in SHARED},
            }
            learned.tensors |= {f"{name}/{key}": value for key, value in own.tensors.items()}

    def load(self, model: GraphEstimator, learned: Learned, sizes: Sizes) -> None:
        entry = self.entry(learned.record)
        if not isinstance(entry, dict) or not set(entry) <= set(self.ingredients):
            raise self.misfit("models by the names of ingredients", entry)
        shared = {key: learned.record[key] for key in SHARED if key in learned.record}
        found = {}
        for name, saved in entry.items():
            try:
                parameters = {key: from_json(value) for key, value in saved["parameters"].items()}
                record = saved["learned"] | shared
            except (TypeError, KeyError, AttributeError) as error:
                raise self.misfit(f"parameters and what was learned for {name}") from error
            start = f"{name}/"
            tensors = {
                key.removeprefix(start): value
                for key, value in learned.tensors.items()
                if key.startswith(start)
            }
            try:
                kind = self.ingredients[name].estimator
                found[name] = kind._restored(parameters, Learned(record, tensors))
            except MisfitError as error:
                raise MisfitError(f"{name}: {error}") from error
        setattr(model, self.attribute, found)
