"""The mixture of evidence: logistic regression and trees, for a layer and for all, weighed by pairs they had not seen.

Every part gives the log-odds of a link. Their weights are chosen on predictions for pairs that the part was not fitted
on, and so is the line that makes the mixture's probabilities right on average (calibration). Probabilities are those of
a pair drawn from as many linked as unlinked pairs, since nobody knows how many links are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme._runtime import thread_pools
from gramme._types import Floats
from gramme.methods.linear.logistic import fitted_regression
from gramme.ops.kernels import compiled

# Boosted trees as plain arrays: they can be saved without code in the file, and predict the same
# everywhere.


NUM_TREES = 200
LEARNING_RATE = 0.04
LEAVES_PER_TREE = 8
MIN_EXAMPLES_PER_LEAF = 20
COLUMN_SHARE = 0.3
"""Columns that a split chooses from, drawn at random."""


@dataclass(frozen=True)
class Trees:
    """Trees for the log-odds of a link, all nodes behind each other.

    Attributes
    ----------
    base : float
        The log-odds before any tree.
    roots : array of int, shape (trees,)
        Where each tree begins.
    column, left, right : array of int, shape (nodes,)
        The column that a node asks about and where its answers lead; -1 for a leaf.
    threshold, value : array of float, shape (nodes,)
        Go left up to the threshold; what a leaf adds.
    """

    base: float
    roots: NDArray[np.int64]
    column: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    threshold: NDArray[np.float64]
    value: NDArray[np.float64]

    @classmethod
    def fitted(cls, rows: NDArray[np.float64], linked: NDArray[np.bool_], seed: int) -> Trees:
        """Gradient boosting on the logistic loss (scikit-learn's histogram trees)."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        model = HistGradientBoostingClassifier(
            max_iter=NUM_TREES,
            learning_rate=LEARNING_RATE,
            max_leaf_nodes=LEAVES_PER_TREE,
            min_samples_leaf=MIN_EXAMPLES_PER_LEAF,
            l2_regularization=1.0,
            max_features=COLUMN_SHARE,
            early_stopping=False,
            random_state=seed,
        )
        # threads that wait for each other take longer on a busy machine
        with thread_pools().limit(limits=1):
            model.fit(rows, linked)
        return cls._of(model)

    @classmethod
    def _of(cls, model: Any) -> Trees:
        parts = [predictor.nodes for (predictor,) in model._predictors]
        sizes = np.array([len(part) for part in parts])
        roots = np.cumsum(sizes) - sizes
        nodes = np.concatenate(parts)
        shift = np.repeat(roots, sizes)
        leaf = nodes["is_leaf"].astype(bool)
        return cls(
            float(np.ravel(model._baseline_prediction)[0]),
            roots.astype(np.int64),
            np.where(leaf, -1, nodes["feature_idx"].astype(np.int64)),
            np.where(leaf, -1, nodes["left"].astype(np.int64) + shift),
            np.where(leaf, -1, nodes["right"].astype(np.int64) + shift),
            nodes["num_threshold"].astype(np.float64),
            nodes["value"].astype(np.float64),
        )

    def log_odds(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The log-odds of a link for each row."""
        return self.base + _added(
            np.ascontiguousarray(rows),
            self.roots,
            self.column,
            self.left,
            self.right,
            self.threshold,
            self.value,
        )


@compiled
def _added(
    rows: NDArray[np.float64],
    roots: NDArray[np.int64],
    column: NDArray[np.int64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    threshold: NDArray[np.float64],
    value: NDArray[np.float64],
) -> NDArray[np.float64]:
    total = np.zeros(rows.shape[0])
    for row in range(rows.shape[0]):
        for tree in range(roots.size):
            node = roots[tree]
            while column[node] >= 0:
                node = left[node] if rows[row, column[node]] <= threshold[node] else right[node]
            total[row] += value[node]
    return total


MIN_TREE_EXAMPLES = 400
"""Pairs of a layer from which on trees of its own are fitted."""
MAX_TREE_EXAMPLES = 20_000
"""Pairs, drawn at random, that trees are fitted to at most; more cost time and tell little."""
MAX_LAYERS_WITH_TREES = 6
"""Layers up to which each has trees of its own; with more, those of all layers must do."""
FOLDS = 5
MAX_COMPARED = 5000
"""Unlinked examples of a layer whose evidence is gathered in the whole graph as well."""
NEAR_ALL = 0.8
STRENGTHS = (0.01, 0.1, 1.0)
_STEEPEST = 30.0

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
        odds = self.slope * self.mixed(rows) + self.offset
        return against_truly_unlinked(_share(odds), self.hidden)

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
        whole, nothing = self.mixed(rows), self.mixed(self.typical[None])
        found = np.empty((len(rows), len(kinds)))
        for place, mine in enumerate(kinds):
            lost = whole - self.mixed(np.where(mine, self.typical, rows))
            gained = self.mixed(np.where(mine, rows, self.typical)) - nothing
            found[:, place] = (lost + gained) / 2
        return found

    def mixed(self, rows: Floats) -> Floats:
        """The log-odds of the mixture before calibration."""
        odds = np.zeros(len(rows))
        for name, part in self.parts.items():
            odds += self.weights[name] * _bounded(part.log_odds(rows))
        return odds


@dataclass(frozen=True)
class CandidateList:
    """The candidates of a graph that lacks some edges of a layer, those edges among them.

    Attributes
    ----------
    pairs : array of int, shape (candidates, 2)
    rows : array of float, shape (candidates, columns)
        Their evidence in that graph.
    linked : array of bool, shape (candidates,)
        The edges that were set aside.
    set_aside : int
        How many edges were set aside; those that are no candidates are not found.
    sampled_share : float
        Share of the candidates without a link that are listed here.
    thinner : CandidateList, optional
        The same edges in the candidates of a graph that lacks as many others.
    visible_shares : tuple of float
        Shares of the layer's edges that the graph has, and the thinner one.
    """

    pairs: NDArray[np.int64]
    rows: NDArray[np.float32]
    linked: Linked
    set_aside: int
    sampled_share: float = 1.0
    thinner: CandidateList | None = None
    visible_shares: tuple[float, ...] = (1.0, 1.0)


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
    pairs : array of int, shape (pairs, 2), optional
        The positions of their nodes. A pair that was drawn several times is seen or not seen as a whole.
    whole : array of float, shape (compared, columns), optional
        The evidence of the examples :attr:`compared` in the graph with all edges.
    hidden : float, default=0.0
        The share of the unlinked pairs that are taken for links that are missing.
    part_index : array of int, shape (pairs,), optional
        In which part the edges were set aside that an example belongs to.
    lists : tuple of CandidateList
        For each part the candidates of the graph that lacks it.
    """

    rows: Floats
    linked: Linked
    matched: Linked | None = None
    pairs: NDArray[np.int64] | None = None
    whole: Floats | None = None
    hidden: float = 0.0
    part_index: NDArray[np.int64] | None = None
    lists: tuple[CandidateList, ...] = ()

    def with_column(self, place: int, column: Floats, whole: Floats | None = None) -> LayerExamples:
        """The same with another column of evidence at a place; ``whole`` is that of the graph with all edges."""
        rows = self.rows.copy()
        rows[:, place] = column
        changed = self.whole
        if changed is not None and whole is not None:
            changed = changed.copy()
            changed[:, place] = whole
        return replace(self, rows=rows, whole=changed)

    @property
    def compared(self) -> NDArray[np.int64]:
        """Unlinked examples, evenly drawn, whose evidence is also gathered in the graph with all edges."""
        unlinked = np.flatnonzero(~self.linked & self.judged)
        some = np.linspace(0, len(unlinked) - 1, min(len(unlinked), MAX_COMPARED)).astype(int)
        chosen: NDArray[np.int64] = unlinked[some]
        return chosen

    def folds(self, random: np.random.Generator) -> NDArray[np.int64]:
        """In which of :data:`FOLDS` parts each example is when models are judged by pairs they have not seen."""
        which = np.arange(len(self.linked))
        if self.pairs is not None:
            ends = np.sort(self.pairs, axis=1)
            which = np.unique(ends, axis=0, return_inverse=True)[1].ravel()
        drawn = random.permutation(int(which.max()) + 1) if len(which) else which
        if self.part_index is not None and self.part_index.max(initial=0) + 1 == FOLDS:
            # a part is a fold, so that one model has seen none of its edges; a pair without a
            # link that was drawn for several parts is in the fold of the first
            first_drawn = np.full(len(drawn), FOLDS)
            np.minimum.at(first_drawn, which, self.part_index)
            return np.where(self.linked, self.part_index, first_drawn[which])
        found: NDArray[np.int64] = drawn[which] % FOLDS
        return found

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


@dataclass
class FittedMixtures:
    """The mixture of each layer, with what is known about pairs that it has not seen.

    Attributes
    ----------
    mixtures : mapping of layer to LayerMixture
        Fitted to all examples.
    unseen : mapping of layer to array of float
        The probability of each example by a mixture that was fitted without its fold.
    by_fold : mapping of layer to list of LayerMixture
        Those mixtures, one for each fold.
    folds : mapping of layer to array of int
        The fold of each example.
    """

    mixtures: dict[str, LayerMixture] = field(default_factory=dict)
    unseen: dict[str, Floats] = field(default_factory=dict)
    by_fold: dict[str, list[LayerMixture]] = field(default_factory=dict)
    folds: dict[str, NDArray[np.int64]] = field(default_factory=dict)

    def fold_of_pairs(self, layer: str, examples: LayerExamples, num_nodes: int) -> sp.csr_array:
        """A matrix with the fold of each example, plus one, at its pair; a link has priority."""
        if examples.pairs is None:
            return sp.csr_array((num_nodes, num_nodes), dtype=np.int64)
        pairs, folds = examples.pairs, self.folds[layer]
        order = np.argsort(~examples.linked, kind="stable")
        keys = pairs[order, 0] * num_nodes + pairs[order, 1]
        first = order[np.unique(keys, return_index=True)[1]]
        ends = pairs[first, 0], pairs[first, 1]
        return sp.csr_array((folds[first] + 1, ends), shape=(num_nodes, num_nodes))


def fitted_mixtures(
    examples: dict[str, LayerExamples], seed: int, tell: Callable[[], None] | None = None
) -> FittedMixtures:
    """A mixture per layer, and the probabilities it gives to its examples when it had not seen them.

    ``tell`` is called when what the layers share is fitted, and then after each layer.
    """
    tell = tell or (lambda: None)
    random = np.random.default_rng(seed)
    folds = {name: one.folds(random) for name, one in examples.items()}
    rows = np.concatenate([one.rows for one in examples.values()])
    linked = np.concatenate([one.linked for one in examples.values()])
    judged = sum(int(one.judged.sum()) for one in examples.values())
    shared = {"all layers": _line_maker(judged)}
    if len(examples) > 1 and judged >= MIN_TREE_EXAMPLES:
        shared["trees of all layers"] = _tree_maker(seed)
    pooled = {part: make(rows, linked) for part, make in shared.items()}
    unseen_pooled = {part: _out_of_fold(examples, folds, make) for part, make in shared.items()}
    tell()
    found, unseen, by_fold = {}, {}, {}
    for name, one in examples.items():
        makers = _makers(one, seed, own_trees=len(examples) <= MAX_LAYERS_WITH_TREES)
        odds = {part: values[name] for part, (values, _) in unseen_pooled.items()}
        fold_models = {part: models for part, (_, models) in unseen_pooled.items()}
        parts: dict[str, Line | Trees] = dict(pooled)
        for part, make in makers.items():
            values, fold_models[part] = _out_of_fold({name: one}, folds, make)
            odds[part] = values[name]
            parts[part] = make(one.rows, one.linked)
        weights = _weights({part: here for part, (here, _) in odds.items()}, one.linked)
        mixed = np.asarray(sum(weights[part] * _bounded(odds[part][0]) for part in odds))
        slope, offset = _calibration(mixed[one.judged], one.linked[one.judged])
        kept = {part: model for part, model in parts.items() if weights[part] > 0}
        with_all = np.asarray(sum(weights[part] * _bounded(odds[part][1]) for part in odds))
        lowered = offset - slope * _gained(mixed, with_all, one)
        found[name] = LayerMixture(kept, {part: weights[part] for part in kept}, slope, lowered)
        found[name].typical = _typical(one)
        unseen[name] = _share(slope * mixed + offset)
        found[name].hidden = one.hidden
        by_fold[name] = [
            LayerMixture(
                {part: models[fold] for part, models in fold_models.items() if part in kept},
                found[name].weights,
                slope,
                lowered,
                one.hidden,
            )
            for fold in range(FOLDS)
        ]
        tell()
    return FittedMixtures(found, unseen, by_fold, folds)


def _gained(without: Floats, with_all: Floats, one: LayerExamples) -> float:
    """By how much log-odds rise on graphs from which no edges are set aside.

    Examples have their evidence from a graph without the edges that were set aside. The pairs that are asked about have
    theirs from the whole graph, where there is more of it for every pair, linked or not. How much it adds is seen from
    unlinked examples with both kinds of evidence. Both must be judged by models that have not seen the pair: what a
    model has learned by heart about a pair in one graph it does not know of the same pair in another.
    """
    return float((with_all - without[one.compared]).mean()) if len(with_all) else 0.0


def _typical(one: LayerExamples) -> Floats | None:
    """The median of each column over pairs without a link: a mean may lie where no pair is, which misleads trees."""
    unlinked = one.rows[one.judged & ~one.linked]
    return np.median(unlinked, axis=0) if len(unlinked) else None


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


def _out_of_fold(
    examples: dict[str, LayerExamples], folds: dict[str, NDArray[np.int64]], make: Maker
) -> tuple[dict[str, tuple[Floats, Floats]], list[Line | Trees]]:
    """Log-odds by models that have not seen the pair: of all examples of a layer, and of those with all edges.

    The models come with them, one for each fold.
    """
    models: list[Line | Trees] = []
    found = {
        name: (np.zeros(len(one.linked)), np.zeros(0 if one.whole is None else len(one.whole)))
        for name, one in examples.items()
    }
    for fold in range(FOLDS):
        inside = {name: folds[name] != fold for name in examples}
        rows = np.concatenate([one.rows[inside[name]] for name, one in examples.items()])
        linked = np.concatenate([one.linked[inside[name]] for name, one in examples.items()])
        if all(some.all() for some in inside.values()) or len(np.unique(linked)) < 2:
            width = rows.shape[1]
            models.append(Line(np.zeros(width), np.ones(width), np.zeros(width), 0.0))
            continue
        model = make(rows, linked)
        models.append(model)
        for name, one in examples.items():
            here, with_all = found[name]
            here[~inside[name]] = model.log_odds(one.rows[~inside[name]])
            if one.whole is not None:
                outside = ~inside[name][one.compared]
                with_all[outside] = model.log_odds(one.whole[outside])
    return found, models


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


def log_odds_of(probability: Floats) -> Floats:
    """The log-odds of probabilities, none beyond what a mixture may say."""
    inside = np.clip(probability, 1e-15, 1 - 1e-15)
    return _bounded(np.log(inside / (1 - inside)))
