"""Logistic regression on features averaged over neighbourhoods: what attributes tell without training a network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods.labels import KnownLabels
from gramme.methods.linear.logistic import (
    LinearModel,
    chosen_strength,
    class_shares,
    importances,
    regression,
)
from gramme.methods.number_range import check_number_range
from gramme.methods.parameters import WholeNumber
from gramme.methods.propagation.series import NodeWalk
from gramme.methods.saved_fields import SavedField, SavedValue
from gramme.methods.seen_graph import feature_blocks, given_columns

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
    C : float or None, default=None
        Inverse strength of the penalty; chosen among 1, 10, 100 and 1000 where not given.
    random_state : int, numpy generator or None, default=None
        Decides which labels share a fold.

    References
    ----------
    F. Wu, A. Souza, T. Zhang, C. Fifty, T. Yu, K. Weinberger, "Simplifying Graph Convolutional Networks", ICML 2019.
    """

    saved_fields: ClassVar[tuple[SavedField, ...]] = (SavedValue("columns", WholeNumber()),)

    columns_: int

    def __init__(self, *, C: float | None = None, random_state: Any = None) -> None:
        self.C = C
        self.random_state = random_state

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        if not given_columns(graph):
            raise DataError("the graph has no features, and this method has nothing else to see")

    def _fit(
        self,
        graph: MultilayerGraph,
        known: KnownLabels,
        seed: int,
        *,
        strength: float | None = None,
    ) -> NDArray[np.floating[Any]]:
        """Learn; ``strength`` is the penalty of the model this is a copy of."""
        check_number_range(graph)
        self.columns_, self.labels_ = given_columns(graph), known.nodes.size
        table = _table(graph)
        rows = table[known.nodes]
        self.C_ = float(self.C or strength or chosen_strength(rows, known, STRENGTHS, seed))
        self.coefficients_, self.intercept_ = regression(
            rows, known.codes, len(known.classes), self.C_
        )
        self.layer_importance_ = importances(self._layer_scores(table), graph)
        return self._scored(table)

    def _hand_down(self, graph: MultilayerGraph) -> dict[str, Any]:
        return {"strength": self.C_}

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

    def _check_loaded(self) -> None:
        self._check_columns(self.columns_ * (1 + HOPS * len(self.layers_)))


def numbers_needed(graph: MultilayerGraph) -> int:
    """How many numbers the table of a graph has."""
    return graph.num_nodes * given_columns(graph) * (1 + HOPS * graph.num_layers)


def _table(graph: MultilayerGraph) -> Matrix:
    """The blocks of columns side by side, each row of a block of the same length."""
    views = [_scaled(_dense(block)) for block in feature_blocks(graph)]
    # Every view counts the same, however many columns it has
    own = torch.cat(views, dim=1) / len(views) ** 0.5 if len(views) > 1 else views[0]
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


def _dense(features: Any) -> torch.Tensor:
    dense = np.asarray(features.todense() if hasattr(features, "todense") else features)
    return torch.from_numpy(np.array(dense, dtype=np.float32))


def _scaled(values: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.normalize(values, dim=1)
