"""The mixture of evidence: logistic regression and trees, for a layer and for all, weighed by pairs they had not seen.

Every part gives the log-odds of a link. Their weights are chosen on predictions for pairs that the part was not fitted
on, and so is the line that makes the mixture's probabilities right on average (calibration). Probabilities are those of
a pair drawn from as many linked as unlinked pairs, since nobody knows how many links are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit

from gramme._runtime import thread_pools
from gramme._types import Floats, Ints
from gramme.methods.boosting.trees import BoostedTrees, Target
from gramme.methods.linear.logistic import fitted_regression

from .pair_scores import Pairs

NUM_TREES = 200
MIN_TREE_EXAMPLES = 400
"""Pairs of a layer from which on trees of its own are fitted."""
MAX_TREE_EXAMPLES = 20_000
"""Pairs, drawn at random, that trees are fitted to at most; more cost time and tell little."""
MAX_LAYERS_WITH_TREES = 6
"""Layers up to which each has trees of its own; with more, those of all layers must do."""
FOLDS = 5
MAX_COMPARED = 5000
"""Unlinked examples of a layer whose evidence is gathered in the whole graph as well."""

Linked = NDArray[np.bool_]


def fitted_trees(rows: Floats, linked: Linked, seed: int) -> BoostedTrees:
    """Gradient boosting on the logistic loss (scikit-learn's histogram trees)."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    if len(linked) > MAX_TREE_EXAMPLES:
        drawn = np.random.default_rng(seed).permutation(len(linked))[:MAX_TREE_EXAMPLES]
        rows, linked = rows[drawn], linked[drawn]
    model = HistGradientBoostingClassifier(
        max_iter=NUM_TREES,
        learning_rate=0.04,
        max_leaf_nodes=8,
        min_samples_leaf=20,
        l2_regularization=1.0,
        max_features=0.3,
        early_stopping=False,
        random_state=seed,
    )
    # threads that wait for each other take longer on a busy machine
    with thread_pools().limit(limits=1):
        model.fit(rows, linked)
    return BoostedTrees._of(model, rows.shape[1], Target(linked.astype(np.int64), 2), np.arange(2))


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


Part = Line | BoostedTrees


def part_log_odds(part: Part, rows: Floats) -> Floats:
    """The log-odds of a link by one part of a mixture, none beyond 30."""
    odds = part.scores(rows)[:, 0] if isinstance(part, BoostedTrees) else part.log_odds(rows)
    return np.clip(odds, -30.0, 30.0)


@dataclass
class LayerMixture:
    """The parts for one layer with their weights, and the line of calibration."""

    parts: dict[str, Part] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    slope: float = 1.0
    offset: float = 0.0
    typical: Floats | None = None  # the evidence of a typical pair without a link, which reasons compare with

    def probability(self, rows: Floats) -> Floats:
        """The probability of a link for each row of evidence."""
        return _share(self.slope * self.mixed(rows) + self.offset)

    def contributions(self, rows: Floats, kinds: Sequence[Linked]) -> Floats:
        """What each kind of evidence, given by its columns, adds to the log-odds of a pair against a typical one.

        Trees ask about several columns at once, so what a kind adds depends on the others: half of it is what is lost
        if the kind alone is that of a typical pair, half what is gained if all but it are.
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
            odds += self.weights[name] * part_log_odds(part, rows)
        return odds


@dataclass(frozen=True)
class CandidateList:
    """The candidates of a graph that lacks some edges of a layer, those edges among them."""

    pairs: Pairs
    rows: NDArray[np.float32]  # their evidence in that graph
    linked: Linked  # the edges that were set aside
    set_aside: int  # how many were; those that are no candidates are not found
    sampled_share: float = 1.0  # of the candidates without a link, those listed here
    thinner: CandidateList | None = None  # the same edges in the candidates of a graph that lacks as many others
    visible_shares: tuple[float, ...] = (1.0, 1.0)  # of the layer's edges: in the graph, and in the thinner one


@dataclass(frozen=True)
class LayerExamples:
    """Evidence of the pairs of one layer, and whether they are linked.

    Degree-matched pairs are learned from, so that more is learned than that nodes with many links get more of them;
    probabilities and figures are about the others.
    """

    rows: Floats
    linked: Linked
    matched: Linked | None = None  # the degree-matched ones among the unlinked pairs
    pairs: Pairs | None = None  # a pair that was drawn several times is seen or not seen as a whole
    whole: Floats | None = None  # the evidence of the examples `compared` in the graph with all edges
    part_index: Ints | None = None  # in which part the edges were set aside that an example belongs to
    lists: tuple[CandidateList, ...] = ()  # for each part the candidates of the graph that lacks it

    @property
    def compared(self) -> Ints:
        """Unlinked examples, evenly drawn, whose evidence is also gathered in the graph with all edges."""
        unlinked = np.flatnonzero(~self.linked & self.judged)
        some = np.linspace(0, len(unlinked) - 1, min(len(unlinked), MAX_COMPARED)).astype(int)
        chosen: Ints = unlinked[some]
        return chosen

    def folds(self, random: np.random.Generator) -> Ints:
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
        found: Ints = drawn[which] % FOLDS
        return found

    @property
    def judged(self) -> Linked:
        """The pairs that probabilities and figures are about."""
        return np.ones(len(self.linked), dtype=bool) if self.matched is None else ~self.matched


Maker = Callable[[Floats, Linked], Part]
"""Fits a part to some examples."""


@dataclass
class FittedMixtures:
    """The mixture of each layer, with what is known about pairs that it has not seen."""

    mixtures: dict[str, LayerMixture] = field(default_factory=dict)
    unseen: dict[str, Floats] = field(default_factory=dict)  # each example's probability without its fold
    by_fold: dict[str, list[LayerMixture]] = field(default_factory=dict)  # those mixtures, one for each fold
    folds: dict[str, Ints] = field(default_factory=dict)  # the fold of each example

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
    judged = sum(int(one.judged.sum()) for one in examples.values())
    shared: dict[str, Maker] = {"all layers": _line_maker(judged)}
    if len(examples) > 1 and judged >= MIN_TREE_EXAMPLES:
        shared["trees of all layers"] = partial(fitted_trees, seed=seed)
    pooled = {part: make(*_pooled(examples)) for part, make in shared.items()}
    unseen_pooled = {part: _out_of_fold(examples, folds, make) for part, make in shared.items()}
    tell()
    fitted = FittedMixtures(folds=folds)
    for name, one in examples.items():
        parts: dict[str, Part] = dict(pooled)
        odds = {part: values[name] for part, (values, _) in unseen_pooled.items()}
        fold_models = {part: models for part, (_, models) in unseen_pooled.items()}
        own: dict[str, Maker] = {}
        if min(one.linked.sum(), (~one.linked).sum()) >= FOLDS:
            of_layer = int(one.judged.sum())
            own["the layer"] = _line_maker(of_layer)
            if len(examples) <= MAX_LAYERS_WITH_TREES and of_layer >= MIN_TREE_EXAMPLES:
                own["trees"] = partial(fitted_trees, seed=seed)
        for part, make in own.items():
            values, fold_models[part] = _out_of_fold({name: one}, folds, make)
            odds[part] = values[name]
            parts[part] = make(one.rows, one.linked)
        weights = _weights({part: some for part, (some, _) in odds.items()}, one.linked)
        mixed, with_all = (np.asarray(sum(weights[part] * odds[part][kind] for part in odds)) for kind in (0, 1))
        slope, offset = _calibration(mixed[one.judged], one.linked[one.judged])
        kept = {part: weight for part, weight in weights.items() if weight > 0}
        # Examples have their evidence from a graph without the edges that were set aside. Pairs that are asked about
        # have theirs from the whole graph, where there is more of it for every pair, linked or not. How much it adds is
        # seen from unlinked examples with both kinds of evidence, by models that have not seen the pair: what a model
        # has learned by heart about a pair in one graph it does not know of the same pair in another.
        gained = float((with_all - mixed[one.compared]).mean()) if len(with_all) else 0.0
        # a mean of the evidence may lie where no pair is, which misleads trees
        unlinked = one.rows[one.judged & ~one.linked]
        typical = np.median(unlinked, axis=0) if len(unlinked) else None
        mixture = LayerMixture({part: parts[part] for part in kept}, kept, slope, offset - slope * gained, typical)
        fitted.mixtures[name], fitted.unseen[name] = mixture, _share(slope * mixed + offset)
        fitted.by_fold[name] = [
            replace(mixture, parts={part: fold_models[part][fold] for part in kept}) for fold in range(FOLDS)
        ]
        tell()
    return fitted


def _pooled(examples: Mapping[str, LayerExamples], inside: Mapping[str, Linked] | None = None) -> tuple[Floats, Linked]:
    """The evidence of several layers together and whether pairs are linked, perhaps of some examples alone."""
    some = {name: slice(None) for name in examples} if inside is None else inside
    rows = np.concatenate([one.rows[some[name]] for name, one in examples.items()])
    return rows, np.concatenate([one.linked[some[name]] for name, one in examples.items()])


def _line_maker(examples: int) -> Maker:
    """Logistic regression with a penalty that suits the number of examples."""
    return partial(Line.fitted, strength=0.01 if examples < 200 else 0.1 if examples < 5000 else 1.0)


def _out_of_fold(
    examples: dict[str, LayerExamples], folds: dict[str, Ints], make: Maker
) -> tuple[dict[str, tuple[Floats, Floats]], list[Part]]:
    """Log-odds by models that have not seen the pair: of all examples of a layer, and of those with all edges.

    The models come with them, one for each fold.
    """
    models: list[Part] = []
    found = {
        name: (np.zeros(len(one.linked)), np.zeros(0 if one.whole is None else len(one.whole)))
        for name, one in examples.items()
    }
    for fold in range(FOLDS):
        inside = {name: folds[name] != fold for name in examples}
        rows, linked = _pooled(examples, inside)
        if all(some.all() for some in inside.values()) or len(np.unique(linked)) < 2:
            width = rows.shape[1]
            models.append(Line(np.zeros(width), np.ones(width), np.zeros(width), 0.0))
            continue
        models.append(make(rows, linked))
        for name, one in examples.items():
            outside = ~inside[name]
            found[name][0][outside] = part_log_odds(models[-1], one.rows[outside])
            if one.whole is not None:
                outside = outside[one.compared]
                found[name][1][outside] = part_log_odds(models[-1], one.whole[outside])
    return found, models


def _weights(odds: dict[str, Floats], linked: Linked) -> dict[str, float]:
    """Weights that sum to 1, by a walk over the simplex in steps of a tenth that lowers the loss most."""
    names = list(odds)
    columns = np.stack([odds[name] for name in names], axis=1)
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
    """Slope and offset of the line through the log-odds that lowers the loss most.

    The ridge keeps few or well separated pairs from being taken for certainty.
    """

    def loss(line: Floats) -> float:
        ridge = (line[0] - 1) ** 2 + line[1] ** 2
        return len(odds) * loss_of(line[0] * odds + line[1], linked) + ridge / 2

    slope, offset = minimize(loss, np.array([1.0, 0.0])).x
    return max(float(slope), 0.05), float(offset)


def _share(odds: Floats) -> Floats:
    found: Floats = expit(np.clip(odds, -30.0, 30.0))
    return found


def loss_of(odds: Floats, linked: Linked) -> float:
    """The logistic loss of log-odds, a mean over pairs."""
    return float(np.logaddexp(0.0, np.where(linked, -odds, odds)).mean())


def log_odds_of(probability: Floats) -> Floats:
    """The log-odds of probabilities, none beyond what a mixture may say."""
    found: Floats = np.clip(logit(np.clip(probability, 1e-15, 1 - 1e-15)), -30.0, 30.0)
    return found
