"""The mixture of evidence: logistic regression and trees, for a layer and for all, weighed by pairs they had not seen.

Every part gives the log-odds of a link. Their weights are chosen on predictions for pairs that the part was not fitted
on, and so is the line that makes the mixture's probabilities right on average (calibration). Probabilities are those of
a pair drawn from as many linked as unlinked pairs, since nobody knows how many links are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from gramme.links.trees import Trees
from gramme.methods.linear.logistic import fitted_regression

MIN_TREE_EXAMPLES = 400
"""Pairs of a layer from which on trees of its own are fitted."""
MAX_TREE_EXAMPLES = 20_000
"""Pairs, drawn at random, that trees are fitted to at most; more cost time and tell little."""
MAX_LAYERS_WITH_TREES = 6
"""Layers up to which each has trees of its own; with more, those of all layers must do."""
FOLDS = 5
MIN_LINKS_ABOVE, MIN_SHARE_ABOVE = 15, 0.1
"""Linked pairs, and the share of them, that must score as high to tell how many links are hidden."""
BELIEF = 0.5
"""How much of the estimated share of hidden links is believed: few pairs tell it."""
NEAR_ALL = 0.8
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
        """Fit with an L2 penalty; a smaller strength keeps the weights nearer to 0."""
        mean, scale = rows.mean(axis=0), rows.std(axis=0)
        scale = np.where(scale > 1e-9, scale, 1.0)
        weights, offsets = fitted_regression((rows - mean) / scale, linked, strength, max_iter=500)
        return cls(mean, scale, weights[:, 1], float(offsets[1]))

    def log_odds(self, rows: Floats) -> Floats:
        """The log-odds of a link for each row."""
        found: Floats = ((rows - self.mean) / self.scale) @ self.weight + self.offset
        return found


@dataclass
class LayerMixture:
    """The parts for one layer with their weights, the line of calibration and the share of hidden links.

    ``typical`` is the evidence of a typical pair without a link, which reasons compare with.
    """

    parts: dict[str, Line | Trees] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    slope: float = 1.0
    offset: float = 0.0
    hidden: float = 0.0
    typical: Floats | None = None

    def probability(self, rows: Floats) -> Floats:
        """The probability of a link for each row of evidence."""
        odds = self.slope * self._mixed(rows) + self.offset
        return against_truly_unlinked(_share(odds), self.hidden)

    def allow_for_all_edges(self, without: Floats, with_all: Floats) -> None:
        """Move the line of calibration to graphs from which no edges are set aside.

        Examples have their evidence from a graph without the edges that were set aside. The pairs that are asked about
        have theirs from the whole graph, where there is more of it for every pair, linked or not. By how much unlinked
        pairs seem more likely on the whole graph, all log-odds are lowered.

        Parameters
        ----------
        without, with_all : array, shape (pairs, columns)
            Evidence of the same unlinked pairs, without the edges set aside and with them.
        """
        if len(without):
            self.offset -= self.slope * float((self._mixed(with_all) - self._mixed(without)).mean())

    def contributions(self, rows: Floats, kinds: Sequence[Linked]) -> Floats:
        """What each kind of evidence adds to the log-odds of a pair against a typical one, shape (pairs, kinds).

        Trees ask about several columns at once, so what a kind adds depends on the others: half of it is what is lost
        if the kind alone is that of a typical pair, half what is gained if all but it are.

        Parameters
        ----------
        rows : array of float, shape (pairs, columns)
        kinds : sequence of array of bool, shape (columns,)
            The columns of each kind.
        """
        if self.typical is None:
            return np.zeros((len(rows), len(kinds)))
        whole, nothing = self._mixed(rows), self._mixed(self.typical[None])
        found = np.empty((len(rows), len(kinds)))
        for place, mine in enumerate(kinds):
            lost = whole - self._mixed(np.where(mine, self.typical, rows))
            gained = self._mixed(np.where(mine, rows, self.typical)) - nothing
            found[:, place] = (lost + gained) / 2
        return found

    def _mixed(self, rows: Floats) -> Floats:
        odds = np.zeros(len(rows))
        for name, part in self.parts.items():
            odds += self.weights[name] * _bounded(part.log_odds(rows))
        return odds


@dataclass(frozen=True)
class LayerExamples:
    """Evidence of the pairs of one layer, and whether they are linked.

    Attributes
    ----------
    rows : array of float, shape (pairs, columns)
    linked : array of bool, shape (pairs,)
    matched : array of bool, shape (pairs,), optional
        The degree-matched ones among the unlinked pairs. They are learned from, so that more is learned than that nodes
        with many links get more of them; probabilities and figures are about the others.
    """

    rows: Floats
    linked: Linked
    matched: Linked | None = None

    def with_column(self, place: int, column: Floats) -> LayerExamples:
        """The same with another column of evidence at a place."""
        rows = self.rows.copy()
        rows[:, place] = column
        return replace(self, rows=rows)

    @property
    def judged(self) -> Linked:
        """The pairs that probabilities and figures are about."""
        return np.ones(len(self.linked), dtype=bool) if self.matched is None else ~self.matched


Maker = Callable[[Floats, Linked], Line | Trees]
"""Fits a part to some examples."""


def unseen_loss(examples: dict[str, LayerExamples], unseen: dict[str, Floats]) -> float:
    """The logistic loss on pairs that the mixtures had not seen, a mean over the layers."""
    found = []
    for name, one in examples.items():
        share = np.where(one.linked, unseen[name], 1 - unseen[name])[one.judged]
        found.append(float(-np.log(np.maximum(share, 1e-12)).mean()))
    return float(np.mean(found))


def fitted_mixtures(
    examples: dict[str, LayerExamples], seed: int, tell: Callable[[], None] | None = None
) -> tuple[dict[str, LayerMixture], dict[str, Floats]]:
    """A mixture per layer, and the probabilities it gives to its examples when it had not seen them.

    ``tell`` is called when what the layers share is fitted, and then after each layer.
    """
    tell = tell or (lambda: None)
    random = np.random.default_rng(seed)
    folds = {name: random.permutation(len(one.linked)) % FOLDS for name, one in examples.items()}
    everything = _stacked(examples, folds)
    rows, linked, _ = everything
    judged = sum(int(one.judged.sum()) for one in examples.values())
    shared = {"all layers": _line_maker(judged)}
    if len(examples) > 1 and judged >= MIN_TREE_EXAMPLES:
        shared["trees of all layers"] = _tree_maker(seed)
    pooled = {part: make(rows, linked) for part, make in shared.items()}
    unseen_pooled = {part: _out_of_fold(*everything, make) for part, make in shared.items()}
    tell()
    found: dict[str, LayerMixture] = {}
    unseen: dict[str, Floats] = {}
    begin = 0
    for name, one in examples.items():
        end = begin + len(one.linked)
        makers = _makers(one, seed, own_trees=len(examples) <= MAX_LAYERS_WITH_TREES)
        odds = {part: values[begin:end] for part, values in unseen_pooled.items()}
        parts: dict[str, Line | Trees] = dict(pooled)
        for part, make in makers.items():
            odds[part] = _out_of_fold(one.rows, one.linked, folds[name], make)
            parts[part] = make(one.rows, one.linked)
        weights = _weights(odds, one.linked)
        mixed = np.asarray(sum(weights[part] * _bounded(odds[part]) for part in odds))
        slope, offset = _calibration(mixed[one.judged], one.linked[one.judged])
        kept = {part: model for part, model in parts.items() if weights[part] > 0}
        found[name] = LayerMixture(kept, {part: weights[part] for part in kept}, slope, offset)
        found[name].typical = _typical(one)
        unseen[name] = _share(slope * mixed + offset)
        judged_ones = one.linked[one.judged], unseen[name][one.judged]
        found[name].hidden = BELIEF * hidden_share(*judged_ones)
        begin = end
        tell()
    return found, unseen


def _typical(one: LayerExamples) -> Floats | None:
    """The median of each column over pairs without a link: a mean may lie where no pair is, which misleads trees."""
    unlinked = one.rows[one.judged & ~one.linked]
    return np.median(unlinked, axis=0) if len(unlinked) else None


def hidden_share(linked: Linked, probability: Floats) -> float:
    """A cautious estimate of the share of pairs without an edge that are in fact linked.

    The pairs that serve as unlinked are those without an edge in the graph, and some of them may be the very links
    that are missing. So the share is at most U(t) / A(t) for any score t, the parts of both kinds of pair that score t
    or more. The least of these ratios over the scores of the better half of the linked pairs is the estimate: where
    some score is reached by no unlinked pair, nothing is hidden.

    References
    ----------
    C. Elkan, K. Noto: Learning classifiers from only positive and unlabeled data. KDD 2008.

    >>> linked = np.repeat([True, False], 100)
    >>> hidden_share(linked, np.concatenate([np.linspace(0.5, 1, 100), np.linspace(0, 0.6, 100)]))
    0.0
    """
    high, low = np.sort(probability[linked])[::-1], np.sort(probability[~linked])
    fewest = max(MIN_LINKS_ABOVE, int(np.ceil(MIN_SHARE_ABOVE * high.size)))
    if fewest > high.size // 2 or not low.size:
        return 0.0
    reached = np.arange(fewest, high.size // 2 + 1)
    above = low.size - np.searchsorted(low, high[reached - 1], side="left")
    return float(((above / low.size) / (reached / high.size)).min())


def against_truly_unlinked(probability: Floats, hidden: float) -> Floats:
    """Turn probabilities against pairs without an edge into probabilities against pairs that are in fact not linked.

    With the share h of hidden links, odds r become (1 - h) r / (1 - h r). The order of pairs stays the same.

    >>> against_truly_unlinked(np.array([0.5, 0.8]), 0.2).round(3).tolist()
    [0.5, 0.941]
    """
    if hidden <= 0:
        return probability
    odds = probability / np.maximum(1 - probability, 1e-12)
    # no odds are above 1 / h; estimates that come near it would be taken for certainty
    scaled = hidden * odds
    tame = np.where(
        scaled < NEAR_ALL, scaled, 1 - (1 - NEAR_ALL) ** 2 / (1 - 2 * NEAR_ALL + scaled)
    )
    true = (1 - hidden) / hidden * tame / (1 - tame)
    found: Floats = true / (1 + true)
    return found


def _makers(one: LayerExamples, seed: int, *, own_trees: bool) -> dict[str, Maker]:
    if len(np.unique(one.linked)) < 2 or min(one.linked.sum(), (~one.linked).sum()) < FOLDS:
        return {}
    judged = int(one.judged.sum())
    makers = {"the layer": _line_maker(judged)}
    if own_trees and judged >= MIN_TREE_EXAMPLES:
        makers["trees"] = _tree_maker(seed)
    return makers


def _tree_maker(seed: int) -> Maker:
    def make(rows: Floats, linked: Linked) -> Trees:
        if len(linked) > MAX_TREE_EXAMPLES:
            drawn = np.random.default_rng(seed).permutation(len(linked))[:MAX_TREE_EXAMPLES]
            rows, linked = rows[drawn], linked[drawn]
        return Trees.fitted(rows, linked, seed)

    return make


def _line_maker(examples: int) -> Maker:
    """Logistic regression with a penalty that suits the number of examples."""
    strength = STRENGTHS[0] if examples < 200 else STRENGTHS[1] if examples < 5000 else 1.0

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
    make: Maker,
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
    loss = loss_of(columns @ best, linked)
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
                    if one != other and (found := loss_of(columns @ tried, linked)) < loss - 1e-7:
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


def loss_of(odds: Floats, linked: Linked) -> float:
    """The logistic loss of log-odds, a mean over pairs."""
    return float(np.logaddexp(0.0, np.where(linked, -odds, odds)).mean())
