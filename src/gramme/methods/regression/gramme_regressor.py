"""GrammeRegressor: numbers on nodes, predicted by propagation and ridge regressions mixed out of fold."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import nnls
from sklearn.base import BaseEstimator, RegressorMixin

from gramme._progress import part
from gramme._threads import one_thread_below
from gramme.errors import DataError, NotFittedError
from gramme.graph import MultilayerGraph
from gramme.methods.parameters import seed_from
from gramme.methods.probability import Floats
from gramme.methods.regression.ingredients import INGREDIENTS, Predictor, chosen

FOLDS = 5
LEAST_LABELS = 5
SUM_WEIGHT = 1e3  # how strictly the weights sum to 1 in the least squares that finds them


class GrammeRegressor(RegressorMixin, BaseEstimator):
    """Predict a number for every node of a graph from the numbers of some.

    Three ingredients: propagation (a node takes the mean of what reaches it from known nodes), a ridge regression on
    groups, neighbours and features, and one on where walks lead. Each predicts every known number without having seen
    its fold; the weights are those, not negative and summing to 1, under which these predictions together have the
    least squared error. The same errors make the intervals (cross-conformal prediction): an interval of coverage 90 %
    holds the true number of about 90 % of nodes like the labelled ones.

    It predicts for the graph it was fitted on.

    Parameters
    ----------
    folds : int, default=5
    random_state : int, numpy generator or None
        Decides which labels share a fold.

    Attributes
    ----------
    values_ : array, shape (nodes,)
        The predicted numbers.
    out_of_fold_ : array, shape (nodes,)
        For labelled nodes what is predicted without their number; NaN for others.
    ingredients_ : DataFrame
        ``ingredient``, ``weight``, and ``mean_absolute_error`` on numbers it had not seen.
    r2_, mean_absolute_error_ : float
        Of the mixture's out-of-fold predictions.

    Examples
    --------
    >>> from gramme.graph import MembershipLayer
    >>> codes = np.arange(60) % 6
    >>> g = MultilayerGraph({"kind": MembershipLayer.from_codes(codes)})
    >>> y = np.where(np.arange(60) < 30, codes * 10.0, np.nan)
    >>> model = GrammeRegressor(random_state=0).fit(g, y)
    >>> bool(np.abs(model.predict() - codes * 10).max() < 3)
    True
    """

    values_: Floats
    out_of_fold_: Floats
    ingredients_: pd.DataFrame
    r2_: float
    mean_absolute_error_: float

    def __init__(self, *, folds: int = FOLDS, random_state: Any = None) -> None:
        self.folds = folds
        self.random_state = random_state

    def fit(self, graph: MultilayerGraph, y: Any = None) -> Self:
        """Learn from the known numbers of a graph.

        Parameters
        ----------
        graph : MultilayerGraph
        y : sequence, mapping or Series, optional
            Numbers in node order or by node name; None and NaN mean unknown. The graph's own labels where not given.
        """
        if graph.num_layers == 0:
            raise DataError("the graph has no layers, so there is nothing to learn from")
        nodes, values = known_numbers(graph, y)
        random = np.random.default_rng(seed_from(self.random_state))
        order = random.permutation(nodes.size)
        fold = np.empty(nodes.size, dtype=np.int64)
        fold[order] = np.arange(nodes.size) % max(2, min(self.folds, nodes.size))
        unseen, whole = [], []
        with one_thread_below(graph.num_entries):
            for name, make in INGREDIENTS.items():
                with part(name, 1 / len(INGREDIENTS)):
                    found, predicted = _out_of_fold(make(graph), nodes, values, fold)
                    unseen.append(found)
                    whole.append(predicted)
        self._mix(np.stack(unseen, axis=1), np.stack(whole, axis=1), nodes, values)
        self.graph_, self.nodes_ = graph, graph.nodes
        return self

    def _mix(self, unseen: Floats, whole: Floats, nodes: NDArray[np.int64], values: Floats) -> None:
        weights = mixture_weights(unseen, values)
        mixed = unseen @ weights
        self.values_ = whole @ weights
        self.out_of_fold_ = np.full(len(self.values_), np.nan)
        self.out_of_fold_[nodes] = mixed
        self.errors_ = np.sort(np.abs(values - mixed))
        spread = float(((values - values.mean()) ** 2).sum())
        self.r2_ = 1 - float(((values - mixed) ** 2).sum()) / spread if spread > 0 else math.nan
        self.mean_absolute_error_ = float(self.errors_.mean())
        self.ingredients_ = pd.DataFrame(
            {
                "ingredient": list(INGREDIENTS),
                "weight": weights,
                "mean_absolute_error": np.abs(unseen - values[:, None]).mean(axis=0),
            }
        )

    def predict(self, graph: MultilayerGraph | None = None) -> Floats:
        """A number for every node of the fitted graph."""
        if not hasattr(self, "values_"):
            raise NotFittedError("this GrammeRegressor is not fitted yet; call fit first")
        if graph is not None and graph is not self.graph_:
            raise DataError("GrammeRegressor predicts only for the graph it was fitted on")
        return self.values_.copy()

    def predict_interval(self, coverage: float = 0.9) -> Floats:
        """Lowest and highest number to expect, shape (nodes, 2); infinite where labels are too few for the coverage.

        The half width is the error that this share of the labelled nodes stayed below when they were predicted without
        their number, with one more label counted as worse than all.
        """
        if not 0 < coverage < 1:
            raise DataError(f"coverage must be between 0 and 1, not {coverage!r}")
        values = self.predict()
        place = math.ceil(coverage * (self.errors_.size + 1))
        half = self.errors_[place - 1] if place <= self.errors_.size else math.inf
        bounds: Floats = np.column_stack([values - half, values + half])
        return bounds

    def score(self, graph: MultilayerGraph | None = None, y: Any = None) -> float:
        """R2 on known numbers; give those that the model has not learned from."""
        if y is None:
            raise DataError("pass y: numbers of nodes that the model has not learned from")
        nodes, values = known_numbers(self.graph_, y)
        error = float(((values - self.predict(graph)[nodes]) ** 2).sum())
        return 1 - error / float(((values - values.mean()) ** 2).sum())


def mixture_weights(unseen: Floats, values: Floats) -> Floats:
    """Weights, not negative and summing to 1, of the predictions (labels, ingredients) with the least squared error.

    >>> mixture_weights(np.array([[1.0, 0], [2, 0], [3, 0]]), np.array([1.0, 2, 3])).round(2)
    array([1., 0.])
    """
    scale = max(float(values.std()), 1e-12) * math.sqrt(values.size)
    rows = np.vstack([unseen / scale, np.full((1, unseen.shape[1]), SUM_WEIGHT)])
    weights, _ = nnls(rows, np.append(values / scale, SUM_WEIGHT))
    shares: Floats = weights / weights.sum()
    return shares


def known_numbers(graph: MultilayerGraph, y: Any = None) -> tuple[NDArray[np.int64], Floats]:
    """Positions and values of the nodes whose number is known."""
    if y is None and graph.labels is None:
        raise DataError("the graph has no labels and none were given; pass y")
    aligned = graph.align(graph.labels if y is None else y, "label")
    found: dict[int, float] = {}
    for place, value in enumerate(aligned):
        if value is None:
            continue
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise DataError(f"the label {value!r} of {graph.nodes[place]!r} is no number") from None
        if math.isfinite(number):
            found[place] = number
        elif not math.isnan(number):
            raise DataError(f"the label of {graph.nodes[place]!r} is infinite")
    if len(found) < LEAST_LABELS:
        raise DataError(
            f"{len(found)} nodes have a known number; at least {LEAST_LABELS} are needed"
        )
    return np.array(list(found), dtype=np.int64), np.array(list(found.values()))


def _out_of_fold(
    candidates: list[Predictor], nodes: NDArray[np.int64], values: Floats, fold: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """What is said of each known number without its fold, every choice included, and of all nodes with all numbers."""
    unseen = np.empty(values.size)
    for number in range(int(fold.max()) + 1):
        held = fold == number
        best = chosen(candidates, nodes[~held], values[~held])
        unseen[held] = best(nodes[~held], values[~held])[nodes[held]]
    return unseen, chosen(candidates, nodes, values)(nodes, values)
