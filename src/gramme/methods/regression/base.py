"""The interface of every regression on nodes: fit on a graph, predict numbers for its nodes or another graph's."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from gramme._types import Floats
from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.graph.canonical import NameOrder, in_name_order
from gramme.methods.base import GraphEstimator
from gramme.methods.labels import labels_within
from gramme.methods.params import check_number_range
from gramme.methods.persistence import SavedArray, SavedField

MIN_KNOWN_NUMBERS = 5


@dataclass(frozen=True)
class KnownNumbers:
    """Positions of the nodes whose number is known, and these numbers."""

    nodes: NDArray[np.int64]
    values: Floats

    def part(self, kept: NDArray[Any]) -> KnownNumbers:
        """Some of them, by a mask or by places."""
        return KnownNumbers(self.nodes[kept], self.values[kept])

    def sorted_by_name(self, order: NameOrder) -> tuple[KnownNumbers, NDArray[np.int64]]:
        """The numbers in the order of their nodes' names, and where each stood."""
        places = np.argsort(order.to_sorted(self.nodes), kind="stable")
        return self.part(places), places

    def at(self, nodes: NDArray[np.int64]) -> KnownNumbers:
        """The numbers with other positions for their nodes."""
        return KnownNumbers(nodes, self.values)


class NodeRegressor(RegressorMixin, GraphEstimator):
    """A method that predicts a number for every node of a graph from the numbers of some.

    Attributes
    ----------
    values_ : array, shape (nodes,)
        The predicted numbers of the nodes of the graph it was fitted on.
    nodes_ : pandas.Index
        Their names.
    layers_ : list of str
        Names of the layers.
    interrupted_ : bool
        Whether Ctrl-C ended the fit early, so the model is smaller or less trained than asked for.
    """

    saved_fields: ClassVar[tuple[SavedField, ...]] = (
        SavedArray("numbers", np.float64, ("nodes",), attribute="values_"),
    )
    _result: ClassVar[str] = "values_"

    values_: Floats
    unseen_: Floats

    def fit(self, graph: MultilayerGraph, y: Any = None) -> Self:
        """Learn from the known numbers of a graph.

        Parameters
        ----------
        graph : MultilayerGraph
        y : sequence, mapping or Series, optional
            Numbers in node order or by node name; None and NaN mean unknown. The graph's own labels if not given.
        """
        return self._run_fit(graph, y)

    def fit_with_folds(
        self, graph: MultilayerGraph, known: KnownNumbers, fold: NDArray[np.int64]
    ) -> Floats:
        """Fit, and predict each known number by a model that has not seen the number's fold.

        NaN where an interrupt (Ctrl-C) came before a fold was done.
        """
        order = in_name_order(self._check_graph(graph))
        known, places = known.sorted_by_name(order)
        self._run_fit(graph, known, fold=fold[places])
        found = np.empty(places.size)
        found[places] = self.unseen_
        return found

    def _known(self, graph: MultilayerGraph, y: Any) -> KnownNumbers:
        check_number_range(graph)
        return y if isinstance(y, KnownNumbers) else known_numbers(graph, y)

    def _finish(self, found: Floats, known: KnownNumbers) -> None:
        self.values_ = found

    @abstractmethod
    def _fit(
        self,
        graph: MultilayerGraph,
        known: KnownNumbers,
        seed: int,
        *,
        fold: NDArray[np.int64] | None = None,
    ) -> Floats:
        """Learn from known numbers and return those of all nodes; with folds, also set ``unseen_``."""

    @abstractmethod
    def _inductive(self, graph: MultilayerGraph) -> Floats:
        """Numbers for the nodes of another graph, whose layers have been checked."""

    def _informed(self, graph: MultilayerGraph) -> NDArray[np.bool_]:
        """Of which nodes of another graph it can say more than the mean of all; it takes part in a mixture there."""
        return np.ones(graph.num_nodes, dtype=bool)

    def predict(self, graph: MultilayerGraph | None = None) -> Floats:
        """A number for every node, of the fitted graph or of another that has its layers."""
        self.check_fitted()
        if graph is None or self.fitted_on(graph):
            return self.values_.copy()
        order = self._ordered(graph)
        found: Floats = order.to_given(self._inductive(order.graph))
        if not np.isfinite(found).all():
            raise DataError(
                f"{type(self).__name__} finds no numbers for this graph: its weights or features are too large"
            )
        return found

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
        known = known_numbers(self._graph_to_score(graph, y, "numbers"), y, least=2)
        return explained(known.values, self.predict(graph)[known.nodes])


def explained(values: Floats, predicted: Floats) -> float:
    """R2 of predictions; NaN where all values are the same.

    >>> explained(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 4.0]))
    0.5
    """
    spread = float(((values - values.mean()) ** 2).sum())
    return 1 - float(((values - predicted) ** 2).sum()) / spread if spread > 0 else math.nan


def known_numbers(
    graph: MultilayerGraph, y: Any = None, *, least: int = MIN_KNOWN_NUMBERS
) -> KnownNumbers:
    """The nodes whose number is known; an error if there are too few, or if a label is not a number."""
    if y is None and graph.labels is None:
        raise DataError("the graph has no labels and none were given; pass y")
    y = labels_within(graph, y, "train" if y is None and "train" in graph.masks else None)
    aligned = graph.align(graph.labels if y is None else y, "label")
    found: dict[int, float] = {}
    for place, value in enumerate(aligned):
        if value is None:
            continue
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise DataError(
                f"the label {value!r} of {graph.nodes[place]!r} is not a number"
            ) from None
        if math.isfinite(number):
            found[place] = number
        elif not math.isnan(number):
            raise DataError(f"the label of {graph.nodes[place]!r} is infinite")
    if len(found) < least:
        raise DataError(f"{len(found)} nodes have a known number; at least {least} are needed")
    return KnownNumbers(np.array(list(found), dtype=np.int64), np.array(list(found.values())))
