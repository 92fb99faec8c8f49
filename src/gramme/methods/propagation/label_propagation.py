"""Label propagation over the layers: known labels spread to neighbours, nothing is trained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from gramme._progress import part
from gramme._types import Floats
from gramme.distributed import PartGraph, communicator_of, node_count
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods.base import NodeClassifier
from gramme.methods.contributions import shares_of_joined
from gramme.methods.labels import ENOUGH_LABELS, KnownLabels, class_prior, enough_folds, softmax
from gramme.methods.params import (
    POSITIVE,
    SHARE,
    Number,
    PerLayer,
    PositiveFloat,
    PositiveInt,
    RandomSeed,
    Share,
    WholeNumber,
    per_layer,
)
from gramme.methods.persistence import SavedArray, SavedField, SavedSeries, SavedValue

from .layer_trust import layer_skills, trust_folds
from .series import ManyLayersWalk, NodeWalk, Propagated, Walk, propagate, walk_of

# How label propagation chooses its settings: inner cross-validation on the training labels, all
# folds at once.


ALPHAS = (0.3, 0.1, 0.6, 0.9)
POWERS = (1.0, 2.0, 4.0, 8.0)  # of the layers' skills
SHARPNESS = (1.0, 2.0, 4.0, 8.0, 16.0)
BATCH_NUMBERS = 1 << 22  # in a batch of columns, which bounds the memory, ...
CHOICE_TOLERANCE = 1e-3  # of the propagations that settings are chosen by, at least
MIN_PROBABILITY = 1e-3  # below which a held-out label counts no worse


class Candidate(NamedTuple):
    """Settings of a propagation, in the order of preference where they do equally well."""

    power: float
    alpha: float
    sharpness: float


@dataclass(frozen=True)
class Plan:
    """What to choose from and how."""

    powers: Sequence[float]
    alphas: Sequence[float]
    sharpness: Sequence[float]
    class_mass: bool
    folds: int | None
    tolerance: float
    most: int


def probabilities(scores: Floats, prior: Floats, base: Floats, sharpness: float | Floats, labels: int) -> Floats:
    """From propagated labels to class probabilities.

    The scores F of a node are made to sum to 1, f, mixed with one part in ``labels + 1`` of the prior (all of it where
    no label reaches the node), and compared with what a node hears on average: p_c ~ prior_c (f_c / base_c)^sharpness.
    """
    row_sums = scores.sum(-1, keepdims=True)
    reached_shares = np.where(row_sums > 0, scores / np.where(row_sums > 0, row_sums, 1), prior)
    mixed_shares = (labels * reached_shares + prior) / (labels + 1)
    return softmax(np.log(prior) + sharpness * (np.log(mixed_shares) - np.log(base)))


def baseline(prior: Floats, totals: Floats, class_mass: bool) -> Floats:
    """What a node hears on average: the class frequencies, or with ``class_mass`` the share of each class in F."""
    if not class_mass:
        return prior
    class_masses: Floats = np.maximum(totals / totals.sum(), 1e-12)
    return class_masses


def choose(walk: Walk, known: KnownLabels, plan: Plan, given: Floats | None, seed: int) -> tuple[Candidate, Floats]:
    """The candidate with the least log loss on held-out training labels, and the weights of the layers under it.

    The first candidate where there is nothing to test.
    """
    candidates = [
        Candidate(power, alpha, sharpness)
        for power in plan.powers
        for alpha in plan.alphas
        for sharpness in plan.sharpness
    ]
    class_counts = np.bincount(known.codes, minlength=len(known.classes))
    is_tested = class_counts[known.codes] > 1
    labels_fold = trust_folds(known.codes, plan.folds, seed)
    nothing_to_test = len(candidates) == 1 or not is_tested.any()
    held_folds = (
        [] if nothing_to_test else [int(number) for number in np.unique(enough_folds(labels_fold)) if number >= 0]
    )
    if given is None and walk.graph.num_layers == 1:
        given = np.ones(1)
    fold_skills = [] if given is not None else layer_skills(walk.graph, known, labels_fold, [*held_folds, None], walk)

    def weights(row: int, power: float) -> Floats:
        return fold_skills[row].weights(power) if given is None else given

    if not held_folds:
        return candidates[0], weights(-1, candidates[0].power)
    is_kept = labels_fold[None, :] != np.array(held_folds)[:, None]
    candidate_losses = np.zeros(len(candidates))
    unit_batches = list(_batches(walk, known, plan, is_kept))
    for batch_units in unit_batches:
        unit_weights = [weights(number, power) for number, power in batch_units]
        with part("", 0.9 / len(unit_batches)):
            unit_losses = list(_held_out_losses(walk, known, plan, is_kept, batch_units, unit_weights))
        for (fold_index, power), fold_losses in zip(batch_units, unit_losses, strict=True):
            first_candidate = plan.powers.index(power) * fold_losses.shape[0]
            is_scored = is_tested[~is_kept[fold_index]]
            candidate_losses[first_candidate : first_candidate + fold_losses.shape[0]] += fold_losses[:, is_scored].sum(
                1
            )
    # a handful of labels does not tell powers apart: doubling one must take half a unit off the log loss
    candidate_losses += [
        0.5 * abs(np.log2(candidate_settings.power / plan.powers[0])) for candidate_settings in candidates
    ]
    # rounding must not decide between candidates that do equally well
    chosen = candidates[int(np.flatnonzero(candidate_losses <= candidate_losses.min() * (1 + 1e-9) + 1e-12)[0])]
    return chosen, weights(-1, chosen.power)


def _batches(walk: Walk, known: KnownLabels, plan: Plan, kept: NDArray[np.bool_]) -> Iterator[list[tuple[int, float]]]:
    """Pairs of fold and power that are propagated together, each with a column per class."""
    fold_powers = [(fold_index, power) for fold_index in range(kept.shape[0]) for power in plan.powers]
    num_rows = max(node_count(walk.graph), known.nodes.size * len(plan.alphas))
    # rows of large data lie out of cache, where many columns of a row cost little more than one
    max_numbers = (1 << 24) if walk.large else BATCH_NUMBERS
    batch_size = max(1, max_numbers // (num_rows * len(known.classes)))
    for first_unit in range(0, len(fold_powers), batch_size):
        yield fold_powers[first_unit : first_unit + batch_size]


def _held_out_losses(
    walk: Walk,
    known: KnownLabels,
    plan: Plan,
    kept: NDArray[np.bool_],
    units: list[tuple[int, float]],
    columns: list[Floats],
) -> Iterator[Floats]:
    """For each fold and power the log losses of its held-out labels, shape (alphas x sharpness, held out)."""
    num_classes = len(known.classes)
    label_indicators = np.zeros((known.nodes.size, len(units), num_classes))
    for unit_index, (fold_index, _) in enumerate(units):
        label_indicators[kept[fold_index], unit_index, known.codes[kept[fold_index]]] = known.weights[kept[fold_index]]
    column_weights = np.repeat(np.stack(columns, axis=1), num_classes, axis=1)
    propagated_values, column_totals = propagate(
        walk,
        known.nodes,
        label_indicators.reshape(known.nodes.size, -1),
        column_weights,
        plan.alphas,
        known.nodes,
        tolerance=max(plan.tolerance, CHOICE_TOLERANCE),
        most=plan.most,
        dtype=torch.float32,
    )
    unit_shape = (len(plan.alphas), -1, len(units), num_classes)
    propagated_values, column_totals = propagated_values.reshape(unit_shape), column_totals.reshape(unit_shape)
    sharpness = np.array(plan.sharpness)[:, None, None]
    chunk_size = max(1, BATCH_NUMBERS // (len(plan.alphas) * sharpness.size * num_classes))
    for unit_index, (fold_index, _) in enumerate(units):
        held_labels = np.flatnonzero(~kept[fold_index])
        class_frequencies = class_prior(label_indicators[:, unit_index].sum(0))
        alpha_baselines = [
            baseline(class_frequencies, class_totals, plan.class_mass)
            for class_totals in column_totals[:, 0, unit_index]
        ]
        average_shares = np.stack(alpha_baselines)[:, None, None]
        label_losses = np.empty((len(plan.alphas), sharpness.size, held_labels.size))
        for first_label in range(0, held_labels.size, chunk_size):
            label_chunk = held_labels[first_label : first_label + chunk_size]
            # by alphas, sharpness, labels and classes, all in one: one after the other took most of the choice
            propagated_labels = np.ascontiguousarray(propagated_values[:, None, label_chunk, unit_index])
            label_probabilities = probabilities(
                propagated_labels, class_frequencies, average_shares, sharpness, known.nodes.size
            )
            own_probability = label_probabilities[..., np.arange(label_chunk.size), known.codes[label_chunk]]
            label_losses[..., first_label : first_label + chunk_size] = (
                -np.log(np.maximum(own_probability, MIN_PROBABILITY)) * known.weights[label_chunk]
            )
        yield label_losses.reshape(-1, held_labels.size)


@dataclass(kw_only=True, eq=False, repr=False)
class LabelPropagation(NodeClassifier):
    """Spread the known labels over all layers until they settle: F = alpha sum_l w_l P_l F + Y.

    P_l takes the mean over a node and its neighbours in layer l; a layer in which a node has no neighbours tells it
    nothing. A node's row of F, made to sum to 1 and compared with the class frequencies, gives its probabilities; a
    node that no label reaches gets the class frequencies. How far labels travel (alpha), how much each layer counts (w)
    and how sharp the probabilities are is chosen by inner cross-validation on the training labels alone, unless given;
    classes with a single training label are not tested there.

    For another graph the known labels are carried over by node name and spread there with the same settings; where none
    of the labelled nodes is in it, every node gets the class frequencies.

    Cost: edges (or memberships) x classes for each of some 10 to 60 steps, and for the inner cross-validation as many
    again for each fold and each power of the layers' skill; a table whose columns have few values is propagated among
    these values instead, so that the cross-validation hardly depends on its length. Steps run in float64, those of the
    cross-validation in float32. Only as many folds are tested as have a thousand labels, and copies of a model of a
    thousand labels or more take over its settings. Beyond two million nodes, memberships and ends of edges, unless it
    is such a table, all steps run in float32 and end earlier if no tolerance is given.

    Parameters
    ----------
    alpha : float or None, default=None
        From 0 to below 1: the weight of what neighbours say. Chosen among 0.1, 0.3, 0.6 and 0.9 if not given.
    layer_weights : "equal" or mapping of layer name to float or None, default=None
        If not given, proportional to each layer's skill: how much better labels that spread in it alone tell those that
        were hidden than the class frequencies do. With few labels the skills are drawn towards how far the layers agree
        with each other, which is all there is with one label per class. Where hidden labels ask for it, to the second,
        fourth or eighth power of the skills before they are drawn together, times the agreement squared.
    sharpness : float or None, default=None
        Exponent of a node's probabilities relative to the class frequencies: the mean over many neighbours is less sure
        than they are together. Chosen among 1, 2, 4, 8 and 16 if not given; 1 leaves the means as they are.
    class_mass : bool, default=False
        Class-mass normalisation: compare with the share of each class in what all nodes hear, rather than with its
        share in the labels.
    folds : int or None, default=None
        Folds of the inner cross-validation; ten up to 200 labels and five beyond if not given.
    tolerance : float or None, default=None
        Share of the largest value by which a further step may still change one. If not given, 1e-5, and 1e-3 for large
        data. All further powers are then taken to be equal, so that the error of a score is much smaller.
    max_iter : int, default=200
        Steps at most.
    random_state : int, numpy generator or None, default=None
        Decides which labels share a fold.

    Attributes
    ----------
    classes_, probabilities_, transduction_
        As for every :class:`~gramme.methods.NodeClassifier`.
    alpha_, sharpness_ : float
        The settings used.
    known_ : array of int
        Positions of the labelled nodes among ``nodes_``.
    layer_weights_ : Series
        The weight of each layer, summing to 1.
    layer_importance_ : Series
        Which layers decide, summing to 1: a layer's weight times how much what it tells differs from node to node.

    References
    ----------
    D. Zhou, O. Bousquet, T. N. Lal, J. Weston, B. Schölkopf, "Learning with Local and Global Consistency", NIPS 2003.

    X. Zhu, Z. Ghahramani, J. Lafferty, "Semi-Supervised Learning Using Gaussian Fields and Harmonic Functions", ICML
    2003 (class-mass normalisation).

    Examples
    --------
    >>> from gramme import datasets
    >>> g = datasets.load("balance_scale")
    >>> y = g.labels.copy()
    >>> y[::2] = None  # every other node is unknown
    >>> model = LabelPropagation(random_state=0).fit(g, y)
    >>> bool((model.predict() == g.labels)[::2].mean() > 0.8)
    True
    >>> model.layer_weights_.index.tolist()
    ['left_weight', 'left_distance', 'right_weight', 'right_distance']
    """

    alpha: Share | None = None
    layer_weights: Annotated[str | Mapping[str, float], PerLayer(Number(0), words=("equal",))] | None = None
    sharpness: PositiveFloat | None = None
    class_mass: bool = False
    folds: Annotated[int, WholeNumber(2)] | None = None
    tolerance: Share | None = None
    max_iter: PositiveInt = 200
    random_state: RandomSeed = None

    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedValue("alpha", SHARE),
        SavedValue("sharpness", POSITIVE),
        SavedSeries("layer_weights", label="weight", attribute="layer_weights_"),
        SavedSeries("layer_importance"),
        SavedArray("known", np.int64, ("labels",), below="nodes"),
        SavedArray("known_weights", np.float64, ("labels",), low=0, optional=True),
    )

    alpha_: float = field(init=False)
    sharpness_: float = field(init=False)
    known_: NDArray[np.int64] = field(init=False)
    known_weights_: Floats = field(init=False)
    layer_weights_: pd.Series = field(init=False)
    layer_importance_: pd.Series = field(init=False)

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        given_weights = self._given_weights(graph)
        if given_weights is not None and given_weights.sum() == 0:
            raise DataError("layer_weights are all 0; at least one layer must count")

    def _fit(
        self,
        graph: MultilayerGraph,
        known: KnownLabels,
        seed: int,
        *,
        settings: tuple[Candidate, Floats] | None = None,
        explained: bool = True,
    ) -> NDArray[np.floating[Any]]:
        """Learn; a copy may have the settings of the model it is a copy of, and need not say what its layers count."""
        given = self._given_weights(graph)
        if given is not None:
            given = given / given.sum()
        walk = walk_of(graph)
        chosen, weights = settings or choose(walk, known, self._plan(walk, given), given, seed)
        self._handed = {"settings": (chosen, weights)} if known.nodes.size >= ENOUGH_LABELS else {}
        self.alpha_, self.sharpness_ = chosen.alpha, chosen.sharpness
        self.layer_weights_ = self._by_layer(weights, "weight")
        self.known_ = known.nodes
        if known.sample_weight is not None:
            self.known_weights_ = known.weights
        if not isinstance(graph, PartGraph):
            self.known_ = self.nodes_.get_indexer(graph.nodes[known.nodes])
        result = self._spread(graph, walk, known, known.counts)
        if explained:
            self.layer_importance_ = self._by_layer(_importance(graph, walk, weights, result), "importance")
        return result

    def _warm_start(self, graph: MultilayerGraph) -> dict[str, Any]:
        return getattr(self, "_handed", {}) | {"explained": False}  # a file does not have the first

    def _inductive_proba(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        known = self._known_of_fit(graph.nodes)
        return self._spread(graph, walk_of(graph), known.part(known.nodes >= 0), known.counts).astype(np.float32)

    def _known_of_fit(self, nodes: pd.Index) -> KnownLabels:
        """The labels of the fit with their positions among some nodes, -1 where they are not there."""
        node_places = nodes.get_indexer(self.nodes_[self.known_])
        label_weights = vars(self).get("known_weights_", np.ones(self.known_.size))
        return KnownLabels(node_places, self.known_codes, self.classes_, weights=label_weights)

    def _spread(self, graph: MultilayerGraph, walk: Walk, known: KnownLabels, counts: Floats) -> Floats:
        """Class probabilities of all nodes, from labelled nodes and how often each class was seen in training."""
        prior = class_prior(counts)
        if not known.nodes.size:
            return np.repeat(prior[None, :], graph.num_nodes, axis=0)
        found = self._propagated(walk, known)
        base = baseline(prior, found.totals[0], self.class_mass)
        return probabilities(found.values[0], prior, base, self.sharpness_, known.nodes.size)

    def _propagated(self, walk: Walk, known: KnownLabels) -> Propagated:
        num_classes = len(self.classes_)
        layer_weights = self.layer_weights_[list(walk.graph.layers)].to_numpy()
        return propagate(
            walk,
            known.nodes,
            np.eye(num_classes)[known.codes] * known.weights[:, None],
            np.repeat(layer_weights[:, None], num_classes, axis=1),
            [self.alpha_],
            None,
            tolerance=self._tolerance(walk),
            most=self.max_iter,
            dtype=torch.float32 if self._in_haste(walk) else torch.float64,
        )

    def _in_haste(self, walk: Walk) -> bool:
        """Whether steps cost much and nobody asked for a tolerance."""
        return self.tolerance is None and walk.large

    def _tolerance(self, walk: Walk) -> float:
        if self.tolerance is not None:
            return float(self.tolerance)
        return CHOICE_TOLERANCE if self._in_haste(walk) else 1e-5

    @property
    def known_codes(self) -> NDArray[np.int64]:
        """The class of each labelled node, as a position among the classes."""
        return self._codes_at(self.known_)

    def heard(self, graph: MultilayerGraph) -> Floats:
        """F of the nodes of the fitted graph, (nodes, classes): how much of each class reaches them."""
        self.check_fitted()
        reached_labels: Floats = self._propagated(walk_of(graph), self._known_of_fit(graph.nodes)).values[0]
        return reached_labels

    def _given_weights(self, graph: MultilayerGraph) -> Floats | None:
        """The weight of each layer where the user gave some."""
        if self.layer_weights is None:
            return None
        if isinstance(self.layer_weights, str):  # "equal"
            return np.ones(graph.num_layers)
        return np.array(per_layer("layer_weights", self.layer_weights, graph.layers), dtype=float)

    def _plan(self, walk: Walk, given: Floats | None) -> Plan:
        return Plan(
            powers=POWERS if given is None and walk.graph.num_layers > 1 else POWERS[:1],
            alphas=ALPHAS if self.alpha is None else (float(self.alpha),),
            sharpness=SHARPNESS if self.sharpness is None else (float(self.sharpness),),
            class_mass=self.class_mass,
            folds=self.folds,
            tolerance=self._tolerance(walk),
            most=self.max_iter,
        )


def _importance(
    graph: MultilayerGraph, walk: Walk, weights: Floats, result: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A layer's weight times the root mean square deviation, over the nodes, of the neighbourhood means it tells."""
    if isinstance(walk, ManyLayersWalk):
        mean_deviations = (walk.spreads(result) / node_count(graph)) ** 0.5
    else:
        mean_deviations = _deviations(graph, walk, weights, result)
    layer_parts: Floats = weights * mean_deviations
    # a difference that is mere rounding decides nothing
    return shares_of_joined(layer_parts if layer_parts.sum() > 1e-12 else weights, graph)


def _deviations(graph: MultilayerGraph, walk: Walk, weights: Floats, result: NDArray[np.float64]) -> Floats:
    """The root mean square deviation of the means in each layer that counts."""
    layer_deviations, communicator = np.zeros(len(weights)), communicator_of(graph)
    node_values = torch.from_numpy(result)
    for layer_index, layer_name in enumerate(graph.layers):
        if weights[layer_index] > 0:
            # the walk that spread the labels has the sums of all layers, unless it went from group to group
            layer_walk, walk_layer = (
                (walk, layer_index) if isinstance(walk, NodeWalk) else (NodeWalk(graph, [layer_name]), 0)
            )
            layer_means = layer_walk.mean(walk_layer, node_values)[layer_walk.scales[walk_layer][:, 0] > 0]
            num_means = int(communicator.all_sum(layer_means.shape[0]))
            if num_means > 0:
                mean_centre = communicator.all_sum_(layer_means.sum(0)) / num_means
                squared_deviation = communicator.all_sum(float(layer_means.sub_(mean_centre).square_().sum()))
                layer_deviations[layer_index] = (squared_deviation / node_count(graph)) ** 0.5
    return layer_deviations
