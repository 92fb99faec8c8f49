"""Cross-validation: estimate how good a model is when every label is needed for learning.

The labelled nodes are dealt into folds. Each fold in turn is predicted by a model that learned from the labels of the
others alone, so every label is tested once and none is ever seen by the model that predicts it. The price is a fit per
fold.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from gramme._progress import part
from gramme._text import setting
from gramme.distributed import PartGraph, gather_rows
from gramme.errors import DataError, GrammeWarning
from gramme.graph import MultilayerGraph
from gramme.methods import NodeClassifier
from gramme.methods.base import keep_interrupted_fits
from gramme.methods.labels import KnownLabels, aligned_labels, dealt_in_turn

from .estimate import Estimate, UnseenPredictions, holdout_estimate, joined_estimate, unseen_of
from .splits import Holdout, hold_out, labelled_places


def fitted_estimate(model: NodeClassifier, labels: NDArray[np.object_]) -> Estimate:
    """The estimate of a fitted model that tests itself (:attr:`~gramme.methods.NodeClassifier.has_out_of_fold`).

    Parameters
    ----------
    model : NodeClassifier
        Fitted on these labels.
    labels : array of object, shape (nodes,)
        The known labels, None where unknown.
    """
    out_of_fold = model.out_of_fold()
    class_counts = np.bincount(out_of_fold.codes, minlength=len(model.classes_))
    is_tested = class_counts[out_of_fold.codes] > 1  # the only label of a class cannot be predicted from the others
    single_label_classes: list[Any] = [
        label for label, n in zip(model.classes_.tolist(), class_counts, strict=True) if n == 1
    ]
    tested_nodes = out_of_fold.nodes[is_tested]
    if not tested_nodes.size:
        return Estimate("none", "every class has a single label, so none can be tested")
    num_folds = int(min(model.get_params()["folds"], out_of_fold.nodes.size))
    unseen_part = UnseenPredictions(
        tested_nodes, list(labels[tested_nodes]), model.classes_.tolist(), out_of_fold.probabilities[is_tested]
    )
    note = (
        f"each label was predicted out of fold, with {num_folds}-fold cross-validation during the fit, also of "
        "weights and "
        "calibration; regularisation was chosen once, for all folds"
    )
    return joined_estimate(
        "cross-fitting",
        note + untested_note(single_label_classes),
        [unseen_part],
        folds=num_folds,
        folds_tested=num_folds,
        to_predict=nodes_without_label(labels),
    )


DEFAULT_FOLDS = 5
LARGE_NODE_LAYERS, VERY_LARGE_NODE_LAYERS = 1_000_000, 5_000_000
"""Above these numbers of nodes times layers, only two of the folds, or one, are tested by default."""


def deal_folds(
    labels: NDArray[np.object_], folds: int, random_state: int, nodes: pd.Index | None = None
) -> tuple[list[NDArray[np.int64]], list[Any]]:
    """Positions of the labelled nodes in each fold, and the classes that have a single label.

    Each class is shuffled and dealt like cards, going on where the last class ended: every fold gets its share of
    every class, and every class of two labels or more keeps some outside each fold. The only label of a class is in no
    fold, since without it the class would be unknown. With the names of the nodes given, a node's fold depends on names
    alone.

    >>> folds, single = deal_folds(np.array([*"aabbbc", None], dtype=object), 2, random_state=0)
    >>> sorted(np.concatenate(folds).tolist()), [len(fold) for fold in folds], single
    ([0, 1, 2, 3, 4], [3, 2], ['c'])
    """
    if folds < 2:
        raise DataError(f"folds must be a whole number of at least 2, not {folds!r}")
    known_nodes = labelled_places(labels, nodes)
    class_nodes: dict[Any, list[int]] = {}
    for position in known_nodes.tolist():
        class_nodes.setdefault(labels[position], []).append(position)
    random = np.random.default_rng([random_state, 5])
    single_label_classes = [label for label, nodes_of_class in class_nodes.items() if len(nodes_of_class) == 1]
    shuffled_classes = [
        random.permutation(nodes_of_class) for nodes_of_class in class_nodes.values() if len(nodes_of_class) > 1
    ]
    dealt_nodes = np.concatenate([*shuffled_classes, np.zeros(0, dtype=np.int64)]).astype(np.int64)
    fold_of_node = dealt_in_turn(np.arange(dealt_nodes.size), folds)
    return [
        np.sort(dealt_nodes[fold_of_node == fold_number]) for fold_number in range(min(folds, dealt_nodes.size))
    ], single_label_classes


def folds_to_test(graph: MultilayerGraph | PartGraph, folds: int) -> int:
    """How many of the folds to test: all, except in large data, where some of them have enough labels."""
    num_nodes = graph.whole.nodes if isinstance(graph, PartGraph) else graph.num_nodes
    node_layers = num_nodes * graph.num_layers
    return min(folds, folds if node_layers < LARGE_NODE_LAYERS else 2 if node_layers < VERY_LARGE_NODE_LAYERS else 1)


def cross_validate(
    model: NodeClassifier,
    graph: MultilayerGraph,
    labels: NDArray[np.object_],
    *,
    folds: int | None = None,
    random_state: int = 0,
    balanced: bool = False,
    tell: Callable[[int, int], None] | None = None,
) -> Estimate:
    """Predict every labelled node by a model that did not see its label.

    Parameters
    ----------
    model : NodeClassifier
        Its parameters are what counts; it is neither fitted nor changed.
    graph : MultilayerGraph
    labels : array of object, shape (nodes,)
        The known labels, None where unknown.
    folds : int, optional
        How many folds, all of them tested. If not given, 5, of which only two or one are tested in large data.
    random_state : int, default=0
        Which labels go to which fold.
    balanced : bool, default=False
        Whether every class counts alike (:meth:`~gramme.methods.NodeClassifier.balance_classes`).
    tell : callable, optional
        Called with the number of folds done and of folds to do, before each.

    Raises
    ------
    KeyboardInterrupt
        Also if a method would end its training early and keep what it has: half a fold says nothing.
    """

    def fitted(fold: NDArray[np.int64]) -> tuple[NodeClassifier, Any]:
        train_labels = labels.copy()
        train_labels[fold] = None
        fitted_model = clone(model).fit(graph, train_labels)
        if fitted_model.interrupted_:
            raise KeyboardInterrupt
        if balanced:
            fitted_model.balance_classes()
        return fitted_model, fitted_model.predict_proba()

    return _by_folds(fitted, graph, labels, nodes_without_label(labels), folds, random_state, graph.nodes, tell)


def _by_folds(
    fitted: Callable[[NDArray[np.int64]], tuple[NodeClassifier, Any]],
    graph: MultilayerGraph | PartGraph,
    labels: NDArray[np.object_],
    to_predict: int,
    folds: int | None,
    random_state: int,
    nodes: pd.Index | None = None,
    tell: Callable[[int, int], None] | None = None,
) -> Estimate:
    """Each fold predicted by the model that ``fitted`` makes without it, with class probabilities for all labels."""
    dealt_folds, single_label_classes = deal_folds(
        labels, DEFAULT_FOLDS if folds is None else folds, random_state, nodes
    )
    if not dealt_folds:
        return Estimate("none", "every class has a single label, so none can be tested")
    num_tested = folds_to_test(graph, len(dealt_folds)) if folds is None else len(dealt_folds)
    unseen_parts = []
    for fold_number, fold_nodes in enumerate(dealt_folds[:num_tested]):
        if tell is not None:
            tell(fold_number, num_tested)
        with warnings.catch_warnings(), part(f"fit {fold_number + 1} of {num_tested}", 1 / num_tested):
            warnings.simplefilter("ignore")
            model, fold_probabilities = fitted(fold_nodes)
        unseen_parts.append(UnseenPredictions.of(fold_nodes, labels, model.classes_, fold_probabilities))
    note = fold_note(len(dealt_folds), num_tested, single_label_classes)
    return joined_estimate(
        "cross-validation", note, unseen_parts, folds=len(dealt_folds), folds_tested=num_tested, to_predict=to_predict
    )


def nodes_without_label(labels: NDArray[np.object_]) -> int:
    """How many nodes there are to predict."""
    return int(sum(label is None for label in labels))


def fold_note(folds: int, tested: int, single: list[Any]) -> str:
    """How the accuracy was estimated, in words."""
    note = (
        f"the labelled nodes were divided into {folds} parts, and each part was predicted by a model that learned "
        "from the other parts only"
    )
    if tested < folds:
        which_folds = "one of them was" if tested == 1 else f"{tested} of them were"
        note += f"; since the data are large, only {which_folds} tested ({setting('folds', folds)} tests all)"
    return note + untested_note(single)


def untested_note(single: list[Any]) -> str:
    """The end of a note on an estimate: which classes could not be tested; nothing where all were."""
    if not single:
        return ""
    class_names = ", ".join(repr(label) for label in single[:5]) + (", ..." if len(single) > 5 else "")
    if len(single) == 1:
        return f"; a class with a single label cannot be tested and counts nowhere here: {class_names}"
    return f"; classes with a single label cannot be tested and count nowhere here: {class_names}"


@dataclass(frozen=True)
class EstimatePlan:
    """How to estimate the accuracy: on a share set aside, by folds, or not at all.

    Parameters
    ----------
    share : float, optional
        The share of the labels to set aside before the fit.
    folds : int, optional
        How many folds to cross-validate with. Without it a model that tests itself is taken at its word, and any
        other gets 5 folds.
    wanted : bool, default=True
        Whether to estimate the accuracy at all.
    """

    share: float | None = None
    folds: int | None = None
    wanted: bool = True

    def further_fits(self, graph: MultilayerGraph, model: NodeClassifier) -> int:
        """How many fits the estimate takes besides the model's own."""
        if self.share is not None or not self.wanted or (model.has_out_of_fold and self.folds is None):
            return 0
        return folds_to_test(graph, DEFAULT_FOLDS) if self.folds is None else self.folds


@dataclass(frozen=True)
class EstimatedFit:
    """What came out of :func:`fit_with_estimate`."""

    train: NDArray[np.object_]
    """The labels the model learned from, None elsewhere."""
    estimate: Estimate
    seconds: float
    """How long the fit took, by the clock."""


def fit_with_estimate(
    model: NodeClassifier,
    graph: MultilayerGraph,
    plan: EstimatePlan | None = None,
    *,
    random_state: int = 0,
    balanced: bool = False,
    stages: tuple[tuple[str, float], tuple[str, float]] = (("fit", 0.5), ("estimate", 0.5)),
) -> EstimatedFit:
    """Fit a model on a graph's labels and estimate its accuracy.

    Labels that are set aside are set aside before anything is learned. What the estimate finds for nodes the model
    did not learn from is kept in the model, for :meth:`~gramme.methods.NodeClassifier.predict_set`.

    Parameters
    ----------
    model : NodeClassifier
        It is fitted.
    graph : MultilayerGraph
        With labels.
    plan : EstimatePlan, optional
        How to estimate the accuracy; without a plan as ``EstimatePlan()`` does.
    random_state : int, default=0
        Which labels are set aside, or go to which fold.
    balanced : bool, default=False
        Whether every class counts alike (:meth:`~gramme.methods.NodeClassifier.balance_classes`).
    stages : pair of (str, float), default=(("fit", 0.5), ("estimate", 0.5))
        The name of each of the two stages and its share of the work, for whoever watches the progress.

    Examples
    --------
    >>> from gramme import datasets
    >>> from gramme.methods import LabelPropagation
    >>> found = fit_with_estimate(LabelPropagation(), datasets.load("wine"), EstimatePlan(share=0.5))
    >>> found.estimate.kind, len(found.estimate.labels)
    ('holdout', 89)
    """
    plan = EstimatePlan() if plan is None else plan
    labels = aligned_labels(graph)
    split = None if plan.share is None else hold_out(labels, plan.share, random_state, graph.nodes)
    train_labels = labels if split is None else split.train
    start_seconds = time.perf_counter()
    with part(*stages[0]), keep_interrupted_fits():
        model.fit(graph, train_labels)
        if balanced:
            model.balance_classes()
    fit_seconds = time.perf_counter() - start_seconds
    with part(*stages[1]):
        estimate = _estimate(model, graph, labels, split, plan, random_state)
    if estimate.labels:  # accuracy, prediction sets and the model's file rest on the same predictions
        model.keep_out_of_fold(unseen_of(estimate, model.classes_))
    return EstimatedFit(train_labels, estimate, fit_seconds)


def _estimate(
    model: NodeClassifier,
    graph: MultilayerGraph,
    labels: NDArray[np.object_],
    split: Holdout | None,
    plan: EstimatePlan,
    random_state: int,
) -> Estimate:
    if split is not None:
        return holdout_estimate(split, model.classes_, model.predict_proba())
    if model.interrupted_:
        return Estimate("none", "the training was interrupted")
    if not plan.wanted:
        return Estimate("none", "it was not asked for")
    if model.has_out_of_fold and plan.folds is None:
        return fitted_estimate(model, labels)
    try:
        return cross_validate(
            model, graph, labels, folds=plan.folds, random_state=random_state, balanced=hasattr(model, "class_weights_")
        )
    except KeyboardInterrupt:
        warnings.warn(
            "interrupted: the accuracy is not estimated, the predictions are kept", GrammeWarning, stacklevel=3
        )
        return Estimate("none", "the estimation was interrupted")


# How good a model is that several processes fitted together, from labels that all of them hold.


def labels_of(known: KnownLabels) -> NDArray[np.object_]:
    """The labels of the labelled nodes alone."""
    node_labels = np.empty(known.nodes.size, dtype=object)
    node_labels[:] = known.classes[known.codes].tolist()
    return node_labels


def set_aside(known: KnownLabels, share: float, random_state: int) -> NDArray[np.bool_]:
    """Which of the labels are set aside for an honest accuracy."""
    is_aside = np.zeros(known.nodes.size, dtype=bool)
    is_aside[hold_out(labels_of(known), share, random_state).held_out] = True
    return is_aside


def estimate_set_aside(
    model: NodeClassifier, graph: PartGraph, known: KnownLabels, share: float, random_state: int
) -> Estimate:
    """The accuracy of a fitted model on the labels that were set aside; a collective."""
    split = hold_out(labels_of(known), share, random_state)
    class_probabilities = gather_rows(graph, model.predict_proba(), known.nodes)
    holdout_result = holdout_estimate(split, model.classes_, class_probabilities)
    return replace(holdout_result, tested=known.nodes[holdout_result.tested])


def cross_validate_parts(
    model: NodeClassifier,
    graph: PartGraph,
    known: KnownLabels,
    *,
    folds: int | None = None,
    random_state: int = 0,
    balanced: bool = False,
) -> Estimate:
    """Predict every labelled node by a model that did not see its label; as ``cross_validate``, a collective."""
    node_labels = labels_of(known)

    def fitted(fold: NDArray[np.int64]) -> tuple[NodeClassifier, Any]:
        is_held = np.zeros(known.nodes.size, dtype=bool)
        is_held[fold] = True
        fitted_model = clone(model).fit(graph, known.without(is_held))
        if balanced:
            fitted_model.balance_classes()
        return fitted_model, gather_rows(graph, fitted_model.predict_proba(), known.nodes)

    to_predict = graph.whole.nodes - known.nodes.size
    fold_estimate = _by_folds(fitted, graph, node_labels, to_predict, folds, random_state)
    return replace(fold_estimate, tested=known.nodes[fold_estimate.tested])
