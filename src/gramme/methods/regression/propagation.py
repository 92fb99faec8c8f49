"""Known numbers spreading to neighbours: a harmonic function on all layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gramme.graph import MultilayerGraph
from gramme.methods.parameters import Number, Optional, Rule
from gramme.methods.probability import Floats
from gramme.methods.propagation.series import Walk, propagate
from gramme.methods.propagation.walk_choice import walk_of
from gramme.methods.regression.base import KnownNumbers
from gramme.methods.regression.tried import TriedRegressor
from gramme.methods.saved_fields import SavedArray, SavedField, SavedValue

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

    parameter_rules: ClassVar[Mapping[str, Rule]] = {"alpha": Optional(ALPHA)}
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
