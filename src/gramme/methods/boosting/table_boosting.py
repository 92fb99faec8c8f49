"""Gradient boosting for the classes or numbers of nodes: trees on numbers and on what groups and neighbours say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme._types import Floats
from gramme.distributed import PartGraph
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods.base import GraphEstimator, NodeClassifier
from gramme.methods.boosting.group_statistics import GroupStatistics, KnownTargets, SavedStatistics
from gramme.methods.boosting.trees import LARGE, BoostedTrees, Growth, SavedTrees, Target, TreeSize, chosen_growth
from gramme.methods.labels import KnownLabels, dealt_in_turn, stratified_folds
from gramme.methods.params import PositiveInt, RandomSeed, WholeNumber, check_number_range
from gramme.methods.persistence import MisfitError, SavedArray, SavedField
from gramme.methods.prepare import given_columns
from gramme.methods.regression.base import KnownNumbers, NodeRegressor, predict_folds

FOLDS = 5
"""Parts of the labels: those of the others describe the groups of a label's node, and choose the number of trees."""


@dataclass(kw_only=True, eq=False, repr=False)
class TreesOnTable(GraphEstimator):
    """What boosting of classes and of numbers share: the table of statistics, the trees, and what they rely on."""

    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedStatistics("statistics"),
        SavedTrees("trees"),
        SavedArray("known", np.int64, ("known",), below="nodes"),
        SavedArray("fold", np.int64, ("known",), low=0),
    )

    statistics_: GroupStatistics = field(init=False)
    trees_: BoostedTrees = field(init=False)
    known_: NDArray[np.int64] = field(init=False)
    fold_: NDArray[np.int64] = field(init=False)

    def _grow(
        self,
        graph: MultilayerGraph,
        targets: KnownTargets,
        titles: Sequence[str],
        target: Target,
        seed: int,
        growth: Callable[[Floats], Growth],
    ) -> Floats:
        """Learn the statistics and the trees, and return the table of all nodes; inner folds are those of targets."""
        self.statistics_ = GroupStatistics.learned(graph, targets, titles)
        node_folds = np.full(graph.num_nodes, -1, dtype=np.int64)
        node_folds[targets.nodes] = targets.fold
        table = self.statistics_.table(graph, node_folds)
        label_rows = table[targets.nodes]
        self._used_growth = growth(label_rows)
        self.trees_ = BoostedTrees.fitted(label_rows, target, self._used_growth, seed)
        # of a copy's graph and of this one nodes are known by their names
        self.known_ = self.nodes_.get_indexer(graph.nodes[targets.nodes])
        self.fold_ = targets.fold
        return table

    def _table(self, graph: MultilayerGraph) -> Floats:
        """The columns of another graph's nodes, where labelled nodes of the fit are known by their names."""
        node_folds = np.full(graph.num_nodes, -1, dtype=np.int64)
        node_places = graph.nodes.get_indexer(self.nodes_[self.known_])
        node_folds[node_places[node_places >= 0]] = self.fold_[node_places >= 0]
        return self.statistics_.table(graph, node_folds)

    @cached_property
    def column_importance_(self) -> pd.Series:
        """How much the splits on each column lowered the loss, as shares of the whole; the most telling first."""
        self.check_fitted()
        total_gain = self.trees_.gain.sum()
        gain_shares = self.trees_.gain / total_gain if total_gain > 0 else self.trees_.gain
        importance = pd.Series(gain_shares, index=self.statistics_.titles(), name="importance")
        return importance.sort_values(ascending=False, kind="stable")

    @cached_property
    def layer_importance_(self) -> pd.Series:
        """The same by layer; numbers that belong to no layer are left out, and the rest sums to 1."""
        self.check_fitted()
        gain_by_layer = pd.Series(self.trees_.gain).groupby(self.statistics_.layer_of_column()).sum()
        layer_gains = gain_by_layer.reindex(self.layer_order_).fillna(0.0).to_numpy()
        total_gain = layer_gains.sum()
        even_shares = np.full(layer_gains.size, 1 / layer_gains.size)
        return self._by_layer(layer_gains / total_gain if total_gain > 0 else even_shares, "importance")

    def columns_in_words(self) -> str:
        """The three columns that the trees look at most, for a sentence."""
        first_columns = self.column_importance_.iloc[:3]
        column_names = [str(name) for name in first_columns.index[first_columns >= 0.1]]
        return f" (mostly {', '.join(column_names)})" if column_names else ""

    def _check_trees(self, outputs: int) -> None:
        """Refuse a file whose trees were not grown on the columns of the statistics, or give other scores."""
        if self.trees_.gain.size != len(self.statistics_.titles()):
            raise MisfitError("the trees and the columns do not go together")
        if self.trees_.base.size != outputs or self.statistics_.mean.size != outputs:
            raise MisfitError("the trees do not give the scores that the model needs")


@dataclass(kw_only=True, eq=False, repr=False)
class TableBoosting(TreesOnTable, NodeClassifier):
    """Gradient-boosted trees on the numbers of a table and on statistics of groups and neighbours.

    Trees cut numbers where the labels ask for it and find what matters only in combination. Their columns are the
    graph's features (the number columns of :meth:`gramme.MultilayerGraph.from_table`), a column per group of layers
    with at most 20 groups, and for layers with more groups and for edges: how frequent each class is among the labels
    of the same group, the size of the group, each number against its mean in the group, and how far away the next
    lower and the next higher value in the group are. A node's own label is never among those that describe it:
    frequencies come from the other folds of the labels.

    The size of the trees and how many there are is chosen by the log loss in an inner cross-validation. Cost: labels x
    columns x classes per round, some 3,000 rounds in all.

    Parameters
    ----------
    leaves : int or None, default=None
        Leaves of a tree at most; 6 or 31 is chosen if not given.
    rounds : int or None, default=None
        Rounds of boosting, each a tree per class (one for two classes); up to 300 are chosen if not given.
    random_state : int, numpy generator or None, default=None
        Decides which labels share a fold.

    Attributes
    ----------
    classes_, probabilities_, transduction_
        As for every :class:`~gramme.methods.NodeClassifier`.
    column_importance_ : Series
        How much the splits on each column lowered the loss, as shares of the whole, by what the column says.
    layer_importance_ : Series
        The same by layer, summing to 1 over the layers; a number that was cut into groups counts for its layer.
    rounds_ : int
        Rounds of boosting that were used.

    References
    ----------
    J. H. Friedman, "Greedy Function Approximation: A Gradient Boosting Machine", Annals of Statistics 29, 2001.
    G. Ke, Q. Meng, T. Finley, T. Wang, W. Chen, W. Ma, Q. Ye, T.-Y. Liu, "LightGBM: A Highly Efficient Gradient
    Boosting Decision Tree", NeurIPS 2017, whose algorithm scikit-learn's histogram trees follow.

    Examples
    --------
    >>> hours = np.tile([0.0, 10, 20, 30], 25)
    >>> table = pd.DataFrame({"hours": hours, "city": np.repeat(["Ulm", "Bonn"], 50)})
    >>> g = MultilayerGraph.from_table(table)
    >>> y = np.where(hours == 20, "yes", "no").astype(object)
    >>> y[::3] = None  # every third node is unknown
    >>> model = TableBoosting(random_state=0).fit(g, y)
    >>> bool((model.predict() == np.where(hours == 20, "yes", "no")).all())
    True
    >>> model.column_importance_.idxmax()
    'hours'
    """

    leaves: Annotated[int, WholeNumber(2)] | None = None
    rounds: PositiveInt | None = None
    random_state: RandomSeed = None

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        if isinstance(graph, PartGraph):
            raise DataError("boosting needs the whole graph in one process")

    def _fit(
        self, graph: MultilayerGraph, known: KnownLabels, seed: int, *, growth: Growth | None = None
    ) -> NDArray[np.floating[Any]]:
        """Learn; a copy may grow its trees as the model does that it is a copy of."""
        check_number_range(graph)
        num_classes = len(known.classes)
        label_fold = stratified_folds(known.codes, FOLDS, seed)
        class_indicators = np.eye(num_classes)[known.codes]
        target_names = [f"share of {label}" for label in known.classes]
        if num_classes == 2:  # the share of the second says it all
            class_indicators, target_names = class_indicators[:, 1:], target_names[1:]
        known_targets = KnownTargets(known.nodes, label_fold, class_indicators, known.weights)
        target = Target(known.codes, num_classes, known.sample_weight)

        def chosen(rows: Floats) -> Growth:
            return self._growth(rows, target, label_fold, seed) if growth is None else growth

        table = self._grow(graph, known_targets, target_names, target, seed, chosen)
        return self.trees_.probabilities(table)

    def _growth(self, rows: Floats, target: Target, fold: NDArray[np.int64], seed: int) -> Growth:
        """What was asked for; inner folds choose the rest."""
        tree_size = None if self.leaves is None else TreeSize(self.leaves, LARGE.labels_per_leaf)
        if tree_size is not None and self.rounds is not None:
            return Growth(tree_size, self.rounds)
        chosen_size = chosen_growth(rows, target, fold, seed, tree_size)
        return chosen_size if self.rounds is None else Growth(chosen_size.size, self.rounds)

    def _warm_start(self, graph: MultilayerGraph) -> dict[str, Any]:
        return {"growth": vars(self).get("_used_growth")}

    def _inductive_proba(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        return self.trees_.probabilities(self._table(graph)).astype(np.float32)

    # Explaining

    @property
    def rounds_(self) -> int:
        """Rounds of boosting."""
        self.check_fitted()
        return self.trees_.roots.size // self.trees_.base.size

    def layer_contributions(
        self, graph: MultilayerGraph, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> dict[str, NDArray[np.float64]]:
        """What the columns of each layer add to a node's log-odds of a class against another.

        A number that was cut into groups counts for their layer. What other numbers add, and how frequent the classes
        are, is not among it.

        Parameters
        ----------
        graph : MultilayerGraph
            With the layers of the fit.
        first, second : array of int, shape (nodes,)
            The classes of each node that are compared.
        """
        table = self._table(graph)
        if len(self.classes_) == 2:
            direction = (first - second)[:, None].astype(np.float64)
        else:
            class_identity = np.eye(len(self.classes_))
            direction = class_identity[first] - class_identity[second]
        column_parts = self.trees_.contributions(table, direction)
        column_layers = np.array(self.statistics_.layer_of_column(), dtype=object)
        return {layer_name: column_parts[:, column_layers == layer_name].sum(axis=1) for layer_name in graph.layers}

    def _check_loaded(self) -> None:
        self._check_trees(len(self.classes_) if len(self.classes_) > 2 else 1)


@dataclass(kw_only=True, eq=False, repr=False)
class BoostedRegressor(TreesOnTable, NodeRegressor):
    """Gradient-boosted trees for numbers, on the columns of :class:`~gramme.methods.TableBoosting`, by squared error.

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
    layer_importance_ : Series
        The same by layer, summing to 1 over the layers.
    """

    random_state: RandomSeed = None

    def _fit(
        self, graph: MultilayerGraph, known: KnownNumbers, seed: int, *, fold: NDArray[np.int64] | None = None
    ) -> Floats:
        def predicted(seen: KnownNumbers) -> Floats:
            inner_fold = dealt_in_turn(np.random.default_rng(seed).permutation(seen.nodes.size), FOLDS)
            known_targets = KnownTargets(seen.nodes, inner_fold, seen.values[:, None], seen.weights)
            target = Target(seen.values, weights=seen.sample_weight)

            def chosen(rows: Floats) -> Growth:
                return chosen_growth(rows, target, inner_fold, seed)

            table = self._grow(graph, known_targets, ["mean number"], target, seed, chosen)
            return self.trees_.numbers(table)

        if fold is not None:
            self.unseen_ = predict_folds(known, fold, predicted)
        return predicted(known)

    def _inductive(self, graph: MultilayerGraph) -> Floats:
        return self.trees_.numbers(self._table(graph))

    def _check_loaded(self) -> None:
        self._check_trees(1)


def boosting_applies(graph: MultilayerGraph) -> bool:
    """Whether a mixture has boosting: where nodes have numbers, and not thousands of them."""
    # thousands of words are better left to linear models
    return not isinstance(graph, PartGraph) and 0 < given_columns(graph) <= 1_000
