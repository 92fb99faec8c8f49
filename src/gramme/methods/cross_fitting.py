"""Predictions for training labels by models that have not seen them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gramme._progress import part
from gramme._types import Floats
from gramme.distributed import gather_rows
from gramme.graph import MultilayerGraph
from gramme.graph.canonical import in_name_order

from .labels import KnownLabels, class_prior, stratified_folds

if TYPE_CHECKING:
    from .base import NodeClassifier

FOLDS = 5
"""Parts of the labels, each of which is predicted by a model of the others, where nobody says another number."""


@dataclass(frozen=True)
class OutOfFold:
    """Predictions for some labels by models that had not learned from them.

    Attributes
    ----------
    nodes : array of int, shape (tested,)
        Positions of the nodes with these labels.
    codes : array of int, shape (tested,)
        The class of each; -1 for one that the model does not know.
    probabilities : array of float, shape (tested, classes)
    folds : int, default=0
        Into how many parts the labels were divided; 0 where the model itself had not seen these.
    """

    nodes: NDArray[np.int64]
    codes: NDArray[np.int64]
    probabilities: NDArray[np.floating[Any]]
    folds: int = 0

    def own(self) -> Floats:
        """The probability that was given to each label's own class; 0 for a class the model does not know."""
        given = self.probabilities[np.arange(self.codes.size), np.maximum(self.codes, 0)]
        return np.where(self.codes >= 0, given, 0).astype(np.float64)

    def set_scores(self) -> Floats:
        """How well each label's own class did: 1 if it was the most probable one, or else its probability."""
        return np.where(self.probabilities.argmax(axis=1) == self.codes, 1.0, self.own())


def out_of_fold(model: NodeClassifier, graph: MultilayerGraph, known: KnownLabels, folds: int = FOLDS) -> OutOfFold:
    """Predictions by copies of a fitted model, each for the labels of the fold it has not seen.

    Raises
    ------
    KeyboardInterrupt
        Also where a method would end its training early and keep what it has: half a fold says nothing.
    """
    known, _ = known.sorted_by_name(in_name_order(graph))  # so that folds follow names
    fold = stratified_folds(known.codes, folds, seed=0)
    found = refit_for_folds(model, graph, known, fold)
    if np.isnan(found).any():
        model.interrupted_ = False  # the model itself is whole
        raise KeyboardInterrupt
    return OutOfFold(known.nodes, known.codes, found, int(fold.max()) + 1)


def refit_for_folds(
    model: NodeClassifier, graph: MultilayerGraph, known: KnownLabels, fold: NDArray[np.int64]
) -> Floats:
    """Predict each label by a copy of a fitted model that has not seen the label's fold: one further fit per fold.

    The model was fitted on all the known labels; the fold is -1 for labels that are in none and not asked about.
    Returns (labels, classes): class frequencies where only one class is left outside a fold; NaN for labels in no fold,
    and where an interrupt (Ctrl-C) came first.
    """
    classes = len(known.classes)
    found = np.full((known.nodes.size, classes), np.nan)
    folds = int(fold.max()) + 1
    for number in range(folds):
        held = fold == number
        left = np.bincount(known.codes[~held], minlength=classes)
        if (left > 0).sum() < 2:
            found[held] = class_prior(left)
            continue
        with part("", 1 / folds):
            copy = model._fit_copy(graph, known.without(held))
        if copy.interrupted_:
            model.interrupted_ = True
            break
        found[held] = 0
        found[np.ix_(held, left > 0)] = gather_rows(graph, copy.predict_proba(), known.nodes[held])
    return found
