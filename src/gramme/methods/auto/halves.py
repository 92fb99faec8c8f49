"""What a mixture says about each half of the labels when its ingredients learn from the other half."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from gramme.graph import MultilayerGraph
from gramme.graph.name_order import in_name_order
from gramme.methods.attention.estimator import AttentionModel
from gramme.methods.auto.mixing import mixed_with_prior, pooled, sharpened
from gramme.methods.base import NodeClassifier
from gramme.methods.folds import stratified_folds
from gramme.methods.labels import KnownLabels
from gramme.methods.out_of_fold import OutOfFold, refit_for_folds
from gramme.methods.probability import Floats


def mixture_of_halves(
    models: Sequence[NodeClassifier],
    graph: MultilayerGraph,
    known: KnownLabels,
    weights: Floats,
    exponent: float,
    prior: Floats,
) -> OutOfFold:
    """The mixture of copies of the ingredients, each for the half of the labels that it has not seen.

    Weights and exponent are those of the fit: what more labels teach the ingredients is asked, and probabilities must
    be as sharp as those they are compared with.

    Parameters
    ----------
    models : sequence of NodeClassifier
        The fitted ingredients.
    graph : MultilayerGraph
    known : KnownLabels
        The labels that they were fitted on.
    weights : array of float, shape (ingredients,)
    exponent : float
    prior : array of float, shape (classes,)

    Raises
    ------
    KeyboardInterrupt
        Also where a method would end its training early and keep what it has.
    """
    ordered, places = known.sorted_by_name(in_name_order(graph))  # so that halves follow names
    half = np.empty(places.size, dtype=np.int64)
    half[places] = stratified_folds(ordered.codes, 2, seed=0)
    found = [
        _by_networks(model, graph, known, half)
        if isinstance(model, AttentionModel)
        else refit_for_folds(model, graph, known, half)
        for model in models
    ]
    if any(np.isnan(one).any() for one in found):
        raise KeyboardInterrupt
    mixed = pooled([mixed_with_prior(one, prior) for one in found], weights)
    return OutOfFold(known.nodes, known.codes, sharpened(mixed, exponent), 2)


def _by_networks(
    model: AttentionModel, graph: MultilayerGraph, known: KnownLabels, half: NDArray[np.int64]
) -> Floats:
    """By as many networks for each half as there were for each fold, to be compared with these."""
    effort = model.effort_
    copy: AttentionModel = clone(model).set_params(ensemble=1, epochs=effort.epochs)
    return copy.fit_with_folds(graph, known, half, effort.copies)
