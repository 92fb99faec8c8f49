"""The interface of every regression on nodes: fit on a graph, predict numbers for its nodes or another graph's."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from gramme._types import Floats
from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods.base import GraphEstimator
from gramme.methods.contributions import shares_of_joined
from gramme.methods.labels import WeightedNodes, labels_within, node_weights
from gramme.methods.params import MAX_FEATURE, check_number_range
from gramme.methods.persistence import SavedArray, SavedField, SavedSeries


@dataclass(frozen=True)
class KnownNumbers(WeightedNodes):
    """Positions of the nodes whose number is known, these numbers, and how much each counts."""

    values: Floats


class NodeRegressor(RegressorMixin, GraphEstimator):
    """A method that predicts a number for every node of a graph from the numbers of some.

    ``values_`` has the predicted numbers of the nodes of the graph it was fitted on.
    """

    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedArray("numbers", np.float64, ("nodes",), attribute="values_"),
        SavedSeries("importance", optional=True),
    )
    _result: ClassVar[str] = "values_"

    values_: Floats
    unseen_: Floats

    def _fit_with_folds(
        self, graph: MultilayerGraph, known: KnownNumbers, fold: NDArray[np.int64], copies: int, allowance: Any
    ) -> Floats:
        self._run_fit(graph, known, fold=fold)
        return self.unseen_

    def _known(self, graph: MultilayerGraph, y: Any, sample_weight: Any = None) -> KnownNumbers:
        check_number_range(graph)
        return y if isinstance(y, KnownNumbers) else known_numbers(graph, y, sample_weight=sample_weight)

    def _finish(self, found: Floats, known: KnownNumbers) -> None:
        self.values_ = found

    @abstractmethod
    def _fit(
        self, graph: MultilayerGraph, known: KnownNumbers, seed: int, *, fold: NDArray[np.int64] | None = None
    ) -> Floats:
        """Learn from known numbers and return those of all nodes; with folds, also set ``unseen_``."""

    def _informed(self, graph: MultilayerGraph) -> NDArray[np.bool_]:
        """Of which nodes of another graph it can say more than the mean of all; it takes part in a mixture there."""
        return np.ones(graph.num_nodes, dtype=bool)

    @cached_property
    def layer_importance_(self) -> pd.Series:
        """Which layers the predictions rely on: how much they change on average without each, as shares of the whole.

        A number that was cut into groups is left out with its layer. Of very many layers blocks are left out together.
        """
        name_order = self._fitted_order()
        graph = name_order.graph
        if graph.num_layers == 1:  # all that is predicted comes through it, and without it there is no graph
            return self._by_layer(shares_of_joined(np.ones(1), graph), "importance")
        fitted_numbers = self.values_[name_order.to_given(np.arange(graph.num_nodes)).argsort()]
        layer_changes = np.zeros(graph.num_layers)
        for layer_block in np.array_split(np.arange(graph.num_layers), min(graph.num_layers, 32)):
            reduced_graph = _without_layers(graph, {self.layer_order_[layer_number] for layer_number in layer_block})
            layer_changes[layer_block] = (
                np.abs(self._inductive(reduced_graph) - fitted_numbers).mean() / layer_block.size
            )
        return self._by_layer(shares_of_joined(layer_changes, graph), "importance")

    def predict(self, graph: MultilayerGraph | None = None) -> Floats:
        """A number for every node, of the fitted graph or of another that has its layers."""
        return self._predicted(graph)

    def score(self, graph: MultilayerGraph | None = None, y: Any = None) -> float:
        """R2, the share of the variance that the predictions explain: 1 is perfect, 0 is as good as the mean.

        Parameters
        ----------
        graph : MultilayerGraph, optional
            A graph other than the fitted one.
        y : sequence, mapping or Series, optional
            Numbers in node order or by node name. For another graph, that graph's own labels if not given. For the
            fitted graph they must be given: numbers the model has learned from say nothing about its quality.
        """
        true_numbers = known_numbers(self._graph_to_score(graph, y, "numbers"), y, least=2)
        return explained(true_numbers.values, self.predict(graph)[true_numbers.nodes])


def _without_layers(graph: MultilayerGraph, names: Collection[str]) -> MultilayerGraph:
    """The graph where some layers join no nodes, and the numbers that they were cut from say nothing."""
    no_nodes = np.zeros(0, dtype=np.int64)
    layers = {
        name: layer
        if name not in names
        else (MembershipLayer if layer.made_of == "groups" else EdgeLayer)(graph.num_nodes, no_nodes, no_nodes)
        for name, layer in graph.layers.items()
    }
    feature_columns = [place for place, name in enumerate(graph.feature_names or ()) if name in names]
    if not feature_columns or graph.features is None:
        return graph.replace(layers=layers)
    features = np.array(graph.features, dtype=np.float64)
    features[:, feature_columns] = np.nan_to_num(np.nanmean(features[:, feature_columns], axis=0))
    return graph.replace(layers=layers, features=features, feature_names=graph.feature_names)


def predict_folds(known: KnownNumbers, fold: NDArray[np.int64], predicted: Callable[[KnownNumbers], Floats]) -> Floats:
    """What is predicted for each known number from those of the other folds; ``predicted`` answers for all nodes."""
    unseen_numbers = np.empty(known.values.size)
    for fold_number in range(int(fold.max()) + 1):
        is_held_out = fold == fold_number
        unseen_numbers[is_held_out] = predicted(known.part(~is_held_out))[known.nodes[is_held_out]]
    return unseen_numbers


def explained(values: Floats, predicted: Floats) -> float:
    """R2 of predictions; NaN where all values are the same.

    >>> explained(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))
    0.5
    """
    total_squares = float(((values - values.mean()) ** 2).sum())
    return 1 - float(((values - predicted) ** 2).sum()) / total_squares if total_squares > 0 else math.nan


def known_numbers(graph: MultilayerGraph, y: Any = None, *, sample_weight: Any = None, least: int = 5) -> KnownNumbers:
    """The nodes whose number is known; an error if there are too few, or if a label is not a number."""
    if y is None and graph.labels is None:
        raise DataError("the graph has no labels and none were given; pass y")
    y = labels_within(graph, y, "train" if y is None and "train" in graph.masks else None)
    node_labels = graph.align(graph.labels if y is None else y, "label")
    number_at: dict[int, float] = {}
    for position, node_label in enumerate(node_labels):
        if node_label is None:
            continue
        try:
            node_number = float(node_label)
        except (TypeError, ValueError):
            raise DataError(f"the label {node_label!r} of {graph.nodes[position]!r} is not a number") from None
        if math.isinf(node_number):
            raise DataError(f"the label of {graph.nodes[position]!r} is infinite")
        if abs(node_number) > MAX_FEATURE:
            raise DataError(
                f"the label of {graph.nodes[position]!r} is {node_number:g}, beyond {MAX_FEATURE:g}; scale the numbers"
            )
        if not math.isnan(node_number):
            number_at[position] = node_number
    largest = max(map(abs, number_at.values()), default=0.0)
    if 0 < largest < 1 / MAX_FEATURE:
        raise DataError(f"the largest of the labels is {largest:g}, below {1 / MAX_FEATURE:g}; scale the numbers")
    known_values = KnownNumbers(np.array(list(number_at), dtype=np.int64), values=np.array(list(number_at.values())))
    if sample_weight is not None:
        label_weights = node_weights(graph, sample_weight)[known_values.nodes]
        known_values = known_values.part(label_weights > 0).reweighted(label_weights[label_weights > 0])
    if known_values.nodes.size < least:
        raise DataError(f"{known_values.nodes.size} nodes have a known number; at least {least} are needed")
    return known_values
