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
        drawn_rows = np.random.default_rng(seed).permutation(len(linked))[:MAX_TREE_EXAMPLES]
        rows, linked = rows[drawn_rows], linked[drawn_rows]
    tree_model = HistGradientBoostingClassifier(
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
        tree_model.fit(rows, linked)
    return BoostedTrees._of(tree_model, rows.shape[1], Target(linked.astype(np.int64), 2), np.arange(2))


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
        row_odds: Floats = ((rows - self.mean) / self.scale) @ self.weight + self.offset
        return row_odds


Part = Line | BoostedTrees


def part_log_odds(part: Part, rows: Floats) -> Floats:
    """The log-odds of a link by one part of a mixture, none beyond 30."""
    part_odds = part.scores(rows)[:, 0] if isinstance(part, BoostedTrees) else part.log_odds(rows)
    return np.clip(part_odds, -30.0, 30.0)


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
        full_odds, typical_odds = self.mixed(rows), self.mixed(self.typical[None])
        added_odds = np.empty((len(rows), len(kinds)))
        for kind_index, kind_columns in enumerate(kinds):
            lost_odds = full_odds - self.mixed(np.where(kind_columns, self.typical, rows))
            gained_odds = self.mixed(np.where(kind_columns, rows, self.typical)) - typical_odds
            added_odds[:, kind_index] = (lost_odds + gained_odds) / 2
        return added_odds

    def mixed(self, rows: Floats) -> Floats:
        """The log-odds of the mixture before calibration."""
        mixed_odds = np.zeros(len(rows))
        for part_name, part in self.parts.items():
            mixed_odds += self.weights[part_name] * part_log_odds(part, rows)
        return mixed_odds


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
        unlinked_index = np.flatnonzero(~self.linked & self.judged)
        even_places = np.linspace(0, len(unlinked_index) - 1, min(len(unlinked_index), MAX_COMPARED)).astype(int)
        compared_index: Ints = unlinked_index[even_places]
        return compared_index

    def folds(self, random: np.random.Generator) -> Ints:
        """In which of :data:`FOLDS` parts each example is when models are judged by pairs they have not seen."""
        pair_index = np.arange(len(self.linked))
        if self.pairs is not None:
            sorted_pairs = np.sort(self.pairs, axis=1)
            pair_index = np.unique(sorted_pairs, axis=0, return_inverse=True)[1].ravel()
        drawn_order = random.permutation(int(pair_index.max()) + 1) if len(pair_index) else pair_index
        if self.part_index is not None and self.part_index.max(initial=0) + 1 == FOLDS:
            # a part is a fold, so that one model has seen none of its edges; a pair without a
            # link that was drawn for several parts is in the fold of the first
            first_drawn = np.full(len(drawn_order), FOLDS)
            np.minimum.at(first_drawn, pair_index, self.part_index)
            return np.where(self.linked, self.part_index, first_drawn[pair_index])
        fold_index: Ints = drawn_order[pair_index] % FOLDS
        return fold_index

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
        pairs, fold_index = examples.pairs, self.folds[layer]
        links_first = np.argsort(~examples.linked, kind="stable")
        pair_keys = pairs[links_first, 0] * num_nodes + pairs[links_first, 1]
        first_index = links_first[np.unique(pair_keys, return_index=True)[1]]
        pair_ends = pairs[first_index, 0], pairs[first_index, 1]
        return sp.csr_array((fold_index[first_index] + 1, pair_ends), shape=(num_nodes, num_nodes))


def fitted_mixtures(
    examples: dict[str, LayerExamples], seed: int, tell: Callable[[], None] | None = None
) -> FittedMixtures:
    """A mixture per layer, and the probabilities it gives to its examples when it had not seen them.

    ``tell`` is called when what the layers share is fitted, and then after each layer.
    """
    tell = tell or (lambda: None)
    random_numbers = np.random.default_rng(seed)
    fold_index = {name: one.folds(random_numbers) for name, one in examples.items()}
    num_judged = sum(int(one.judged.sum()) for one in examples.values())
    shared_makers: dict[str, Maker] = {"all layers": _line_maker(num_judged)}
    if len(examples) > 1 and num_judged >= MIN_TREE_EXAMPLES:
        shared_makers["trees of all layers"] = partial(fitted_trees, seed=seed)
    shared_parts = {part: make(*_pooled(examples)) for part, make in shared_makers.items()}
    unseen_pooled = {part: _out_of_fold(examples, fold_index, make) for part, make in shared_makers.items()}
    tell()
    fitted_by_layer = FittedMixtures(folds=fold_index)
    for layer_name, its_examples in examples.items():
        part_models: dict[str, Part] = dict(shared_parts)
        odds_by_part = {part: values[layer_name] for part, (values, _) in unseen_pooled.items()}
        fold_models = {part: models_by_fold for part, (_, models_by_fold) in unseen_pooled.items()}
        own_makers: dict[str, Maker] = {}
        if min(its_examples.linked.sum(), (~its_examples.linked).sum()) >= FOLDS:
            of_layer = int(its_examples.judged.sum())
            own_makers["the layer"] = _line_maker(of_layer)
            if len(examples) <= MAX_LAYERS_WITH_TREES and of_layer >= MIN_TREE_EXAMPLES:
                own_makers["trees"] = partial(fitted_trees, seed=seed)
        for part_name, make_part in own_makers.items():
            odds_by_layer, fold_models[part_name] = _out_of_fold({layer_name: its_examples}, fold_index, make_part)
            odds_by_part[part_name] = odds_by_layer[layer_name]
            part_models[part_name] = make_part(its_examples.rows, its_examples.linked)
        part_weights = _weights({part: part_odds for part, (part_odds, _) in odds_by_part.items()}, its_examples.linked)
        mixed_odds, with_all = (
            np.asarray(sum(part_weights[part] * odds_by_part[part][odds_kind] for part in odds_by_part))
            for odds_kind in (0, 1)
        )
        slope, offset = _calibration(mixed_odds[its_examples.judged], its_examples.linked[its_examples.judged])
        kept_weights = {part: part_weight for part, part_weight in part_weights.items() if part_weight > 0}
        # Examples have their evidence from a graph without the edges that were set aside. Pairs that are asked about
        # have theirs from the whole graph, where there is more of it for every pair, linked or not. How much it adds is
        # seen from unlinked examples with both kinds of evidence, by models that have not seen the pair: what a model
        # has learned by heart about a pair in one graph it does not know of the same pair in another.
        gained_odds = float((with_all - mixed_odds[its_examples.compared]).mean()) if len(with_all) else 0.0
        # a mean of the evidence may lie where no pair is, which misleads trees
        unlinked_rows = its_examples.rows[its_examples.judged & ~its_examples.linked]
        typical_row = np.median(unlinked_rows, axis=0) if len(unlinked_rows) else None
        mixture = LayerMixture(
            {part: part_models[part] for part in kept_weights},
            kept_weights,
            slope,
            offset - slope * gained_odds,
            typical_row,
        )
        fitted_by_layer.mixtures[layer_name], fitted_by_layer.unseen[layer_name] = (
            mixture,
            _share(slope * mixed_odds + offset),
        )
        fitted_by_layer.by_fold[layer_name] = [
            replace(mixture, parts={part: fold_models[part][fold_number] for part in kept_weights})
            for fold_number in range(FOLDS)
        ]
        tell()
    return fitted_by_layer


def _pooled(examples: Mapping[str, LayerExamples], inside: Mapping[str, Linked] | None = None) -> tuple[Floats, Linked]:
    """The evidence of several layers together and whether pairs are linked, perhaps of some examples alone."""
    chosen_rows = {layer_name: slice(None) for layer_name in examples} if inside is None else inside
    pooled_rows = np.concatenate(
        [layer_examples.rows[chosen_rows[layer_name]] for layer_name, layer_examples in examples.items()]
    )
    return pooled_rows, np.concatenate(
        [layer_examples.linked[chosen_rows[layer_name]] for layer_name, layer_examples in examples.items()]
    )


def _line_maker(examples: int) -> Maker:
    """Logistic regression with a penalty that suits the number of examples."""
    return partial(Line.fitted, strength=0.01 if examples < 200 else 0.1 if examples < 5000 else 1.0)


def _out_of_fold(
    examples: dict[str, LayerExamples], folds: dict[str, Ints], make: Maker
) -> tuple[dict[str, tuple[Floats, Floats]], list[Part]]:
    """Log-odds by models that have not seen the pair: of all examples of a layer, and of those with all edges.

    The models come with them, one for each fold.
    """
    fold_models: list[Part] = []
    odds_by_layer = {
        name: (np.zeros(len(one.linked)), np.zeros(0 if one.whole is None else len(one.whole)))
        for name, one in examples.items()
    }
    for fold_number in range(FOLDS):
        in_training = {name: folds[name] != fold_number for name in examples}
        training_rows, training_linked = _pooled(examples, in_training)
        if all(layer_mask.all() for layer_mask in in_training.values()) or len(np.unique(training_linked)) < 2:
            num_columns = training_rows.shape[1]
            fold_models.append(Line(np.zeros(num_columns), np.ones(num_columns), np.zeros(num_columns), 0.0))
            continue
        fold_models.append(make(training_rows, training_linked))
        for layer_name, layer_examples in examples.items():
            in_fold = ~in_training[layer_name]
            odds_by_layer[layer_name][0][in_fold] = part_log_odds(fold_models[-1], layer_examples.rows[in_fold])
            if layer_examples.whole is not None:
                in_fold = in_fold[layer_examples.compared]
                odds_by_layer[layer_name][1][in_fold] = part_log_odds(fold_models[-1], layer_examples.whole[in_fold])
    return odds_by_layer, fold_models


def _weights(odds: dict[str, Floats], linked: Linked) -> dict[str, float]:
    """Weights that sum to 1, by a walk over the simplex in steps of a tenth that lowers the loss most."""
    part_names = list(odds)
    odds_columns = np.stack([odds[part_name] for part_name in part_names], axis=1)
    best_weights = np.full(len(part_names), 1.0 / len(part_names))
    least_loss = loss_of(odds_columns @ best_weights, linked)
    for step_size in (0.3, 0.1, 0.05):
        improved = True
        while improved:
            improved = False
            for gaining_part in range(len(part_names)):
                for losing_part in range(len(part_names)):
                    tried_weights = best_weights.copy()
                    moved_weight = min(step_size, tried_weights[losing_part])
                    tried_weights[gaining_part] += moved_weight
                    tried_weights[losing_part] -= moved_weight
                    if (
                        gaining_part != losing_part
                        and (tried_loss := loss_of(odds_columns @ tried_weights, linked)) < least_loss - 1e-7
                    ):
                        best_weights, least_loss, improved = tried_weights, tried_loss, True
    return {
        part_name: float(round(part_weight, 6)) for part_name, part_weight in zip(part_names, best_weights, strict=True)
    }


def _calibration(odds: Floats, linked: Linked) -> tuple[float, float]:
    """Slope and offset of the line through the log-odds that lowers the loss most.

    The ridge keeps few or well separated pairs from being taken for certainty.
    """

    def loss(line: Floats) -> float:
        ridge = float((line[0] - 1) ** 2 + line[1] ** 2)
        return len(odds) * loss_of(line[0] * odds + line[1], linked) + ridge / 2

    slope, offset = minimize(loss, np.array([1.0, 0.0])).x
    return max(float(slope), 0.05), float(offset)


def _share(odds: Floats) -> Floats:
    clipped_share: Floats = expit(np.clip(odds, -30.0, 30.0))
    return clipped_share


def loss_of(odds: Floats, linked: Linked) -> float:
    """The logistic loss of log-odds, a mean over pairs."""
    return float(np.logaddexp(0.0, np.where(linked, -odds, odds)).mean())


def log_odds_of(probability: Floats) -> Floats:
    """The log-odds of probabilities, none beyond what a mixture may say."""
    clipped_odds: Floats = np.clip(logit(np.clip(probability, 1e-15, 1 - 1e-15)), -30.0, 30.0)
    return clipped_odds
