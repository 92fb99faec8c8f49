"""Logistic regression on features averaged over neighbourhoods: what attributes tell without training a network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods import parameters as check
from gramme.methods.attention.inputs import given_columns
from gramme.methods.labels import known_labels
from gramme.methods.linear.logistic import (
    LinearModel,
    chosen_strength,
    class_shares,
    importances,
    regression,
)
from gramme.methods.propagation.series import NodeWalk
from gramme.methods.saving import Learned

STRENGTHS = (10.0, 1.0, 100.0, 1000.0)
HOPS = 2

Matrix = NDArray[np.float32]


class NeighbourhoodLogistic(LinearModel):
    """Multinomial logistic regression on a node's own features and their means over its neighbours in each layer.

    The columns are blocks: the features, scaled to length 1 per node; then, for each layer, their mean over a node and
    its neighbours, and the mean of these means. Every block is again scaled to length 1, so that none outweighs the
    others by its size. There are no weights to train between the hops, which makes it strong where
    features are many and labels few. The penalty is chosen by inner cross-validation on the training labels.

    An ingredient of :class:`GrammeAuto` for graphs with features of their own. Cost: two neighbourhood sums of the
    features per layer, and nodes x features x (1 + 2 layers) numbers of memory.

    Parameters
    ----------
    C : float, optional
        Inverse strength of the penalty; chosen among 1, 10, 100 and 1000 where not given.
    random_state : int, numpy generator or None
        Decides which labels share a fold.

    References
    ----------
    F. Wu, A. Souza, T. Zhang, C. Fifty, T. Yu, K. Weinberger, "Simplifying Graph Convolutional Networks", ICML 2019.
    """

    columns_: int

    def __init__(self, *, C: float | None = None, random_state: Any = None) -> None:
        self.C = C
        self.random_state = random_state

    def fit(self, graph: MultilayerGraph, y: Any = None) -> Self:
        graph = self._check_graph(graph)
        strength = None if self.C is None else check.number("C", self.C, 0, open_low=True)
        seed = check.seed_of(self.random_state)
        known = known_labels(graph, y)
        if not given_columns(graph):
            raise DataError("the graph has no features, and this method has nothing else to see")
        self._begin(graph, known)
        self.columns_ = given_columns(graph)
        table = _table(graph)
        rows = table[known.nodes]
        self.C_ = chosen_strength(rows, known, STRENGTHS, seed) if strength is None else strength
        self.coefficients_, self.intercept_ = regression(
            rows, known.codes, len(known.classes), self.C_
        )
        self._finish(self._scored(table), known)
        self.layer_importance_ = importances(self._layer_scores(table), graph)
        return self

    def twin(self) -> Self:
        copy = super().twin()
        copy.C = self.C_
        return copy

    def _inductive_proba(self, graph: MultilayerGraph) -> NDArray[np.float32]:
        if given_columns(graph) != self.columns_:
            raise DataError(
                f"the model needs {self.columns_} features per node; the graph has {given_columns(graph)}"
            )
        return self._scored(_table(graph))

    def _scored(self, table: Matrix) -> NDArray[np.float32]:
        return class_shares(table, self.coefficients_, self.intercept_).astype(np.float32)

    def _layer_scores(self, table: Matrix) -> Iterator[NDArray[np.float64]]:
        """Each layer's part of the scores."""
        for place in range(len(self.layers_)):
            start = (1 + HOPS * place) * self.columns_
            stop = start + HOPS * self.columns_
            yield table[:, start:stop] @ self.coefficients_[start:stop]

    def _learned(self) -> Learned:
        learned = super()._learned()
        learned.record["columns"] = self.columns_
        return learned

    def _restore(self, learned: Learned) -> None:
        super()._restore(learned)
        self.columns_ = int(learned.record["columns"])
        self._check_columns(self.columns_ * (1 + HOPS * len(self.layers_)))


def numbers_needed(graph: MultilayerGraph) -> int:
    """How many numbers the table of a graph has."""
    return graph.num_nodes * given_columns(graph) * (1 + HOPS * graph.num_layers)


def _table(graph: MultilayerGraph) -> Matrix:
    """The blocks of columns side by side, each row of a block of the same length."""
    features: Any = graph.features
    dense = np.asarray(features.todense() if hasattr(features, "todense") else features)
    own = _scaled(torch.from_numpy(np.array(dense, dtype=np.float32)))
    blocks = [own]
    walk = NodeWalk(list(graph.layers.values()), graph.num_nodes)
    for layer in range(graph.num_layers):
        values = own
        alone = walk.scales[layer] == 0  # who has no neighbours here stays as it is
        for _ in range(HOPS):
            values = torch.where(alone, values, walk.mean(layer, values))
            blocks.append(_scaled(values))
    table: Matrix = (torch.cat(blocks, dim=1) / len(blocks) ** 0.5).numpy()
    return table


def _scaled(values: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.normalize(values, dim=1)
