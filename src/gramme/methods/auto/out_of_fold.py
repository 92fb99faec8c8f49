"""Predictions for training labels by models that have not seen them, made while the model proper is fitted.

The training labels are split into folds. Members of an attention model that leave a fold out train in the same batched
program as the members that see every label, so that the cross-validation costs a few more members and not several more
fits; there are two of them to a fold, as a single one says less than the ensemble it stands for. Other methods are
fitted once more for each fold; they are cheap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gramme.graph import MultilayerGraph
from gramme.methods.attention.estimator import AttentionModel
from gramme.methods.base import NodeClassifier
from gramme.methods.labels import KnownLabels
from gramme.methods.propagation.settings_choice import class_prior

Floats = NDArray[np.float64]

COPIES = 2  # members that leave out the same fold


def fit_out_of_fold(
    model: NodeClassifier, graph: MultilayerGraph, known: KnownLabels, fold: NDArray[np.int64]
) -> Floats:
    """Fit a model on all labels and return what it says of each label when it has not seen that label's fold.

    Parameters
    ----------
    model : NodeClassifier
        Fitted by this.
    fold : array of int, shape (labelled,)
        The fold of each label.

    Returns
    -------
    array, shape (labelled, classes)
        Rows are NaN where an interrupt (Ctrl-C) came before a fold was trained.
    """
    if isinstance(model, AttentionModel):
        return model.fit_with_folds(graph, known, fold, COPIES)
    y = np.full(graph.num_nodes, None, dtype=object)
    y[known.nodes] = known.classes[known.codes].tolist()
    model.fit(graph, y)
    found = np.empty((known.nodes.size, len(known.classes)))
    for number in range(int(fold.max()) + 1):
        held = fold == number
        found[held] = _refitted(model, graph, known, y, held)
    return found


def _refitted(
    model: NodeClassifier,
    graph: MultilayerGraph,
    known: KnownLabels,
    y: NDArray[np.object_],
    held: NDArray[np.bool_],
) -> Floats:
    """Probabilities of the held-out labels from a fit on the others; class frequencies where one class is left."""
    classes = len(known.classes)
    left = np.bincount(known.codes[~held], minlength=classes)
    if (left > 0).sum() < 2:
        return np.repeat(class_prior(left)[None, :], int(held.sum()), axis=0)
    others = y.copy()
    others[known.nodes[held]] = None
    copy = model.fit_copy(graph, others)
    found = np.zeros((int(held.sum()), classes))
    found[:, left > 0] = copy.predict_proba()[known.nodes[held]]
    return found
