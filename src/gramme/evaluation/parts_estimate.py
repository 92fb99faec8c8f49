"""How good a model is that several processes fitted together: the same estimates, from labels that all of them hold.

Folds and the labels set aside are drawn among the labelled nodes in the order of the whole graph, as on one process.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from gramme._progress import part
from gramme.distributed import PartGraph, rows_at
from gramme.evaluation.cross_validation import (
    DEFAULT_FOLDS,
    LARGE_NODE_LAYERS,
    VERY_LARGE_NODE_LAYERS,
    deal_folds,
    fold_note,
)
from gramme.evaluation.estimate import (
    Estimate,
    UnseenPredictions,
    holdout_estimate,
    joined_estimate,
)
from gramme.evaluation.holdout import hold_out
from gramme.methods import NodeClassifier
from gramme.methods.labels import KnownLabels


def labels_of(known: KnownLabels) -> NDArray[np.object_]:
    """The labels of the labelled nodes alone."""
    labels = np.empty(known.nodes.size, dtype=object)
    labels[:] = known.classes[known.codes].tolist()
    return labels


def set_aside(known: KnownLabels, share: float, random_state: int) -> NDArray[np.bool_]:
    """Which of the labels are set aside for an honest accuracy."""
    aside = np.zeros(known.nodes.size, dtype=bool)
    aside[hold_out(labels_of(known), share, random_state).held_out] = True
    return aside


def estimate_set_aside(
    model: NodeClassifier, graph: PartGraph, known: KnownLabels, share: float, random_state: int
) -> Estimate:
    """The accuracy of a fitted model on the labels that were set aside; a collective."""
    split = hold_out(labels_of(known), share, random_state)
    shares = rows_at(graph, model.predict_proba(), known.nodes)
    found = holdout_estimate(split, model.classes_, shares)
    return replace(found, tested=known.nodes[found.tested])


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
    labels = labels_of(known)
    dealt, single = deal_folds(labels, DEFAULT_FOLDS if folds is None else folds, random_state)
    if not dealt:
        return Estimate("none", "every class has a single label, so none can be tested")
    count = folds_in_parts(graph, len(dealt)) if folds is None else len(dealt)
    found = []
    for place, fold in enumerate(dealt[:count]):
        held = np.zeros(known.nodes.size, dtype=bool)
        held[fold] = True
        with warnings.catch_warnings(), part(f"fit {place + 1} of {count}", 1 / count):
            warnings.simplefilter("ignore")
            one: NodeClassifier = clone(model)
            one.fit(graph, known.without(held))
        if balanced:
            one.balance_classes()
        shares = rows_at(graph, one.predict_proba(), known.nodes)
        found.append(UnseenPredictions.of(fold, labels, one.classes_, shares))
    note = fold_note(len(dealt), count, single)
    joined = joined_estimate(
        "cross-validation",
        note,
        found,
        folds=len(dealt),
        folds_tested=count,
        to_predict=graph.whole.nodes - known.nodes.size,
    )
    return replace(joined, tested=known.nodes[joined.tested])


def folds_in_parts(graph: PartGraph, folds: int) -> int:
    """How many of the folds to test, by the size of the whole graph."""
    size = graph.whole.nodes * graph.num_layers
    large, very_large = size >= LARGE_NODE_LAYERS, size >= VERY_LARGE_NODE_LAYERS
    return min(folds, 1 if very_large else 2 if large else folds)
