"""Ridge regressions: on a column per group, neighbour and feature, and on where walks over all layers lead."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import Ridge

from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods.linear.one_hot import (
    LayerColumns,
    SavedColumns,
    kinds_in_words,
    kinds_of_columns,
)
from gramme.methods.linear.walk_profile import WALK_STEPS, SavedProfile, WalkProfile
from gramme.methods.parameters import POSITIVE, Number, Optional, Rule, WholeNumber
from gramme.methods.probability import Floats
from gramme.methods.regression.base import KnownNumbers
from gramme.methods.regression.tried import TriedRegressor
from gramme.methods.saved_fields import SavedArray, SavedField, SavedValue
from gramme.methods.saving import MisfitError
from gramme.methods.seen_graph import given_columns, given_features

PENALTIES = (3.0, 10.0, 30.0, 100.0, 300.0)
SMALL_PENALTIES = (1.0, 0.1)
"""Tried as well where there are numbers: a few columns that say much need little restraint."""
CUT_NUMBERS = (1.0, 0.3, 0.0)
"""How much the groups that a number was cut into count beside the number itself: as much, less, or nothing."""
WALK_DIM = 32


class RidgeSetting(NamedTuple):
    """What is tried: a penalty, and how much the groups of cut numbers count."""

    penalty: float
    cut_numbers: float = 1.0


class Line(NamedTuple):
    """A fitted line."""

    coefficients: Floats
    intercept: float


class RidgeOnTable(TriedRegressor):
    """A ridge regression on the columns of a table.

    Attributes
    ----------
    penalty_ : float
        The penalty that was used.
    """

    parameter_rules: ClassVar[Mapping[str, Rule]] = {"penalty": Optional(POSITIVE)}
    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedValue("penalty", POSITIVE),
        SavedValue("intercept", Number(-np.inf, open_low=True)),
        SavedArray("coefficients", np.float64, ("columns",)),
    )

    penalty: float | None
    penalty_: float
    intercept_: float
    coefficients_: Floats

    def _settings(self) -> tuple[Any, ...]:
        penalties = PENALTIES if self.penalty is None else (float(self.penalty),)
        return tuple(RidgeSetting(penalty) for penalty in penalties)

    def _column_scale(self, setting: RidgeSetting) -> Floats | None:
        """What each column is multiplied by; None where all stay as they are."""
        return None

    def _lesson(self, table: Any, known: KnownNumbers, setting: RidgeSetting) -> Line:
        rows, scale = table[known.nodes], self._column_scale(setting)
        if scale is not None:
            rows = sp.csr_array(rows @ sp.diags_array(scale))
        ridge = Ridge(alpha=setting.penalty).fit(rows, known.values)
        found = np.asarray(ridge.coef_, dtype=np.float64).ravel()
        return Line(found if scale is None else found * scale, float(ridge.intercept_))

    def _said(self, table: Any, lesson: Line) -> Floats:
        found: Floats = table @ lesson.coefficients + lesson.intercept
        return found

    def _keep(self, lesson: Line, setting: RidgeSetting) -> None:
        self.penalty_ = setting.penalty
        self.coefficients_, self.intercept_ = lesson

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

    Parameters
    ----------
    penalty : float or None, default=None
        Chosen among 3, 10, 30, 100 and 300 if not given, in a table with numbers also among 0.1 and 1. There, how much
        the groups of a number count beside the number itself is chosen as well: as much, less, or nothing.
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

    def _settings(self) -> tuple[Any, ...]:
        if not self._cut.any():
            return super()._settings()
        penalties = (*PENALTIES, *SMALL_PENALTIES) if self.penalty is None else (self.penalty,)
        return tuple(
            RidgeSetting(float(penalty), share) for share in CUT_NUMBERS for penalty in penalties
        )

    def _column_scale(self, setting: RidgeSetting) -> Floats | None:
        if setting.cut_numbers == 1:
            return None
        found: Floats = np.where(self._cut, setting.cut_numbers, 1.0)
        return found

    def _table(self, graph: MultilayerGraph, known: KnownNumbers) -> sp.csr_array:
        self.columns_ = [
            LayerColumns.seen(name, layer, graph, known.nodes)
            for name, layer in graph.layers.items()
        ]
        features = _features(graph)
        spread = features.std(axis=0)
        self.feature_center_ = features.mean(axis=0)
        self.feature_scale_ = np.where(spread > 0, 1 / np.where(spread > 0, spread, 1), 0.0)
        numbers = set(graph.feature_names or ())
        layers = [np.full(len(one.names), one.layer in numbers) for one in self.columns_]
        self._cut = np.concatenate([*layers, np.zeros(self.feature_scale_.size, dtype=bool)])
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
