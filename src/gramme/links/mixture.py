"""The mixture of evidence: logistic regression for a layer and for all, and trees, weighed by pairs they had not seen.

Every part gives the log-odds of a link. Their weights are chosen on predictions for pairs that the part was not fitted
on, and so is the line that makes the mixture's probabilities right on average (calibration). Probabilities are those of
a pair drawn from as many linked as unlinked pairs, since nobody knows how many links are missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gramme.links.trees import Trees

FEWEST_FOR_TREES = 400
"""Pairs of a layer from which on trees of its own are fitted."""
FOLDS = 5
STRENGTHS = (0.01, 0.1, 1.0)
_STEEPEST = 30.0

Floats = NDArray[np.float64]
Linked = NDArray[np.bool_]


@dataclass(frozen=True)
class Line:
    """Logistic regression on columns scaled by their spread."""

    mean: Floats
    scale: Floats
    weight: Floats
    offset: float

    @classmethod
    def fitted(cls, rows: Floats, linked: Linked, strength: float) -> Line:
        """With an L2 penalty; a smaller strength holds weights nearer to 0."""
        from sklearn.linear_model import LogisticRegression

        mean, scale = rows.mean(axis=0), rows.std(axis=0)
        scale = np.where(scale > 1e-9, scale, 1.0)
        model = LogisticRegression(C=strength, max_iter=500).fit((rows - mean) / scale, linked)
        return cls(mean, scale, model.coef_[0], float(model.intercept_[0]))

    def log_odds(self, rows: Floats) -> Floats:
        """The log-odds of a link for each row."""
        found: Floats = ((rows - self.mean) / self.scale) @ self.weight + self.offset
        return found

    def contributions(self, rows: Floats) -> Floats:
        """What each column adds to the log-odds, against an average pair."""
        found: Floats = (rows - self.mean) / self.scale * self.weight
        return found


@dataclass
class LayerMixture:
    """The parts for one layer with their weights and the line of calibration."""

    parts: dict[str, Line | Trees] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    slope: float = 1.0
    offset: float = 0.0

    def probability(self, rows: Floats) -> Floats:
        """The probability of a link for each row of evidence."""
        odds = np.zeros(len(rows))
        for name, part in self.parts.items():
            odds += self.weights[name] * _bounded(part.log_odds(rows))
        return _share(self.slope * odds + self.offset)


@dataclass(frozen=True)
class LayerExamples:
    """Evidence of the pairs of one layer, and whether they are linked."""

    rows: Floats
    linked: Linked


def fitted_mixtures(
    examples: dict[str, LayerExamples], seed: int
) -> tuple[dict[str, LayerMixture], dict[str, Floats]]:
    """A mixture per layer, and the probabilities it gives to its examples when it had not seen them."""
    random = np.random.default_rng(seed)
    folds = {name: random.permutation(len(one.linked)) % FOLDS for name, one in examples.items()}
    everything = _stacked(examples, folds)
    unseen_pooled = _out_of_fold(*everything, _line_maker(everything[0], everything[1]))
    pooled = _line_maker(everything[0], everything[1])(everything[0], everything[1])
    found: dict[str, LayerMixture] = {}
    unseen: dict[str, Floats] = {}
    begin = 0
    for name, one in examples.items():
        end = begin + len(one.linked)
        makers = _makers(one, seed)
        odds = {"all layers": unseen_pooled[begin:end]}
        parts: dict[str, Line | Trees] = {"all layers": pooled}
        for part, make in makers.items():
            odds[part] = _out_of_fold(one.rows, one.linked, folds[name], make)
            parts[part] = make(one.rows, one.linked)
        weights = _weights(odds, one.linked)
        mixed = sum(weights[part] * _bounded(odds[part]) for part in odds)
        slope, offset = _calibration(np.asarray(mixed), one.linked)
        kept = {part: model for part, model in parts.items() if weights[part] > 0}
        found[name] = LayerMixture(kept, {part: weights[part] for part in kept}, slope, offset)
        unseen[name] = _share(slope * np.asarray(mixed) + offset)
        begin = end
    return found, unseen


def _makers(one: LayerExamples, seed: int) -> dict[str, Callable[[Floats, Linked], Line | Trees]]:
    if len(np.unique(one.linked)) < 2 or min(one.linked.sum(), (~one.linked).sum()) < FOLDS:
        return {}
    makers: dict[str, Callable[[Floats, Linked], Line | Trees]] = {
        "the layer": _line_maker(one.rows, one.linked)
    }
    if len(one.linked) >= FEWEST_FOR_TREES:
        makers["trees"] = lambda rows, linked: Trees.fitted(rows, linked, seed)
    return makers


def _line_maker(rows: Floats, linked: Linked) -> Callable[[Floats, Linked], Line]:
    """Logistic regression with a penalty that suits the number of examples."""
    strength = STRENGTHS[0] if len(linked) < 200 else STRENGTHS[1] if len(linked) < 5000 else 1.0

    def make(some: Floats, those: Linked) -> Line:
        return Line.fitted(some, those, strength)

    return make


def _stacked(
    examples: dict[str, LayerExamples], folds: dict[str, NDArray[np.int64]]
) -> tuple[Floats, Linked, NDArray[np.int64]]:
    return (
        np.concatenate([one.rows for one in examples.values()]),
        np.concatenate([one.linked for one in examples.values()]),
        np.concatenate([folds[name] for name in examples]),
    )


def _out_of_fold(
    rows: Floats,
    linked: Linked,
    folds: NDArray[np.int64],
    make: Callable[[Floats, Linked], Line | Trees],
) -> Floats:
    found = np.zeros(len(linked))
    for fold in range(FOLDS):
        inside = folds != fold
        if (~inside).any() and len(np.unique(linked[inside])) == 2:
            found[~inside] = make(rows[inside], linked[inside]).log_odds(rows[~inside])
    return found


def _weights(odds: dict[str, Floats], linked: Linked) -> dict[str, float]:
    """Weights that sum to 1, by a walk over the simplex in steps of a tenth that lowers the loss most."""
    names = list(odds)
    columns = np.stack([_bounded(odds[name]) for name in names], axis=1)
    best = np.full(len(names), 1.0 / len(names))
    loss = _loss(columns @ best, linked)
    for step in (0.3, 0.1, 0.05):
        improved = True
        while improved:
            improved = False
            for one in range(len(names)):
                for other in range(len(names)):
                    tried = best.copy()
                    moved = min(step, tried[other])
                    tried[one] += moved
                    tried[other] -= moved
                    if one != other and (found := _loss(columns @ tried, linked)) < loss - 1e-7:
                        best, loss, improved = tried, found, True
    return {name: float(round(weight, 6)) for name, weight in zip(names, best, strict=True)}


def _calibration(odds: Floats, linked: Linked) -> tuple[float, float]:
    """Slope and offset of the line through the log-odds that lowers the loss most; Newton's steps."""
    slope, offset = 1.0, 0.0
    for _ in range(25):
        share = _share(slope * odds + offset)
        weight = share * (1 - share)
        gradient = np.array([((share - linked) * odds).sum(), (share - linked).sum()])
        # the ridge keeps few or well separated pairs from being taken for certainty
        gradient += np.array([slope - 1.0, offset])
        across = (weight * odds).sum()
        curvature = np.array([[(weight * odds**2).sum() + 1, across], [across, weight.sum() + 1]])
        step = np.linalg.solve(curvature, gradient)
        slope, offset = slope - float(step[0]), offset - float(step[1])
        if np.abs(step).max() < 1e-9:
            break
    return max(slope, 0.05), offset


def _bounded(odds: Floats) -> Floats:
    return np.clip(odds, -_STEEPEST, _STEEPEST)


def _share(odds: Floats) -> Floats:
    found: Floats = 1.0 / (1.0 + np.exp(-_bounded(odds)))
    return found


def _loss(odds: Floats, linked: Linked) -> float:
    return float(np.logaddexp(0.0, np.where(linked, -odds, odds)).mean())
