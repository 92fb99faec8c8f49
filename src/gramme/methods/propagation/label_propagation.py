"""Label propagation over the layers: known labels spread to neighbours, nothing is trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from gramme.distributed import PartGraph, node_count, world_of
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods.base import NodeClassifier
from gramme.methods.data_size import DataSize
from gramme.methods.folds import is_large
from gramme.methods.importance import shares_of_joined
from gramme.methods.labels import KnownLabels
from gramme.methods.parameters import (
    POSITIVE,
    SHARE,
    Flag,
    Number,
    Optional,
    PerLayer,
    RandomState,
    Rule,
    WholeNumber,
    per_layer,
)
from gramme.methods.probability import class_prior
from gramme.methods.propagation.many_layers import ManyLayersWalk
from gramme.methods.propagation.series import (
    Floats,
    NodeWalk,
    Propagated,
    Walk,
    propagate,
)
from gramme.methods.propagation.settings_choice import (
    ALPHAS,
    CHOICE_TOLERANCE,
    POWERS,
    SHARPNESS,
    Candidate,
    Plan,
    baseline,
    choose,
    probabilities,
    skill_weights,
    skills,
)
from gramme.methods.propagation.walk_choice import walk_of
from gramme.methods.saved_fields import SavedArray, SavedField, SavedSeries, SavedValue

EDGES_NODE_SECONDS, HASTY_NODE_SECONDS, GROUPS_NODE_SECONDS = 2.5e-5, 1e-5, 5e-6
"""For each node that is joined by edges, by very many of them, and by groups; used only to show progress."""
TOLERANCE = 1e-5
MANY_LABELS = 1_000  # from which a copy takes over the settings of large data: none of them hangs on one label


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
    cross-validation in float32. Beyond two million nodes, memberships and ends of edges, unless it is such a table, all
    steps run in float32 and end earlier if no tolerance is given; only as many folds are tested as have a thousand
    labels, and copies of a model of a thousand labels or more take over its settings.

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
        "alpha": Optional(SHARE),
        "layer_weights": Optional(PerLayer(Number(0), words=("equal",))),
        "sharpness": Optional(POSITIVE),
        "class_mass": Flag(),
        "folds": Optional(WholeNumber(2)),
        "tolerance": Optional(SHARE),
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

    def seconds_for(self, size: DataSize) -> float:
        """Roughly how long a fit takes on one core; used only to show progress."""
        groups = GROUPS_NODE_SECONDS * size.nodes
        if not size.ends:
            return 0.05 + groups
        each = HASTY_NODE_SECONDS if is_large(int(size.entries)) else EDGES_NODE_SECONDS
        return 0.05 + each * size.nodes + groups * bool(size.memberships)

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
        many = walk.large and known.nodes.size >= MANY_LABELS
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

    def _hand_down(self, graph: MultilayerGraph) -> dict[str, Any]:
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
    heard, world = np.zeros(len(weights)), world_of(graph)
    values = torch.from_numpy(result)
    for place, layer in enumerate(graph.layers):
        if weights[place] > 0:
            # the walk that spread the labels has the sums of all layers, unless it went from group to group
            steps, at = (
                (walk, place) if isinstance(walk, NodeWalk) else (NodeWalk(graph, [layer]), 0)
            )
            means = steps.mean(at, values)[steps.scales[at][:, 0] > 0]
            count = int(world.total(means.shape[0]))
            if count > 0:
                centre = world.total_(means.sum(0)) / count
                spread = world.total(float(means.sub_(centre).square_().sum()))
                heard[place] = (spread / node_count(graph)) ** 0.5
    return heard
