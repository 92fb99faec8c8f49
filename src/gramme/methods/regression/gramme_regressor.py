"""GrammeRegressor: numbers on nodes, predicted by attention, propagation and ridge regressions mixed out of fold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Annotated, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import nnls

from gramme._types import Floats
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods._plotting import ShownMixin
from gramme.methods.auto.estimator import MixtureEstimator
from gramme.methods.auto.ingredients import Ingredient
from gramme.methods.labels import dealt_in_turn
from gramme.methods.params import Names, Number, Text
from gramme.methods.persistence import Column, SavedArray, SavedField, SavedTable

from .base import KnownNumbers, NodeRegressor, explained
from .ingredients import INGREDIENTS


@dataclass(kw_only=True, eq=False, repr=False)
class GrammeRegressor(ShownMixin, MixtureEstimator, NodeRegressor):
    """Predict a number for every node of a graph from the numbers of some.

    Five ingredients: attention (the network of :class:`GrammeFusion` with one output), propagation (a node takes the
    mean of what reaches it from known nodes), a ridge regression on groups, neighbours and features, one on where walks
    lead, and, where nodes have numbers, boosted trees on these and on statistics of groups. Each predicts every known
    number without having seen its fold; the weights are those, not negative and summing to 1, under which these
    predictions together have the least squared error. What is said about a fold is mixed with weights that have not
    seen it either, and its errors make the intervals (cross-conformal prediction): an interval of coverage 90 % holds
    the true number of about 90 % of nodes like the labelled ones. Intervals are wide where errors are to be expected:
    where the ingredients disagree, and where numbers are large (or small) if errors are larger there.

    It predicts other graphs as well, where nodes, groups and features of the same names are known.

    Parameters
    ----------
    folds : int, default=5
    ensemble : int, default=8
        Members of the attention model that see all numbers; beside them two are trained for each fold.
    epochs : int, default=60
        Training steps of the attention model.
    ingredients : sequence of str or None, default=None
        Some of ``"propagation"``, ``"groups-ridge"``, ``"walks-ridge"``, ``"boosting"`` and ``"attention"``; all that
        apply where not given.
    budget : float or str or None, default=None
        How long a fit may take, as for :class:`GrammeAuto`.
    features : str or None, default=None
        What the attention model starts from, as for :class:`GrammeFusion`.
    progress : bool or None, default=None
    device : str, default="auto"
    random_state : int, numpy generator or None, default=None

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
    models_ : dict of str to NodeRegressor
        The fitted ingredients by name.
    explanation_ : str
        In words, what the predictions rely on.
    layer_importance_ : Series
        How much the predictions change without each layer, as shares that sum to 1.

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

    epochs: int = 60
    ingredients: Annotated[Sequence[str], Names(INGREDIENTS)] | None = None

    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedTable(
            "ingredients",
            Column("ingredient", Text()),
            Column("weight", Number(0, 1 + 1e-6)),
            Column("mean_absolute_error"),
        ),
        SavedArray("known", np.int64, ("known",), below="nodes"),
        SavedArray("known_values", np.float64, ("known",)),
        SavedArray("unseen", np.float64, ("known",)),
        SavedArray("error_scale", np.float64, ("known",), low=0, optional=True),  # not in files of 0.2.0
        SavedArray("error_line", np.float64, (4,), low=0, optional=True),
    )

    registered: ClassVar[Mapping[str, Ingredient]] = INGREDIENTS

    models_: dict[str, NodeRegressor] = field(init=False)
    known_: NDArray[np.int64] = field(init=False)
    known_values_: Floats = field(init=False)
    error_scale_: Floats = field(init=False)
    error_line_: Floats = field(init=False)

    def _fit(
        self, graph: MultilayerGraph, known: KnownNumbers, seed: int, *, fold: NDArray[np.int64] | None = None
    ) -> Floats:
        if fold is None:
            shuffled_labels = np.random.default_rng(seed).permutation(known.nodes.size)
            fold = dealt_in_turn(shuffled_labels, self.folds)
        unseen_numbers = np.stack(self._fit_ingredients(graph, known, fold, seed), axis=1)
        is_unfinished = np.any(np.isnan(unseen_numbers), axis=0, keepdims=True)[0]
        if is_unfinished.all():  # interrupted
            unseen_numbers = np.where(
                np.isnan(unseen_numbers), np.average(known.values, weights=known.weights), unseen_numbers
            )
        else:
            self.models_ = {
                name: model
                for (name, model), is_left_out in zip(self.models_.items(), is_unfinished.tolist(), strict=True)
                if not is_left_out
            }
            unseen_numbers = unseen_numbers[:, ~is_unfinished]
        self._mix(unseen_numbers, known, fold)
        ingredient_numbers = np.stack([model.predict() for model in self.models_.values()], axis=1)
        mixed_numbers: Floats = ingredient_numbers @ self.ingredients_["weight"].to_numpy()
        return mixed_numbers

    def _mix(self, unseen: Floats, known: KnownNumbers, fold: NDArray[np.int64]) -> None:
        """Find the weights, from predictions for numbers that the ingredients have not seen."""
        self.known_, self.known_values_ = known.nodes, known.values
        self.unseen_ = np.empty(known.values.size)
        label_disagreement = np.empty(known.values.size)
        for fold_number in range(int(fold.max()) + 1):
            is_held_out = fold == fold_number
            fold_weights = mixture_weights(
                unseen[~is_held_out], known.values[~is_held_out], known.weights[~is_held_out]
            )
            self.unseen_[is_held_out] = unseen[is_held_out] @ fold_weights
            label_disagreement[is_held_out] = disagreement(unseen[is_held_out], fold_weights)
        self._learn_error_scale(label_disagreement, fold)
        self.ingredients_ = pd.DataFrame(
            {
                "ingredient": list(self.models_),
                "weight": mixture_weights(unseen, known.values, known.weights),
                "mean_absolute_error": np.abs(unseen - known.values[:, None]).mean(axis=0),
            }
        )

    def _learn_error_scale(self, doubt: Floats, fold: NDArray[np.int64]) -> None:
        """How large errors are to be expected, for each label without its fold and for nodes without one."""
        error_columns = self._error_columns(self.unseen_, doubt)
        absolute_errors = np.abs(self.known_values_ - self.unseen_)
        self.error_scale_ = np.empty(absolute_errors.size)
        for fold_number in range(int(fold.max()) + 1):
            is_held_out = fold == fold_number
            self.error_scale_[is_held_out] = error_columns[is_held_out] @ error_line(
                error_columns[~is_held_out], absolute_errors[~is_held_out]
            )
        self.error_line_ = error_line(error_columns, absolute_errors)

    def _error_columns(self, predicted: Floats, doubt: Floats) -> Floats:
        """What errors are expected from: nothing in particular, disagreement, and how large or small the number is."""
        lowest_number, highest_number = self.known_values_.min(), self.known_values_.max()
        number_spread = max(float(self.known_values_.std()), np.finfo(float).tiny)
        unscaled_columns = [doubt, np.maximum(predicted - lowest_number, 0), np.maximum(highest_number - predicted, 0)]
        return np.column_stack(
            [np.ones(predicted.size), *(unscaled_column / number_spread for unscaled_column in unscaled_columns)]
        )

    def _inductive(self, graph: MultilayerGraph) -> Floats:
        ingredient_numbers, ingredient_shares = self._said_and_shares(graph)
        mixed_numbers: Floats = (ingredient_numbers * ingredient_shares).sum(axis=1)
        return mixed_numbers

    def _said_and_shares(self, graph: MultilayerGraph) -> tuple[Floats, Floats]:
        """What each ingredient says about the nodes of another graph, and its share in the mixture there."""
        models = self.models_.values()
        ingredient_numbers = np.stack([model.predict(graph) for model in models], axis=1)
        # who knows nothing of a node leaves its weight to the others
        is_informed = np.stack([model._informed(graph) for model in models], axis=1)
        node_weights = self.ingredients_["weight"].to_numpy() * is_informed
        weight_sums = node_weights.sum(axis=1, keepdims=True)
        even_shares = np.full_like(node_weights, 1 / node_weights.shape[1])
        return ingredient_numbers, np.divide(node_weights, weight_sums, out=even_shares, where=weight_sums > 0)

    @property
    def out_of_fold_(self) -> Floats:
        """For labelled nodes what is predicted without their number; NaN for others."""
        self.check_fitted()
        node_numbers = np.full(len(self.nodes_), np.nan)
        node_numbers[self.known_] = self.unseen_
        return node_numbers

    @property
    def r2_(self) -> float:
        """R2 of the predictions for labelled nodes, each made without its number; NaN if all numbers are the same."""
        self.check_fitted()
        return explained(self.known_values_, self.unseen_)

    @property
    def mean_absolute_error_(self) -> float:
        """The mean absolute error of these predictions."""
        self.check_fitted()
        return float(np.abs(self.known_values_ - self.unseen_).mean())

    def half_width(self, coverage: float = 0.9) -> float:
        """The error that this share of the labelled nodes stayed below: half the width of an interval for all alike.

        They were predicted without their number, and one more label is counted as worse than all; infinite where labels
        are too few for the coverage. :meth:`half_widths` has the widths of single nodes.
        """
        self.check_fitted()
        return conformal_quantile(np.abs(self.known_values_ - self.unseen_), coverage)

    def half_widths(self, coverage: float = 0.9, *, graph: MultilayerGraph | None = None) -> Floats:
        """Half of the width of each node's interval: the error to be expected times a factor for the coverage.

        The factor is what this share of the labelled nodes stayed below, each error divided by what was to be expected
        of it.
        """
        self.check_fitted()
        predicted_numbers = self.predict(graph)
        if not hasattr(self, "error_line_"):
            return np.full(predicted_numbers.size, self.half_width(coverage))
        if graph is None or self.fitted_on(graph):
            ingredient_numbers = np.stack([model.predict() for model in self.models_.values()], axis=1)
            node_disagreement = disagreement(ingredient_numbers, self.ingredients_["weight"].to_numpy())
        else:
            name_order = self._ordered(graph)
            node_disagreement = name_order.to_given(disagreement(*self._said_and_shares(name_order.graph)))
        absolute_errors = np.abs(self.known_values_ - self.unseen_)
        relative_errors = np.divide(
            absolute_errors,
            self.error_scale_,
            out=np.where(absolute_errors > 0, np.inf, 0.0),
            where=self.error_scale_ > 0,
        )
        coverage_factor = conformal_quantile(relative_errors, coverage)
        if not math.isfinite(coverage_factor):
            return np.full(predicted_numbers.size, self.half_width(coverage))
        widths: Floats = coverage_factor * (
            self._error_columns(predicted_numbers, node_disagreement) @ self.error_line_
        )
        return widths

    def predict_interval(self, coverage: float = 0.9, *, graph: MultilayerGraph | None = None) -> Floats:
        """Lowest and highest number to expect, shape (nodes, 2): the prediction less and plus :meth:`half_widths`.

        Parameters
        ----------
        coverage : float, default=0.9
            The share of nodes like the labelled ones whose number lies inside.
        graph : MultilayerGraph, optional
            A graph other than the fitted one. For its nodes this holds as far as they are like the labelled ones.
        """
        half_widths, predicted_numbers = self.half_widths(coverage, graph=graph), self.predict(graph)
        interval_bounds: Floats = np.column_stack([predicted_numbers - half_widths, predicted_numbers + half_widths])
        return interval_bounds

    def predictions_frame(self, graph: MultilayerGraph | None = None, *, coverage: float = 0.9) -> pd.DataFrame:
        """The predictions as a table with a row per node.

        Parameters
        ----------
        graph : MultilayerGraph, optional
            A graph other than the fitted one.
        coverage : float, default=0.9
            Of the interval from ``low`` to ``high``.

        Returns
        -------
        DataFrame
            Indexed by node: ``known`` (NaN where the number was not), ``predicted``, ``low`` and ``high``.

        Examples
        --------
        >>> from gramme import GrammeRegressor, datasets
        >>> g = datasets.load("wine")
        >>> y = np.where(np.arange(178) < 90, np.arange(178) % 7, np.nan)
        >>> model = GrammeRegressor(ingredients=["propagation"], random_state=0).fit(g, y)
        >>> list(model.predictions_frame().columns)
        ['known', 'predicted', 'low', 'high']
        """
        interval_bounds = self.predict_interval(coverage, graph=graph)
        node_names = self.nodes_ if graph is None else graph.nodes
        known_numbers = np.full(len(node_names), np.nan)
        if graph is None or graph is vars(self).get("graph_"):
            known_numbers[self.known_] = self.known_values_
        table_columns = {"known": known_numbers, "predicted": self.predict(graph)}
        return pd.DataFrame(
            table_columns | {"low": interval_bounds[:, 0], "high": interval_bounds[:, 1]},
            index=node_names.rename("node"),
        )

    def plot_predictions(self, y: Any = None, *, coverage: float = 0.9, ax: Any = None) -> Any:
        """Draw predicted against true numbers, with the interval in which ``coverage`` of them should lie.

        Parameters
        ----------
        y : sequence, mapping or Series, optional
            True numbers; drawn are nodes that the model has not learned from. Where not given, the numbers that it has
            learned from, each predicted without itself.
        coverage : float, default=0.9
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        matplotlib axes

        Examples
        --------
        >>> from gramme import GrammeRegressor, datasets
        >>> g = datasets.load("wine")
        >>> y = np.where(np.arange(178) < 90, np.arange(178) % 7, np.nan)
        >>> ax = GrammeRegressor(ingredients=["propagation"], random_state=0).fit(g, y).plot_predictions()
        >>> len(ax.collections[-1].get_offsets())
        90
        """
        from gramme.plots.models import plot_predictions

        return plot_predictions(self, y, coverage=coverage, ax=ax)

    def plot_ingredients(self, *, ax: Any = None) -> Any:
        """Draw the weight of each ingredient, and how far each alone is off.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        matplotlib axes
        """
        from gramme.plots.models import plot_ingredients

        return plot_ingredients(self, ax=ax)

    def _notebook_facts(self) -> str:
        return (
            f"learned from the numbers of {self.known_.size:,} of {len(self.nodes_):,} nodes in "
            f"{len(self.layers_):,} layers; {self.mean_absolute_error_:.4g} off on average, R² {self.r2_:.2f}, on "
            "numbers predicted without themselves"
        )

    def _notebook_table(self) -> str:
        table_rows = "".join(
            f'<tr><td style="text-align:left">{escape(ingredient_name)}</td>'
            f"<td>{weight:.1%}</td><td>{error:.4g}</td></tr>"
            for ingredient_name, weight, error in zip(*self.ingredients_.to_dict("list").values(), strict=True)
        )
        return (
            "<table><thead><tr><th>ingredient</th><th>weight</th><th>error alone</th></tr></thead>"
            f"<tbody>{table_rows}</tbody></table>"
        )


def disagreement(said: Floats, shares: Floats) -> Floats:
    """The standard deviation of what ingredients say, (nodes, ingredients), each counted by its share.

    >>> disagreement(np.array([[1.0, 1.0], [0.0, 2.0]]), np.array([0.5, 0.5]))
    array([0., 1.])
    """
    mean_numbers = (said * shares).sum(axis=1, keepdims=True)
    deviations: Floats = np.sqrt(((said - mean_numbers) ** 2 * shares).sum(axis=1))
    return deviations


def error_line(columns: Floats, errors: Floats) -> Floats:
    """How much each column adds to the error that is to be expected, never less than nothing.

    The least squares are drawn to the mean error for all alike, which counts as much as fifty labels.

    >>> error_line(np.column_stack([np.ones(500), np.arange(500) % 5]), np.arange(500) % 5 * 2.0).round(1)
    array([0.4, 1.8])
    """
    least_squares, _ = nnls(columns, errors)
    constant_line = np.zeros(columns.shape[1])
    constant_line[0] = errors.mean()
    prior_labels = 50.0  # labels' worth of belief that errors are equally large everywhere
    shrunk_line: Floats = (errors.size * least_squares + prior_labels * constant_line) / (errors.size + prior_labels)
    return shrunk_line


def conformal_quantile(errors: Floats, coverage: float) -> float:
    """What a share of errors stays below, with one more that is larger than all; infinite where they are too few.

    >>> conformal_quantile(np.arange(1.0, 10.0), 0.8), conformal_quantile(np.ones(3), 0.9)
    (8.0, inf)
    """
    if not 0 < coverage < 1:
        raise DataError(f"coverage must be between 0 and 1, not {coverage!r}")
    error_rank = math.ceil(coverage * (errors.size + 1))
    return float(np.sort(errors)[error_rank - 1]) if error_rank <= errors.size else math.inf


def mixture_weights(unseen: Floats, values: Floats, weights: Floats) -> Floats:
    """Shares, not negative and summing to 1, of the predictions (labels, ingredients) with the least squared error.

    >>> mixture_weights(np.array([[1.0, 0], [2, 0], [3, 0]]), np.array([1.0, 2, 3]), np.ones(3)).round(2)
    array([1., 0.])
    """
    row_scale = max(float(values.std()), 1e-12) * math.sqrt(values.size) / np.sqrt(weights)
    sum_weight = 1e3  # how strictly the shares must sum to 1 already in the least squares
    scaled_rows = np.vstack([unseen / row_scale[:, None], np.full((1, unseen.shape[1]), sum_weight)])
    least_squares, _ = nnls(scaled_rows, np.append(values / row_scale, sum_weight))
    ingredient_shares: Floats = least_squares / least_squares.sum()
    return ingredient_shares
