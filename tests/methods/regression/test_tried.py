"""A setting is chosen by the numbers that are left out, and not at all where there are too few."""

from typing import Any

import numpy as np

from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.methods.regression.base import KnownNumbers
from gramme.methods.regression.tried import TriedRegressor, inner_folds


class Constant(TriedRegressor):
    """Says its setting of everybody."""

    def _settings(self) -> tuple[float, ...]:
        return (0.0, 1.0)

    def _table(self, graph: MultilayerGraph, known: KnownNumbers) -> int:
        return graph.num_nodes

    def _lesson(self, table: int, known: KnownNumbers, setting: float) -> float:
        return setting

    def _said(self, table: int, lesson: float) -> Any:
        return np.full(table, lesson)

    def _keep(self, lesson: float, setting: float) -> None:
        self.setting_ = setting

    def _inductive(self, graph: MultilayerGraph) -> Any:
        return np.full(graph.num_nodes, self.setting_)


GRAPH = MultilayerGraph({"a": EdgeLayer(9, [0], [1])})


def test_few_labels_take_the_first_setting() -> None:
    assert Constant()._chosen(9, KnownNumbers(np.arange(3), np.ones(3))) == 0
    assert Constant()._chosen(9, KnownNumbers(np.arange(6), np.ones(6))) == 1
    assert inner_folds(3).tolist() == [0, 1, 2]


def test_every_fold_makes_its_own_choice() -> None:
    values = np.array([1.0] * 6 + [0.0] * 3)
    model = Constant()
    unseen = model.fit_with_folds(GRAPH, KnownNumbers(np.arange(9), values), np.arange(9) // 3)
    assert model.setting_ == 1
    assert unseen.tolist() == [0, 0, 0, 0, 0, 0, 1, 1, 1]
