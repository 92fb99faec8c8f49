"""A regression with one setting that is chosen on known numbers, on a table that needs none of them.

The table is made once for all folds and all settings. Every choice is made anew in every fold, so the prediction for a
number has not seen it in any way.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramme.graph import MultilayerGraph
from gramme.methods.probability import Floats
from gramme.methods.regression.base import KnownNumbers, NodeRegressor

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
    def _settings(self) -> tuple[Any, ...]:
        """What is tried; the first where there is nothing to choose by."""

    @abstractmethod
    def _table(self, graph: MultilayerGraph, known: KnownNumbers) -> Any:
        """What it learns on. Of the known numbers it may look at who they belong to, not at their values."""

    @abstractmethod
    def _lesson(self, table: Any, known: KnownNumbers, setting: Any) -> Any:
        """What is learned from known numbers."""

    @abstractmethod
    def _said(self, table: Any, lesson: Any) -> Floats:
        """The numbers of all nodes."""

    @abstractmethod
    def _keep(self, lesson: Any, setting: Any) -> None:
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

    def _chosen(self, table: Any, known: KnownNumbers) -> Any:
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
