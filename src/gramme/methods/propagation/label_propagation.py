"""Label propagation over the layers: known labels spread to neighbours, nothing is trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods import parameters as check
from gramme.methods.base import NodeClassifier
from gramme.methods.importance import shares_of_joined
from gramme.methods.labels import KnownLabels, known_labels
from gramme.methods.propagation.series import Floats, NodeWalk, Walk, propagate, walk_of
from gramme.methods.propagation.settings_choice import (
    ALPHAS,
    POWERS,
    SHARPNESS,
    Candidate,
    Plan,
    baseline,
    choose,
    class_prior,
    probabilities,
    skill_weights,
    skills,
)
from gramme.methods.saving import Learned


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
    cross-validation in float32.

    Parameters
    ----------
    alpha : float, optional
        From 0 to below 1: the weight of what neighbours say. Chosen among 0.1, 0.3, 0.6 and 0.9 where not given.
    layer_weights : "equal" or mapping of layer name to float, optional
        Where not given, proportional to a power (0, 0.5, 1, 2 or 4, chosen) of each layer's skill: how much better the
        labels of labelled neighbours tell a node's own than the class frequencies do.
    sharpness : float, optional
        Exponent of a node's probabilities relative to the class frequencies: the mean over many neighbours is less sure
        than they are together. Chosen among 1, 2, 4, 8 and 16 where not given; 1 leaves the means as they are.
    class_mass : bool
        Class-mass normalisation: compare with the share of each class in what all nodes hear, rather than with its
        share in the labels.
    folds : int, optional
        Folds of the inner cross-validation; ten up to 200 labels and five beyond where not given.
    tolerance : float
        Share of the largest value by which a further step may still change one.
    max_iter : int
        Steps at most.
    random_state : int, numpy generator or None
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
        tolerance: float = 1e-5,
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

    def fit(self, graph: MultilayerGraph, y: Any = None) -> Self:
        graph = self._check_graph(graph)
        given = self._given_weights(graph)
        plan = self._plan(graph, given)
        known = known_labels(graph, y)
        seed = check.seed_of(self.random_state)
        self._begin(graph, known)
        walk = walk_of(graph)
        chosen = choose(graph, walk, known, plan, given, seed)
        weights = self._weights(graph, known, chosen, given)
        self.alpha_, self.sharpness_ = chosen.alpha, chosen.sharpness
        self.layer_weights_ = pd.Series(weights, index=self.layers_, name="weight")
        self.known_ = known.nodes
        result = self._spread(
            graph,
            walk,
            known.nodes,
            known.codes,
            np.bincount(known.codes, minlength=len(known.classes)),
        )
        self.layer_importance_ = pd.Series(
            _importance(graph, weights, result), index=self.layers_, name="importance"
        )
        self._finish(result, known)
        return self

    def _inductive_proba(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        labels = self.transduction_[self.known_].tolist()
        number = {label: code for code, label in enumerate(self.classes_.tolist())}
        codes = np.array([number[label] for label in labels], dtype=np.int64)
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
        classes = len(self.classes_)
        prior = class_prior(counts)
        if not nodes.size:
            return np.repeat(prior[None, :], graph.num_nodes, axis=0)
        found, totals = propagate(
            walk,
            nodes,
            np.eye(classes)[codes],
            np.repeat(self.layer_weights_.to_numpy()[:, None], classes, axis=1),
            [self.alpha_],
            np.arange(graph.num_nodes),
            tolerance=self.tolerance,
            most=self.max_iter,
        )
        base = baseline(prior, totals[0], self.class_mass)
        return probabilities(found[0], prior, base, self.sharpness_, nodes.size)

    def _given_weights(self, graph: MultilayerGraph) -> Floats | None:
        """Weights that sum to 1 where the user gave some."""
        if self.layer_weights is None:
            return None
        if isinstance(self.layer_weights, Mapping):
            for name in self.layer_weights:
                graph.layer(name)
            missing = [name for name in graph.layers if name not in self.layer_weights]
            if missing:
                raise DataError(
                    f"layer_weights says nothing about the layer {missing[0]!r}; name every layer"
                )
            values = np.array(
                [
                    check.number(f"layer_weights[{name!r}]", self.layer_weights[name], 0)
                    for name in graph.layers
                ]
            )
            if values.sum() == 0:
                raise DataError("layer_weights are all 0; at least one layer must count")
        else:
            check.choice("layer_weights", self.layer_weights, ("equal",))
            values = np.ones(graph.num_layers)
        shares: Floats = values / values.sum()
        return shares

    def _plan(self, graph: MultilayerGraph, given: Floats | None) -> Plan:
        alphas: tuple[float, ...] = ALPHAS
        sharpness: tuple[float, ...] = SHARPNESS
        if self.alpha is not None:
            alphas = (check.number("alpha", self.alpha, 0, 1),)
        if self.sharpness is not None:
            sharpness = (check.number("sharpness", self.sharpness, 0, open_low=True),)
        return Plan(
            powers=POWERS if given is None and graph.num_layers > 1 else (0.0,),
            alphas=alphas,
            sharpness=sharpness,
            class_mass=check.flag("class_mass", self.class_mass),
            folds=None if self.folds is None else check.whole("folds", self.folds, 2),
            tolerance=check.number("tolerance", self.tolerance, 0, 1),
            most=check.whole("max_iter", self.max_iter),
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

    def _learned(self) -> Learned:
        learned = super()._learned()
        learned.record |= {"alpha": self.alpha_, "sharpness": self.sharpness_}
        for name in ("layer_weights", "layer_importance"):
            learned.record[name] = getattr(self, f"{name}_").tolist()
        learned.tensors["known"] = torch.from_numpy(self.known_)
        return learned

    def _restore(self, learned: Learned) -> None:
        super()._restore(learned)
        record = learned.record
        self.alpha_, self.sharpness_ = float(record["alpha"]), float(record["sharpness"])
        self.known_ = learned.tensors["known"].numpy()
        self.layer_weights_ = pd.Series(record["layer_weights"], index=self.layers_, name="weight")
        self.layer_importance_ = pd.Series(
            record["layer_importance"], index=self.layers_, name="importance"
        )


def _importance(
    graph: MultilayerGraph, weights: Floats, result: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A layer's weight times the root mean square deviation, over the nodes, of the neighbourhood means it tells."""
    heard = np.zeros(len(weights))
    values = torch.from_numpy(result)
    for place, layer in enumerate(graph.layers.values()):
        if weights[place] > 0:
            walk = NodeWalk([layer], graph.num_nodes)
            means = walk.mean(0, values)[walk.scales[0][:, 0] > 0]
            if means.shape[0] > 0:
                spread = means.sub_(means.mean(0)).square_().sum()
                heard[place] = float((spread / graph.num_nodes).sqrt())
    parts: Floats = weights * heard
    # a difference that is mere rounding decides nothing
    return shares_of_joined(parts if parts.sum() > 1e-12 else weights, graph)
