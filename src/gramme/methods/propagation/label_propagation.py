"""Label propagation over the layers: known labels spread to neighbours, nothing is trained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from gramme._progress import part
from gramme._types import Floats
from gramme.distributed import PartGraph, communicator_of, gather_rows, local_index, node_count
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods.base import NodeClassifier
from gramme.methods.contributions import shares_of_joined
from gramme.methods.labels import (
    ENOUGH_LABELS,
    KnownLabels,
    class_prior,
    enough_folds,
    softmax,
    stratified_folds,
)
from gramme.methods.params import (
    POSITIVE,
    SHARE,
    Flag,
    NoneOr,
    Number,
    PerLayer,
    RandomState,
    Rule,
    WholeNumber,
    per_layer,
)
from gramme.methods.persistence import SavedArray, SavedField, SavedSeries, SavedValue
from gramme.ops import layers_sum

from .series import ManyLayersWalk, NodeWalk, Propagated, Walk, propagate, walk_of

# How label propagation chooses its settings: inner cross-validation on the training labels, all
# folds at once.


ALPHAS = (0.3, 0.1, 0.6, 0.9)
POWERS = (0.0, 0.5, 1.0, 2.0, 4.0)
SHARPNESS = (1.0, 2.0, 4.0, 8.0, 16.0)
MANY_FOLDS_LABELS = 200  # labels up to which ten folds are made, and five beyond
PSEUDO_LABELS = (
    3  # labelled neighbourhoods without gain that are added when a layer's skill is averaged
)
EVEN_SHARE = 0.05  # part of the weight that all layers share, as a node may be reached through the least of them only
BATCH_NUMBERS = 1 << 22  # in a batch of columns, which bounds the memory, ...
LARGE_BATCH_NUMBERS = 1 << 24
"""... and of large data: their rows lie out of cache, where many columns of a row cost little more than one."""
CHOICE_SHARE = 0.9  # of a fit that chooses its settings; used only to show progress
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


def probabilities(
    scores: Floats, prior: Floats, base: Floats, sharpness: float | Floats, labels: int
) -> Floats:
    """From propagated labels to class probabilities.

    The scores F of a node are made to sum to 1, f, mixed with one part in ``labels + 1`` of the prior (all of it where
    no label reaches the node), and compared with what a node hears on average: p_c ~ prior_c (f_c / base_c)^sharpness.
    """
    total = scores.sum(-1, keepdims=True)
    heard = np.where(total > 0, scores / np.where(total > 0, total, 1), prior)
    mixed = (labels * heard + prior) / (labels + 1)
    return softmax(np.log(prior) + sharpness * (np.log(mixed) - np.log(base)))


def baseline(prior: Floats, totals: Floats, class_mass: bool) -> Floats:
    """What a node hears on average: the class frequencies, or with ``class_mass`` the share of each class in F."""
    if not class_mass:
        return prior
    shares: Floats = np.maximum(totals / totals.sum(), 1e-12)
    return shares


def skills(graph: MultilayerGraph, known: KnownLabels, kept: NDArray[np.bool_]) -> Floats:
    """The skill of every layer for every fold, (folds, layers), from the labels it keeps, (folds, known)."""
    folds, size = kept.shape
    classes = len(known.classes)
    hot = np.zeros((size, folds, classes))
    hot[np.arange(size), :, known.codes] = kept.T
    counts = hot.sum(0)
    prior = class_prior(counts)
    # a class with a single label left cannot be told by others of its class, whatever the layer is worth
    tested = kept & (counts[:, known.codes] > 1)
    found = np.zeros((folds, graph.num_layers))
    for place, layer in enumerate(graph.layers):
        flat = hot.reshape(size, -1)
        votes = _votes(graph, layer, known.nodes, flat).reshape(size, folds, classes)
        heard = votes.sum(-1)
        own = votes[np.arange(size), :, known.codes]
        expected = prior[:, known.codes].T
        gain = np.log((own + expected) / (heard + 1)) - np.log(expected)
        counted = tested.T & (heard > 0)
        found[:, place] = (gain * counted).sum(0) / (counted.sum(0) + PSEUDO_LABELS)
    return np.maximum(found, 0)


def _votes(graph: MultilayerGraph, layer: str, nodes: NDArray[np.int64], values: Floats) -> Floats:
    """The sums over the labelled neighbours of labelled nodes in a layer."""
    if not isinstance(graph, PartGraph):
        found: Floats = graph.layers[layer].subset(nodes).neighbour_sums(values)
        return found
    which, positions = local_index(graph, nodes)
    start = torch.zeros(graph.num_nodes, values.shape[1], dtype=torch.float64)
    start[torch.from_numpy(positions)] = torch.from_numpy(values[which])
    heard = layers_sum(graph, [layer])(start) - start
    return gather_rows(graph, heard.numpy(), nodes)


def skill_weights(skill: Floats, power: float) -> Floats:
    """Layer weights that sum to 1: a part spread evenly, the rest proportional to a power of the skills."""
    best = skill.max(-1, keepdims=True)
    raised = np.where(best > 0, (skill / np.where(best > 0, best, 1)) ** power, 1.0)
    weights: Floats = raised / raised.sum(-1, keepdims=True)
    mixed: Floats = (1 - EVEN_SHARE) * weights + EVEN_SHARE / skill.shape[-1]
    return mixed


def choose(
    graph: MultilayerGraph,
    walk: Walk,
    known: KnownLabels,
    plan: Plan,
    given: Floats | None,
    seed: int,
) -> Candidate:
    """The candidate with the least log loss on held-out training labels; the first where there is nothing to test."""
    candidates = [
        Candidate(power, alpha, sharpness)
        for power in plan.powers
        for alpha in plan.alphas
        for sharpness in plan.sharpness
    ]
    counts = np.bincount(known.codes, minlength=len(known.classes))
    tested = counts[known.codes] > 1
    if len(candidates) == 1 or not tested.any():
        return candidates[0]
    folds = plan.folds or (10 if known.codes.size <= MANY_FOLDS_LABELS else 5)
    fold = enough_folds(stratified_folds(known.codes, folds, seed))
    kept = fold[None, :] != np.arange(fold.max() + 1)[:, None]
    loss = np.zeros(len(candidates))
    skill = skills(graph, known, kept) if given is None and max(plan.powers) > 0 else None
    batches = list(_batches(walk, known, plan, kept))
    for units in batches:
        columns = []
        for number, power in units:
            if given is not None:
                columns.append(given)
            elif skill is None:
                columns.append(np.full(graph.num_layers, 1 / graph.num_layers))
            else:
                columns.append(skill_weights(skill[number], power))
        with part("", CHOICE_SHARE / len(batches)):
            found = list(_held_out_losses(walk, known, plan, kept, units, columns))
        for (number, power), losses in zip(units, found, strict=True):
            first = plan.powers.index(power) * losses.shape[0]
            scored = tested[~kept[number]]
            loss[first : first + losses.shape[0]] += losses[:, scored].sum(1)
    # rounding must not decide between candidates that do equally well
    return candidates[int(np.flatnonzero(loss <= loss.min() * (1 + 1e-9) + 1e-12)[0])]


def _batches(
    walk: Walk, known: KnownLabels, plan: Plan, kept: NDArray[np.bool_]
) -> Iterator[list[tuple[int, float]]]:
    """Pairs of fold and power that are propagated together, each with a column per class."""
    units = [(fold, power) for fold in range(kept.shape[0]) for power in plan.powers]
    rows = max(node_count(walk.graph), known.nodes.size * len(plan.alphas))
    numbers = LARGE_BATCH_NUMBERS if walk.large else BATCH_NUMBERS
    size = max(1, numbers // (rows * len(known.classes)))
    for begin in range(0, len(units), size):
        yield units[begin : begin + size]


def _held_out_losses(
    walk: Walk,
    known: KnownLabels,
    plan: Plan,
    kept: NDArray[np.bool_],
    units: list[tuple[int, float]],
    columns: list[Floats],
) -> Iterator[Floats]:
    """For each fold and power the log losses of its held-out labels, shape (alphas x sharpness, held out)."""
    classes = len(known.classes)
    hot = np.zeros((known.nodes.size, len(units), classes))
    for place, (number, _) in enumerate(units):
        hot[kept[number], place, known.codes[kept[number]]] = 1
    weights = np.repeat(np.stack(columns, axis=1), classes, axis=1)
    values, totals = propagate(
        walk,
        known.nodes,
        hot.reshape(known.nodes.size, -1),
        weights,
        plan.alphas,
        known.nodes,
        tolerance=max(plan.tolerance, CHOICE_TOLERANCE),
        most=plan.most,
        dtype=torch.float32,
    )
    shape = (len(plan.alphas), -1, len(units), classes)
    values, totals = values.reshape(shape), totals.reshape(shape)
    sharpness = np.array(plan.sharpness)[:, None, None]
    rows = max(1, BATCH_NUMBERS // (len(plan.alphas) * sharpness.size * classes))
    for place, (number, _) in enumerate(units):
        held = np.flatnonzero(~kept[number])
        prior = class_prior(hot[:, place].sum(0))
        bases = [baseline(prior, one, plan.class_mass) for one in totals[:, 0, place]]
        base = np.stack(bases)[:, None, None]
        losses = np.empty((len(plan.alphas), sharpness.size, held.size))
        for begin in range(0, held.size, rows):
            some = held[begin : begin + rows]
            # by alphas, sharpness, labels and classes, all in one: one after the other took most of the choice
            scores = np.ascontiguousarray(values[:, None, some, place])
            found = probabilities(scores, prior, base, sharpness, known.nodes.size)
            own = found[..., np.arange(some.size), known.codes[some]]
            losses[..., begin : begin + rows] = -np.log(np.maximum(own, MIN_PROBABILITY))
        yield losses.reshape(-1, held.size)


TOLERANCE = 1e-5


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
        If not given, proportional to a power (0, 0.5, 1, 2 or 4, chosen) of each layer's skill: how much better the
        labels of labelled neighbours tell a node's own than the class frequencies do.
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

    parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "alpha": NoneOr(SHARE),
        "layer_weights": NoneOr(PerLayer(Number(0), words=("equal",))),
        "sharpness": NoneOr(POSITIVE),
        "class_mass": Flag(),
        "folds": NoneOr(WholeNumber(2)),
        "tolerance": NoneOr(SHARE),
        "max_iter": WholeNumber(),
        "random_state": RandomState(),
    }
    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedValue("alpha", SHARE),
        SavedValue("sharpness", POSITIVE),
        SavedSeries("layer_weights", label="weight", attribute="layer_weights_"),
        SavedSeries("layer_importance"),
        SavedArray("known", np.int64, ("labels",), below="nodes"),
    )

    alpha_: float
    sharpness_: float
    known_: NDArray[np.int64]
    layer_weights_: pd.Series
    layer_importance_: pd.Series

    def __init__(
        self,
        *,
        alpha: float | None = None,
        layer_weights: str | Mapping[str, float] | None = None,
        sharpness: float | None = None,
        class_mass: bool = False,
        folds: int | None = None,
        tolerance: float | None = None,
        max_iter: int = 200,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.layer_weights = layer_weights
        self.sharpness = sharpness
        self.class_mass = class_mass
        self.folds = folds
        self.tolerance = tolerance
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        weights = self._given_weights(graph)
        if weights is not None and weights.sum() == 0:
            raise DataError("layer_weights are all 0; at least one layer must count")

    def _fit(
        self,
        graph: MultilayerGraph,
        known: KnownLabels,
        seed: int,
        *,
        settings: Candidate | None = None,
        explained: bool = True,
    ) -> NDArray[np.floating[Any]]:
        """Learn; a copy may have the settings of the model it is a copy of, and need not say what its layers count."""
        given = self._given_weights(graph)
        if given is not None:
            given = given / given.sum()
        walk = walk_of(graph)
        chosen = settings or choose(graph, walk, known, self._plan(walk, given), given, seed)
        many = known.nodes.size >= ENOUGH_LABELS
        self._handed = {"settings": chosen} if many else {}
        weights = self._weights(graph, known, chosen, given)
        self.alpha_, self.sharpness_ = chosen.alpha, chosen.sharpness
        self.layer_weights_ = self._by_layer(weights, "weight")
        self.known_ = known.nodes
        if not isinstance(graph, PartGraph):
            self.known_ = self.nodes_.get_indexer(graph.nodes[known.nodes])
        result = self._spread(
            graph,
            walk,
            known.nodes,
            known.codes,
            np.bincount(known.codes, minlength=len(known.classes)),
        )
        if explained:
            self.layer_importance_ = self._by_layer(
                _importance(graph, walk, weights, result), "importance"
            )
        return result

    def _warm_start(self, graph: MultilayerGraph) -> dict[str, Any]:
        return getattr(self, "_handed", {}) | {"explained": False}  # a file does not have the first

    def _inductive_proba(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        codes = self.known_codes
        places = graph.nodes.get_indexer(self.nodes_[self.known_])
        here = places >= 0
        counts = np.bincount(codes, minlength=len(self.classes_))
        found = self._spread(graph, walk_of(graph), places[here], codes[here], counts)
        return found.astype(np.float32)

    def _spread(
        self,
        graph: MultilayerGraph,
        walk: Walk,
        nodes: NDArray[np.int64],
        codes: NDArray[np.int64],
        counts: NDArray[np.int64],
    ) -> Floats:
        """Class probabilities of all nodes, from labelled nodes and how often each class was seen in training."""
        prior = class_prior(counts)
        if not nodes.size:
            return np.repeat(prior[None, :], graph.num_nodes, axis=0)
        found = self._propagated(walk, nodes, codes)
        base = baseline(prior, found.totals[0], self.class_mass)
        return probabilities(found.values[0], prior, base, self.sharpness_, nodes.size)

    def _propagated(
        self, walk: Walk, nodes: NDArray[np.int64], codes: NDArray[np.int64]
    ) -> Propagated:
        classes = len(self.classes_)
        weights = self.layer_weights_[list(walk.graph.layers)].to_numpy()
        return propagate(
            walk,
            nodes,
            np.eye(classes)[codes],
            np.repeat(weights[:, None], classes, axis=1),
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
        return CHOICE_TOLERANCE if self._in_haste(walk) else TOLERANCE

    @property
    def known_codes(self) -> NDArray[np.int64]:
        """The class of each labelled node, as a position among the classes."""
        number = {label: code for code, label in enumerate(self.classes_.tolist())}
        labels = self.transduction_[self.known_].tolist()
        return np.array([number[label] for label in labels], dtype=np.int64)

    def heard(self, graph: MultilayerGraph) -> Floats:
        """F of the nodes of the fitted graph, (nodes, classes): how much of each class reaches them."""
        self.check_fitted()
        known = graph.nodes.get_indexer(self.nodes_[self.known_])
        found: Floats = self._propagated(walk_of(graph), known, self.known_codes).values[0]
        return found

    def _given_weights(self, graph: MultilayerGraph) -> Floats | None:
        """The weight of each layer where the user gave some."""
        if self.layer_weights is None:
            return None
        if isinstance(self.layer_weights, str):  # "equal"
            return np.ones(graph.num_layers)
        return np.array(per_layer("layer_weights", self.layer_weights, graph.layers), dtype=float)

    def _plan(self, walk: Walk, given: Floats | None) -> Plan:
        return Plan(
            powers=POWERS if given is None and walk.graph.num_layers > 1 else (0.0,),
            alphas=ALPHAS if self.alpha is None else (float(self.alpha),),
            sharpness=SHARPNESS if self.sharpness is None else (float(self.sharpness),),
            class_mass=self.class_mass,
            folds=self.folds,
            tolerance=self._tolerance(walk),
            most=self.max_iter,
        )

    def _weights(
        self, graph: MultilayerGraph, known: KnownLabels, chosen: Candidate, given: Floats | None
    ) -> Floats:
        if given is not None:
            return given
        if chosen.power == 0:
            return np.full(graph.num_layers, 1 / graph.num_layers)
        every = np.ones((1, known.nodes.size), dtype=bool)
        return skill_weights(skills(graph, known, every)[0], chosen.power)


def _importance(
    graph: MultilayerGraph, walk: Walk, weights: Floats, result: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A layer's weight times the root mean square deviation, over the nodes, of the neighbourhood means it tells."""
    if isinstance(walk, ManyLayersWalk):
        heard = (walk.spreads(result) / node_count(graph)) ** 0.5
    else:
        heard = _deviations(graph, walk, weights, result)
    parts: Floats = weights * heard
    # a difference that is mere rounding decides nothing
    return shares_of_joined(parts if parts.sum() > 1e-12 else weights, graph)


def _deviations(
    graph: MultilayerGraph, walk: Walk, weights: Floats, result: NDArray[np.float64]
) -> Floats:
    """The root mean square deviation of the means in each layer that counts."""
    heard, communicator = np.zeros(len(weights)), communicator_of(graph)
    values = torch.from_numpy(result)
    for place, layer in enumerate(graph.layers):
        if weights[place] > 0:
            # the walk that spread the labels has the sums of all layers, unless it went from group to group
            steps, at = (
                (walk, place) if isinstance(walk, NodeWalk) else (NodeWalk(graph, [layer]), 0)
            )
            means = steps.mean(at, values)[steps.scales[at][:, 0] > 0]
            count = int(communicator.all_sum(means.shape[0]))
            if count > 0:
                centre = communicator.all_sum_(means.sum(0)) / count
                spread = communicator.all_sum(float(means.sub_(centre).square_().sum()))
                heard[place] = (spread / node_count(graph)) ** 0.5
    return heard
