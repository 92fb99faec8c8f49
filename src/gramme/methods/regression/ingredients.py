"""What GrammeRegressor mixes: what each ingredient is, when it applies, what it is called."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from gramme._types import Floats
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods.auto.ingredients import MAX_TABLE_NUMBERS, Ingredient, attention_settings
from gramme.methods.boosting.group_statistics import numbers_of
from gramme.methods.boosting.table_boosting import BoostedRegressor, boosting_applies
from gramme.methods.linear.one_hot import LayerColumns, SavedColumns, kinds_in_words, kinds_of_columns
from gramme.methods.linear.walk_profile import WALK_STEPS, SavedProfile, WalkProfile
from gramme.methods.params import POSITIVE, Number, PositiveFloat, PositiveInt
from gramme.methods.persistence import MisfitError, SavedArray, SavedField, SavedValue
from gramme.methods.propagation.layer_trust import agreement_weights
from gramme.methods.propagation.series import Walk, propagate, walk_of

from .attention import AttentionRegressor
from .base import KnownNumbers, NodeRegressor, predict_folds


class TriedRegressor(NodeRegressor):
    """A regression that tries some settings; a subclass says which, and how it learns and predicts with one."""

    @abstractmethod
    def _settings(self) -> tuple[float, ...]:
        """What is tried; the first where there is nothing to choose by."""

    @abstractmethod
    def _table(self, graph: MultilayerGraph, known: KnownNumbers) -> Any:
        """What it learns on. Of the known numbers it may look at who they belong to, not at their values."""

    @abstractmethod
    def _solved(self, table: Any, known: KnownNumbers, setting: float) -> tuple[Floats, dict[str, Any]]:
        """The numbers of all nodes from known ones, and the attributes that a model keeps."""

    def _fit(
        self, graph: MultilayerGraph, known: KnownNumbers, seed: int, *, fold: NDArray[np.int64] | None = None
    ) -> Floats:
        learning_table = self._table(graph, known)

        def predicted(seen: KnownNumbers) -> Floats:
            return self._solved(learning_table, seen, self._chosen(learning_table, seen))[0]

        if fold is not None:
            self.unseen_ = predict_folds(known, fold, predicted)
        node_numbers, attributes = self._solved(learning_table, known, self._chosen(learning_table, known))
        for attribute_name, value in attributes.items():
            setattr(self, attribute_name, value)
        return node_numbers

    def _chosen(self, table: Any, known: KnownNumbers) -> float:
        """The setting with the least squared error on numbers it has not seen, by inner folds in the order of nodes."""
        tried_settings = self._settings()
        if known.nodes.size < 4 or len(tried_settings) == 1:  # too few to choose by
            return tried_settings[0]
        inner_fold = np.arange(known.nodes.size) % min(5, known.nodes.size)
        squared_errors = []
        for setting in tried_settings:

            def predicted(seen: KnownNumbers, setting: float = setting) -> Floats:
                return self._solved(table, seen, setting)[0]

            unseen_errors = predict_folds(known, inner_fold, predicted) - known.values
            squared_errors.append(float(known.weights @ unseen_errors**2))
        return tried_settings[int(np.argmin(squared_errors))]


# Ridge regressions: on a column per group, neighbour and feature, and on where walks over all
# layers lead.


@dataclass(kw_only=True, eq=False, repr=False)
class RidgeOnTable(TriedRegressor):
    """A ridge regression on the columns of a table, with a penalty that is chosen if not given."""

    penalty: PositiveFloat | None = None

    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedValue("penalty", POSITIVE),
        SavedValue("intercept", Number(-np.inf, open_low=True)),
        SavedArray("coefficients", np.float64, ("columns",)),
    )

    penalty_: float = field(init=False)
    intercept_: float = field(init=False)
    coefficients_: Floats = field(init=False)

    def _settings(self) -> tuple[float, ...]:
        return (3.0, 10.0, 30.0, 100.0, 300.0) if self.penalty is None else (float(self.penalty),)

    def _solved(self, table: Any, known: KnownNumbers, setting: float) -> tuple[Floats, dict[str, Any]]:
        ridge = Ridge(alpha=setting).fit(table[known.nodes], known.values, known.sample_weight)
        coefficients = np.asarray(ridge.coef_, dtype=np.float64).ravel()
        attributes = {"penalty_": setting, "coefficients_": coefficients, "intercept_": float(ridge.intercept_)}
        return ridge.predict(table), attributes

    def _inductive(self, graph: MultilayerGraph) -> Floats:
        node_numbers: Floats = self._columns_of(graph) @ self.coefficients_ + self.intercept_
        return node_numbers

    @abstractmethod
    def _columns_of(self, graph: MultilayerGraph) -> Any:
        """The table of a graph, with the columns that were learned."""

    def _check_columns(self, columns: int) -> None:
        if self.coefficients_.size != columns:
            raise MisfitError(
                f"coefficients must have a number for each of {columns} columns, not {self.coefficients_.size}"
            )


class GroupsRidge(RidgeOnTable):
    """Ridge regression on a column per group, per neighbour and per feature.

    The numbers of a table are columns themselves, without the groups they were cut into.
    """

    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedColumns("columns"),
        SavedArray("feature_center", np.float64, ("features",)),
        SavedArray("feature_scale", np.float64, ("features",), low=0),
    )

    columns_: list[LayerColumns]
    feature_center_: Floats
    feature_scale_: Floats

    def columns_in_words(self) -> str:
        """What the columns stand for, for a sentence."""
        column_kinds = kinds_of_columns(self.columns_, self.feature_scale_.size)
        return kinds_in_words(column_kinds) or "the mean alone"

    def _settings(self) -> tuple[float, ...]:
        tried_penalties = super()._settings()
        # the numbers of a table: a few columns that say much need little restraint
        return (*tried_penalties, 1.0, 0.1) if self._named and self.penalty is None else tried_penalties

    def _table(self, graph: MultilayerGraph, known: KnownNumbers) -> sp.csr_array:
        self.columns_ = [LayerColumns.seen(name, layer, graph, known.nodes) for name, layer in graph.layers.items()]
        # a number is a column itself; the groups it was cut into cost more in a line than they tell
        self._named = set(graph.feature_names or ())
        self.columns_ = [
            replace(layer_columns, names=layer_columns.names[:0])
            if layer_columns.kind == "groups" and layer_columns.layer in self._named
            else layer_columns
            for layer_columns in self.columns_
        ]
        node_features = numbers_of(graph)
        feature_spread = node_features.std(axis=0)
        self.feature_center_ = node_features.mean(axis=0)
        self.feature_scale_ = np.where(feature_spread > 0, 1 / np.where(feature_spread > 0, feature_spread, 1), 0.0)
        return self._columns_of(graph)

    def _columns_of(self, graph: MultilayerGraph) -> sp.csr_array:
        node_features = numbers_of(graph)
        if node_features.shape[1] != self.feature_scale_.size:
            raise DataError(
                f"the model needs {self.feature_scale_.size} features per node; the graph has {node_features.shape[1]}"
            )
        scaled_features = sp.csr_array((node_features - self.feature_center_) * self.feature_scale_)
        table_blocks = [*(layer_columns.matrix(graph) for layer_columns in self.columns_), scaled_features]
        return sp.csr_array(sp.hstack(table_blocks, format="csr"))

    def _check_loaded(self) -> None:
        self._check_columns(sum(len(layer_columns.names) for layer_columns in self.columns_) + self.feature_scale_.size)


@dataclass(kw_only=True, eq=False, repr=False)
class WalksRidge(RidgeOnTable):
    """Ridge regression on where walks over all layers lead from a node (``gramme.methods.linear.walk_profile``)."""

    dim: PositiveInt = 32

    saved_fields: ClassVar[tuple[SavedField, ...]] = (SavedProfile("profile"),)

    profile_: WalkProfile = field(init=False)

    def _table(self, graph: MultilayerGraph, known: KnownNumbers) -> Floats:
        self.profile_ = WalkProfile.of(graph, self.dim, agreement_weights(graph))
        return self._columns_of(graph)

    def _columns_of(self, graph: MultilayerGraph) -> Floats:
        profile_rows = self.profile_.table(self.profile_.placed(graph)).astype(np.float64)
        # rows have length 1 whatever the number of nodes; penalties are for columns of about that size
        scaled_rows: Floats = profile_rows * np.sqrt(len(self.nodes_))
        return scaled_rows

    def _check_loaded(self) -> None:
        self._check_columns(self.profile_.values.size * len(WALK_STEPS))


# Known numbers spreading to neighbours: a harmonic function on all layers.


ALPHA = Number(0, 1, open_low=True)


@dataclass(kw_only=True, eq=False, repr=False)
class NumberPropagation(TriedRegressor):
    """A node takes the mean of what reaches it from known nodes over all layers.

    With F = alpha P F + Y for the known numbers' differences from their mean and for ones, a node's value is the mean
    plus the first divided by the second; the fewer labels reach a node, the nearer it stays to the mean. In another
    graph the known nodes are those of the same names.
    """

    alpha: Annotated[float, ALPHA] | None = None

    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedValue("alpha", ALPHA),
        SavedValue("heard", Number(0)),
        SavedArray("known", np.int64, ("known",), below="nodes"),
        SavedArray("known_values", np.float64, ("known",)),
        SavedArray("known_weights", np.float64, ("known",), low=0, optional=True),  # not in files of 0.2.0
    )

    alpha_: float = field(init=False)
    heard_: float = field(init=False)
    known_: NDArray[np.int64] = field(init=False)
    known_values_: Floats = field(init=False)
    known_weights_: Floats = field(init=False)

    def _settings(self) -> tuple[float, ...]:
        return (0.3, 0.6, 0.9) if self.alpha is None else (float(self.alpha),)

    def _table(self, graph: MultilayerGraph, known: KnownNumbers) -> Walk:
        return walk_of(graph)

    def _solved(self, table: Walk, known: KnownNumbers, setting: float) -> tuple[Floats, dict[str, Any]]:
        mean_number = float(np.average(known.values, weights=known.weights))
        reached_sums = self._reached(table, known, mean_number, setting)
        mean_labels = float(reached_sums[:, 1].mean())
        attributes = {
            "alpha_": setting,
            "heard_": mean_labels,
            "known_": self.nodes_.get_indexer(self._fitted_order().graph.nodes[known.nodes]),
            "known_values_": known.values.copy(),
            "known_weights_": known.weights.copy(),
        }
        return _drawn_to_mean(mean_number, reached_sums, mean_labels), attributes

    def _inductive(self, graph: MultilayerGraph) -> Floats:
        return _drawn_to_mean(self._mean, self._reached_by_name(graph), self.heard_)

    @property
    def _mean(self) -> float:
        return float(np.average(self.known_values_, weights=self.known_weights_))

    def _informed(self, graph: MultilayerGraph) -> NDArray[np.bool_]:
        is_reached: NDArray[np.bool_] = self._reached_by_name(graph)[:, 1] > 0
        return is_reached

    def _reached_by_name(self, graph: MultilayerGraph) -> Floats:
        """What reaches each node of another graph from nodes whose names are known."""
        known_positions = graph.nodes.get_indexer(self.nodes_[self.known_])
        is_here = known_positions >= 0
        if not is_here.any():
            return np.zeros((graph.num_nodes, 2))
        known_here = KnownNumbers(
            known_positions[is_here], self.known_values_[is_here], weights=self.known_weights_[is_here]
        )
        return self._reached(walk_of(graph), known_here, self._mean, self.alpha_)

    def _check_loaded(self) -> None:
        if not hasattr(self, "known_weights_"):
            self.known_weights_ = np.ones(self.known_.size)

    def _reached(self, walk: Walk, known: KnownNumbers, mean: float, alpha: float) -> Floats:
        """What reaches each node, (nodes, 2): differences from the mean, and labels."""
        start_values = np.column_stack([known.values - mean, np.ones(known.values.size)]) * known.weights[:, None]
        layer_weights = np.full((len(self.layers_), 2), 1 / len(self.layers_))
        all_nodes = np.arange(walk.nodes)
        propagated = propagate(
            walk, known.nodes, start_values, layer_weights, [alpha], all_nodes, tolerance=1e-5, most=200
        )
        reached_sums: Floats = propagated.values[0]
        return reached_sums


def _drawn_to_mean(mean: float, sums: Floats, labels: float) -> Floats:
    """The mean of what reaches a node, where half of what reaches a node on average stands for the mean."""
    node_numbers: Floats = mean + sums[:, 0] / (sums[:, 1] + 0.5 * max(labels, 1e-12))
    return node_numbers


INGREDIENTS: dict[str, Ingredient] = {
    one.name: one
    for one in (
        Ingredient("propagation", NumberPropagation, "known numbers spreading to neighbours"),
        Ingredient("groups-ridge", GroupsRidge, lambda model: f"a linear model of {model.columns_in_words()}"),
        Ingredient(
            "walks-ridge",
            WalksRidge,
            "a linear model of where walks through the network lead",
            fits=lambda graph: graph.num_nodes * 2 * WalksRidge().dim <= MAX_TABLE_NUMBERS,
        ),
        Ingredient(
            "boosting",
            BoostedRegressor,
            lambda model: f"boosted trees on numbers and groups{model.columns_in_words()}",
            applies=boosting_applies,
        ),
        Ingredient(
            "attention",
            AttentionRegressor,
            "attention within each layer (the network of GrAMME-Fusion)",
            make=lambda recipe: AttentionRegressor(**attention_settings(recipe)),
            slow=True,
        ),
    )
}
"""All ingredients by name."""
