"""What GrammeRegressor mixes: what each ingredient is, when it applies, what it is called."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from gramme._types import Floats
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods.auto.ingredients import MAX_TABLE_NUMBERS
from gramme.methods.boosting.table_boosting import boosting_applies
from gramme.methods.linear.one_hot import (
    LayerColumns,
    SavedColumns,
    kinds_in_words,
    kinds_of_columns,
)
from gramme.methods.linear.walk_profile import WALK_STEPS, SavedProfile, WalkProfile
from gramme.methods.params import POSITIVE, NoneOr, Number, Rule, WholeNumber
from gramme.methods.persistence import MisfitError, SavedArray, SavedField, SavedValue
from gramme.methods.prepare import given_columns, given_features
from gramme.methods.propagation.series import Walk, propagate, walk_of

from .attention import AttentionRegressor
from .base import KnownNumbers, NodeRegressor
from .boosting import BoostedRegressor

# A regression with one setting that is chosen on known numbers, on a table that needs none of
# them.


INNER_FOLDS = 5
LEAST_TO_CHOOSE = 4  # known numbers from which a setting is chosen; with fewer the first is taken


def inner_folds(count: int, folds: int = INNER_FOLDS) -> NDArray[np.int64]:
    """The fold of each of so many labels, dealt like cards in the order they come.

    >>> inner_folds(7).tolist(), inner_folds(3).tolist()
    ([0, 1, 2, 3, 4, 0, 1], [0, 1, 2])
    """
    return np.arange(count) % max(2, min(folds, count))


class TriedRegressor(NodeRegressor):
    """A regression that tries some settings; a subclass says which, and how it learns and predicts with one."""

    @abstractmethod
    def _settings(self) -> tuple[float, ...]:
        """What is tried; the first where there is nothing to choose by."""

    @abstractmethod
    def _table(self, graph: MultilayerGraph, known: KnownNumbers) -> Any:
        """What it learns on. Of the known numbers it may look at who they belong to, not at their values."""

    @abstractmethod
    def _lesson(self, table: Any, known: KnownNumbers, setting: float) -> Any:
        """What is learned from known numbers."""

    @abstractmethod
    def _said(self, table: Any, lesson: Any) -> Floats:
        """The numbers of all nodes."""

    @abstractmethod
    def _keep(self, lesson: Any, setting: float) -> None:
        """Store what was learned from all known numbers as the attributes that are saved."""

    def _fit(
        self,
        graph: MultilayerGraph,
        known: KnownNumbers,
        seed: int,
        *,
        fold: NDArray[np.int64] | None = None,
    ) -> Floats:
        table = self._table(graph, known)
        if fold is not None:
            self.unseen_ = np.empty(known.values.size)
            for number in range(int(fold.max()) + 1):
                held = fold == number
                seen = known.part(~held)
                lesson = self._lesson(table, seen, self._chosen(table, seen))
                self.unseen_[held] = self._said(table, lesson)[known.nodes[held]]
        setting = self._chosen(table, known)
        lesson = self._lesson(table, known, setting)
        self._keep(lesson, setting)
        return self._said(table, lesson)

    def _chosen(self, table: Any, known: KnownNumbers) -> float:
        """The setting with the least squared error on numbers it has not seen."""
        settings = self._settings()
        if known.nodes.size < LEAST_TO_CHOOSE or len(settings) == 1:
            return settings[0]
        fold = inner_folds(known.nodes.size)
        errors = []
        for setting in settings:
            error = 0.0
            for number in range(int(fold.max()) + 1):
                held = fold == number
                lesson = self._lesson(table, known.part(~held), setting)
                missed = self._said(table, lesson)[known.nodes[held]] - known.values[held]
                error += float((missed**2).sum())
            errors.append(error)
        return settings[int(np.argmin(errors))]


# Ridge regressions: on a column per group, neighbour and feature, and on where walks over all
# layers lead.


PENALTIES = (3.0, 10.0, 30.0, 100.0, 300.0)
SMALL_PENALTIES = (1.0, 0.1)
"""Tried as well where there are numbers: a few columns that say much need little restraint."""
WALK_DIM = 32


class RidgeOnTable(TriedRegressor):
    """A ridge regression on the columns of a table.

    Attributes
    ----------
    penalty_ : float
        The penalty that was used.
    """

    parameter_rules: ClassVar[Mapping[str, Rule]] = {"penalty": NoneOr(POSITIVE)}
    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedValue("penalty", POSITIVE),
        SavedValue("intercept", Number(-np.inf, open_low=True)),
        SavedArray("coefficients", np.float64, ("columns",)),
    )

    penalty: float | None
    penalty_: float
    intercept_: float
    coefficients_: Floats

    def _settings(self) -> tuple[float, ...]:
        return PENALTIES if self.penalty is None else (float(self.penalty),)

    def _lesson(self, table: Any, known: KnownNumbers, setting: float) -> Ridge:
        return Ridge(alpha=setting).fit(table[known.nodes], known.values)

    def _said(self, table: Any, lesson: Ridge) -> Floats:
        found: Floats = lesson.predict(table)
        return found

    def _keep(self, lesson: Ridge, setting: float) -> None:
        self.penalty_ = setting
        self.coefficients_ = np.asarray(lesson.coef_, dtype=np.float64).ravel()
        self.intercept_ = float(lesson.intercept_)

    def _inductive(self, graph: MultilayerGraph) -> Floats:
        found: Floats = self._columns_of(graph) @ self.coefficients_ + self.intercept_
        return found

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

    Parameters
    ----------
    penalty : float or None, default=None
        Chosen among 3, 10, 30, 100 and 300 if not given, in a table with numbers also among 0.1 and 1.
    """

    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedColumns("columns"),
        SavedArray("feature_center", np.float64, ("features",)),
        SavedArray("feature_scale", np.float64, ("features",), low=0),
    )

    columns_: list[LayerColumns]
    feature_center_: Floats
    feature_scale_: Floats

    def __init__(self, *, penalty: float | None = None) -> None:
        self.penalty = penalty

    def columns_in_words(self) -> str:
        """What the columns stand for, for a sentence."""
        kinds = kinds_of_columns(self.columns_, self.feature_scale_.size)
        return kinds_in_words(kinds) or "the mean alone"

    def _settings(self) -> tuple[float, ...]:
        tried = super()._settings()
        return (*tried, *SMALL_PENALTIES) if self._named and self.penalty is None else tried

    def _table(self, graph: MultilayerGraph, known: KnownNumbers) -> sp.csr_array:
        self.columns_ = [
            LayerColumns.seen(name, layer, graph, known.nodes)
            for name, layer in graph.layers.items()
        ]
        # a number is a column itself; the groups it was cut into cost more in a line than they tell
        self._named = set(graph.feature_names or ())
        self.columns_ = [
            replace(one, names=one.names[:0])
            if one.kind == "groups" and one.layer in self._named
            else one
            for one in self.columns_
        ]
        features = _features(graph)
        spread = features.std(axis=0)
        self.feature_center_ = features.mean(axis=0)
        self.feature_scale_ = np.where(spread > 0, 1 / np.where(spread > 0, spread, 1), 0.0)
        return self._columns_of(graph)

    def _columns_of(self, graph: MultilayerGraph) -> sp.csr_array:
        features = _features(graph)
        if features.shape[1] != self.feature_scale_.size:
            raise DataError(
                f"the model needs {self.feature_scale_.size} features per node; the graph has {features.shape[1]}"
            )
        scaled = sp.csr_array((features - self.feature_center_) * self.feature_scale_)
        parts = [*(one.matrix(graph) for one in self.columns_), scaled]
        return sp.csr_array(sp.hstack(parts, format="csr"))

    def _check_loaded(self) -> None:
        self._check_columns(sum(len(one.names) for one in self.columns_) + self.feature_scale_.size)


class WalksRidge(RidgeOnTable):
    """Ridge regression on where walks over all layers lead from each node (``gramme.methods.linear.walk_profile``).

    Parameters
    ----------
    dim : int, default=32
        Eigenvectors of the walk.
    penalty : float or None, default=None
        Chosen among 3, 10, 30, 100 and 300 if not given.
    """

    parameter_rules: ClassVar[Mapping[str, Rule]] = {"dim": WholeNumber()}
    saved_fields: ClassVar[tuple[SavedField, ...]] = (SavedProfile("profile"),)

    profile_: WalkProfile

    def __init__(self, *, dim: int = WALK_DIM, penalty: float | None = None) -> None:
        self.dim = dim
        self.penalty = penalty

    def _table(self, graph: MultilayerGraph, known: KnownNumbers) -> Floats:
        self.profile_ = WalkProfile.of(graph, self.dim)
        return self._columns_of(graph)

    def _columns_of(self, graph: MultilayerGraph) -> Floats:
        rows = self.profile_.table(self.profile_.placed(graph)).astype(np.float64)
        # rows have length 1 whatever the number of nodes; penalties are for columns of about that size
        scaled: Floats = rows * np.sqrt(len(self.nodes_))
        return scaled

    def _check_loaded(self) -> None:
        self._check_columns(self.profile_.values.size * len(WALK_STEPS))


def _features(graph: MultilayerGraph) -> Floats:
    """All features of a graph as a dense matrix, perhaps of no columns."""
    if not given_columns(graph):
        return np.zeros((graph.num_nodes, 0))
    matrix = given_features(graph)
    return np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), np.float64)


# Known numbers spreading to neighbours: a harmonic function on all layers.


ALPHAS = (0.3, 0.6, 0.9)
ALPHA = Number(0, 1, open_low=True)
PRIOR_LABELS = 0.5  # labels' worth of belief in the mean of all, against what reaches a node


class _Lesson(NamedTuple):
    known: KnownNumbers
    mean: float
    reached: (
        Floats  # (nodes, 2): differences from the mean that reach each node, and how many labels do
    )
    heard: float  # labels that reach a node on average


class NumberPropagation(TriedRegressor):
    """A node takes the mean of what reaches it from known nodes over all layers.

    With F = alpha P F + Y for the known numbers' differences from their mean and for ones, a node's value is the mean
    plus the first divided by the second; the fewer labels reach a node, the nearer it stays to the mean. In another
    graph the known nodes are those of the same names.

    Parameters
    ----------
    alpha : float or None, default=None
        How far numbers spread; chosen among 0.3, 0.6 and 0.9 if not given.
    """

    parameter_rules: ClassVar[Mapping[str, Rule]] = {"alpha": NoneOr(ALPHA)}
    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedValue("alpha", ALPHA),
        SavedValue("heard", Number(0)),
        SavedArray("known", np.int64, ("known",), below="nodes"),
        SavedArray("known_values", np.float64, ("known",)),
    )

    alpha_: float
    heard_: float

    def __init__(self, *, alpha: float | None = None) -> None:
        self.alpha = alpha

    def _settings(self) -> tuple[float, ...]:
        return ALPHAS if self.alpha is None else (float(self.alpha),)

    def _table(self, graph: MultilayerGraph, known: KnownNumbers) -> Walk:
        return walk_of(graph)

    def _lesson(self, table: Walk, known: KnownNumbers, setting: float) -> _Lesson:
        mean = float(known.values.mean())
        reached = self._reached(table, known, mean, setting)
        return _Lesson(known, mean, reached, float(reached[:, 1].mean()))

    def _said(self, table: Walk, lesson: _Lesson) -> Floats:
        return _drawn_to_mean(lesson.mean, lesson.reached, lesson.heard)

    def _keep(self, lesson: _Lesson, setting: float) -> None:
        self.alpha_, self.heard_ = setting, lesson.heard
        names = self._fitted_order().graph.nodes[lesson.known.nodes]
        self.known_, self.known_values_ = self.nodes_.get_indexer(names), lesson.known.values.copy()

    def _inductive(self, graph: MultilayerGraph) -> Floats:
        return _drawn_to_mean(
            float(self.known_values_.mean()), self._reached_by_name(graph), self.heard_
        )

    def _informed(self, graph: MultilayerGraph) -> NDArray[np.bool_]:
        reached: NDArray[np.bool_] = self._reached_by_name(graph)[:, 1] > 0
        return reached

    def _reached_by_name(self, graph: MultilayerGraph) -> Floats:
        """What reaches each node of another graph from nodes whose names are known."""
        places = graph.nodes.get_indexer(self.nodes_[self.known_])
        here = places >= 0
        if not here.any():
            return np.zeros((graph.num_nodes, 2))
        known = KnownNumbers(places[here], self.known_values_[here])
        mean = float(self.known_values_.mean())
        return self._reached(walk_of(graph), known, mean, self.alpha_)

    def _reached(self, walk: Walk, known: KnownNumbers, mean: float, alpha: float) -> Floats:
        """What reaches each node, (nodes, 2): differences from the mean, and labels."""
        start = np.column_stack([known.values - mean, np.ones(known.values.size)])
        weights = np.full((len(self.layers_), 2), 1 / len(self.layers_))
        rows = np.arange(walk.nodes)
        found: Floats = propagate(
            walk, known.nodes, start, weights, [alpha], rows, tolerance=1e-5, most=200
        ).values[0]
        return found


def _drawn_to_mean(mean: float, reached: Floats, heard: float) -> Floats:
    """The mean of what reaches a node, where what a node hears on average stands for some labels of the mean."""
    found: Floats = mean + reached[:, 0] / (reached[:, 1] + PRIOR_LABELS * max(heard, 1e-12))
    return found


Settings = Mapping[str, Any]

MAX_ATTENTION_EDGES = 4_000_000
"""Edges, memberships and nodes over all layers, beyond which the attention model would take hours of CPU time."""


@dataclass(frozen=True)
class NumberIngredient:
    """A regression that takes part in the mixture of GrammeRegressor.

    Attributes
    ----------
    estimator : type
        The class of the method.
    words : str, or callable from the fitted method to str
        What it does, as the page says it.
    make : callable
        From the parameters of the mixture and a seed to the method, not yet fitted.
    applies : callable
        Whether it takes part on a graph when the user has not named the ingredients.
    """

    estimator: type[NodeRegressor]
    words: str | Callable[[Any], str]
    make: Callable[[Settings, int], NodeRegressor]
    applies: Callable[[MultilayerGraph], bool] = lambda graph: True

    def in_words(self, model: NodeRegressor) -> str:
        """What the fitted method does."""
        return self.words if isinstance(self.words, str) else self.words(model)


def _attention(settings: Settings, seed: int) -> NodeRegressor:
    shared = ("ensemble", "epochs", "features", "progress", "device")
    return AttentionRegressor(random_state=seed, **{name: settings[name] for name in shared})


INGREDIENTS: dict[str, NumberIngredient] = {
    "propagation": NumberIngredient(
        NumberPropagation,
        "known numbers spreading to neighbours",
        lambda settings, seed: NumberPropagation(),
    ),
    "groups-ridge": NumberIngredient(
        GroupsRidge,
        lambda model: f"a linear model of {model.columns_in_words()}",
        lambda settings, seed: GroupsRidge(),
    ),
    "walks-ridge": NumberIngredient(
        WalksRidge,
        "a linear model of where walks through the network lead",
        lambda settings, seed: WalksRidge(),
        applies=lambda graph: graph.num_nodes * 2 * WALK_DIM <= MAX_TABLE_NUMBERS,
    ),
    "boosting": NumberIngredient(
        BoostedRegressor,
        lambda model: f"boosted trees on numbers and groups{model.columns_in_words()}",
        lambda settings, seed: BoostedRegressor(random_state=seed),
        applies=boosting_applies,
    ),
    "attention": NumberIngredient(
        AttentionRegressor,
        "attention within each layer (the network of GrAMME-Fusion)",
        _attention,
        applies=lambda graph: graph.num_entries <= MAX_ATTENTION_EDGES,
    ),
}
"""All ingredients by name; slow ones last, so that little is lost by an interrupt."""
