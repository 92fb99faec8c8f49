"""Predictions for training labels by models that have not seen them, made while the model proper is fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gramme._progress import advance
from gramme.graph import MultilayerGraph
from gramme.methods.labels import KnownLabels
from gramme.methods.probability import Floats, class_prior

if TYPE_CHECKING:
    from gramme.methods.base import NodeClassifier


def refit_for_folds(
    model: NodeClassifier, graph: MultilayerGraph, known: KnownLabels, fold: NDArray[np.int64]
) -> Floats:
    """What a fitted model would say of each label had it not seen the label's fold: a fit of a copy for each fold.

    Parameters
    ----------
    model : NodeClassifier
        Fitted on all the known labels.
    graph : MultilayerGraph
    known : KnownLabels
    fold : array of int, shape (labelled,)
        The fold of each label.

    Returns
    -------
    array, shape (labelled, classes)
        Class frequencies where only one class is left outside a fold; NaN where an interrupt (Ctrl-C) came first.
    """
    classes = len(known.classes)
    y = np.full(graph.num_nodes, None, dtype=object)
    y[known.nodes] = known.classes[known.codes].tolist()
    found = np.full((known.nodes.size, classes), np.nan)
    folds = int(fold.max()) + 1
    for number in range(folds):
        advance((number + 1) / (folds + 1))  # the fit of the model itself came first
        held = fold == number
        left = np.bincount(known.codes[~held], minlength=classes)
        if (left > 0).sum() < 2:
            found[held] = class_prior(left)
            continue
        others = y.copy()
        others[known.nodes[held]] = None
        copy = model.fit_copy(graph, others)
        if copy.interrupted_:
            model.interrupted_ = True
            break
        found[held] = 0
        found[np.ix_(held, left > 0)] = copy.predict_proba()[known.nodes[held]]
    return found
