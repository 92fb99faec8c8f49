"""Gradient boosting for the numbers of nodes: trees on numbers and on what groups and neighbours say."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme._types import Floats
from gramme.graph import MultilayerGraph
from gramme.methods.boosting.group_statistics import (
    GroupStatistics,
    KnownTargets,
    SavedStatistics,
)
from gramme.methods.boosting.table_boosting import (
    FOLDS,
    check_trees_fit,
    column_importance,
    columns_in_words,
)
from gramme.methods.boosting.trees import (
    BoostedTrees,
    SavedTrees,
    Target,
    chosen_growth,
)
from gramme.methods.labels import dealt_in_turn
from gramme.methods.params import RandomState, Rule
from gramme.methods.persistence import MisfitError, SavedArray, SavedField
from gramme.methods.regression.base import KnownNumbers, NodeRegressor


class BoostedRegressor(NodeRegressor):
    """Gradient-boosted trees on the columns of :class:`~gramme.methods.TableBoosting`, by squared error.

    Instead of the frequency of a class a column has the mean of the known numbers in a node's group, without those of
    its own fold.

    Parameters
    ----------
    random_state : int, numpy generator or None, default=None
        Decides which numbers share a fold.

    Attributes
    ----------
    column_importance_ : Series
        How much the splits on each column lowered the error, as shares of the whole, by what the column says.
    """

    parameter_rules: ClassVar[Mapping[str, Rule]] = {"random_state": RandomState()}
    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedStatistics("statistics"),
        SavedTrees("trees"),
        SavedArray("known", np.int64, ("known",), below="nodes"),
        SavedArray("fold", np.int64, ("known",), low=0),
    )

    statistics_: GroupStatistics
    trees_: BoostedTrees
    known_: NDArray[np.int64]
    fold_: NDArray[np.int64]

    def __init__(self, *, random_state: Any = None) -> None:
        self.random_state = random_state

    def _fit(
        self,
        graph: MultilayerGraph,
        known: KnownNumbers,
        seed: int,
        *,
        fold: NDArray[np.int64] | None = None,
    ) -> Floats:
        if fold is not None:
            self.unseen_ = np.empty(known.values.size)
            for number in range(int(fold.max()) + 1):
                held = fold == number
                said = self._learned_from(graph, known.part(~held), seed)
                self.unseen_[held] = said[known.nodes[held]]
        self.known_ = self.nodes_.get_indexer(graph.nodes[known.nodes])
        return self._learned_from(graph, known, seed)

    def _learned_from(self, graph: MultilayerGraph, known: KnownNumbers, seed: int) -> Floats:
        """Learn from some known numbers and predict those of all nodes."""
        order = np.random.default_rng(seed).permutation(known.nodes.size)
        self.fold_ = dealt_in_turn(order, FOLDS)
        targets = KnownTargets(known.nodes, self.fold_, known.values[:, None])
        self.statistics_ = GroupStatistics.learned(graph, targets, ["mean number"])
        places = np.full(graph.num_nodes, -1, dtype=np.int64)
        places[known.nodes] = self.fold_
        table = self.statistics_.table(graph, places)
        rows, target = table[known.nodes], Target(known.values)
        growth = chosen_growth(rows, target, self.fold_, seed)
        self.trees_ = BoostedTrees.fitted(rows, target, growth, seed)
        return self.trees_.numbers(table)

    def _inductive(self, graph: MultilayerGraph) -> Floats:
        fold = np.full(graph.num_nodes, -1, dtype=np.int64)
        places = graph.nodes.get_indexer(self.nodes_[self.known_])
        fold[places[places >= 0]] = self.fold_[places >= 0]
        return self.trees_.numbers(self.statistics_.table(graph, fold))

    @cached_property
    def column_importance_(self) -> pd.Series:
        """How much the splits on each column lowered the error, as shares of the whole; the most telling first."""
        self.check_fitted()
        return column_importance(self.statistics_, self.trees_)

    def columns_in_words(self) -> str:
        """What the trees look at most, for a sentence."""
        return columns_in_words(self.column_importance_)

    def _check_loaded(self) -> None:
        check_trees_fit(self.statistics_, self.trees_)
        if self.trees_.base.size != 1 or self.statistics_.mean.size != 1:
            raise MisfitError("the trees must give one number for a node")
