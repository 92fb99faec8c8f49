"""A fit together with an estimate of its accuracy: set labels aside, fit, test, in this order and in one place."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gramme._progress import part
from gramme.errors import GrammeWarning
from gramme.evaluation.cross_fitting import fitted_estimate
from gramme.evaluation.cross_validation import DEFAULT_FOLDS, cross_validate, folds_to_test
from gramme.evaluation.estimate import Estimate, holdout_estimate
from gramme.evaluation.holdout import Holdout, hold_out
from gramme.evaluation.set_facts import unseen_of
from gramme.graph import MultilayerGraph
from gramme.methods import NodeClassifier
from gramme.methods.labels import aligned_labels


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
        if self.none_further(model):
            return 0
        return folds_to_test(graph, DEFAULT_FOLDS) if self.folds is None else self.folds

    def none_further(self, model: NodeClassifier) -> bool:
        """Whether the estimate takes no fit besides the model's own."""
        return (
            self.share is not None or not self.wanted or (model.tests_itself and self.folds is None)
        )


@dataclass(frozen=True)
class EstimatedFit:
    """What came out of :func:`fit_with_estimate`.

    Attributes
    ----------
    train : array of object, shape (nodes,)
        The labels the model learned from, None elsewhere.
    estimate : Estimate
    seconds : float
        How long the fit took, by the clock.
    """

    train: NDArray[np.object_]
    estimate: Estimate
    seconds: float


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
    >>> found = fit_with_estimate(
    ...     LabelPropagation(), datasets.load("wine"), EstimatePlan(share=0.5)
    ... )
    >>> found.estimate.kind, len(found.estimate.labels)
    ('holdout', 89)
    """
    plan = EstimatePlan() if plan is None else plan
    labels = aligned_labels(graph)
    split = None if plan.share is None else hold_out(labels, plan.share, random_state, graph.nodes)
    train = labels if split is None else split.train
    started = time.perf_counter()
    with part(*stages[0]):
        model.fit(graph, train)
        if balanced:
            model.balance_classes()
    seconds = time.perf_counter() - started
    with part(*stages[1]):
        estimate = _estimate(model, graph, labels, split, plan, random_state)
    if (
        estimate.labels
    ):  # accuracy, prediction sets and the model's file rest on the same predictions
        model.keep_out_of_fold(unseen_of(estimate, model.classes_))
    return EstimatedFit(train, estimate, seconds)


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
    if model.tests_itself and plan.folds is None:
        return fitted_estimate(model, labels)
    try:
        return cross_validate(
            model,
            graph,
            labels,
            folds=plan.folds,
            random_state=random_state,
            balanced=hasattr(model, "class_weights_"),
        )
    except KeyboardInterrupt:
        warnings.warn(
            "interrupted: the accuracy is not estimated, the predictions are kept",
            GrammeWarning,
            stacklevel=3,
        )
        return Estimate("none", "the estimation was interrupted")
