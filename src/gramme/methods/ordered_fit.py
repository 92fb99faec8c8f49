"""How a fitted method sees graphs: nodes and layers in the order of their names, with the layers of the fit.

Methods work on the ordered graph (:mod:`gramme.graph.name_order`); what they show is in the order that was given. So
neither the order of nodes nor that of layers in a file changes a prediction.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.errors import DataError, NotFittedError
from gramme.graph import MultilayerGraph
from gramme.graph.name_order import NameOrder, in_name_order
from gramme.methods.seen_graph import ViewScale, seen_graph, with_layers_of_fit


class OrderedFit:
    """What a fitted method knows of graphs and their order."""

    #: Whether the method knows couplings between layers; for others each is a layer of its own.
    attends_couplings: ClassVar[bool] = False
    #: Whether the method passes the graph on to other methods as it was given; they put it in order themselves.
    hands_graph_on: ClassVar[bool] = False

    nodes_: pd.Index
    layers_: list[str]
    layer_order_: list[str]
    graph_: MultilayerGraph
    given_graph_: MultilayerGraph
    view_center_: NDArray[np.float64]
    view_scale_: NDArray[np.float64]

    def _seen(self, graph: MultilayerGraph) -> MultilayerGraph:
        """Another graph as this model sees it."""
        views = None
        if hasattr(self, "view_scale_"):
            views = ViewScale(self.view_center_, self.view_scale_)
        return seen_graph(graph, views, attends_couplings=self.attends_couplings)

    def _ordered(self, graph: Any) -> NameOrder:
        """Another graph as the method would see it in a fit, with the layers of its own fit."""
        seen = self._seen(self._check_graph(graph))
        if self.hands_graph_on:
            return NameOrder(with_layers_of_fit(seen, self.layers_))
        return self._with_own_layers(in_name_order(seen))

    def _fitted_order(self) -> NameOrder:
        """The graph of the fit as the method saw it."""
        if not hasattr(self, "graph_"):
            raise NotFittedError(
                "a loaded model does not hold the graph it was fitted on; pass the graph, "
                "as in embed(graph) or node_attention(layer, graph=graph)"
            )
        return self._with_own_layers(in_name_order(self.graph_))

    def _with_own_layers(self, order: NameOrder) -> NameOrder:
        return NameOrder(with_layers_of_fit(order.graph, self.layer_order_), order.places)

    def fitted_on(self, graph: MultilayerGraph) -> bool:
        """Whether this is the graph of the fit, as it was given or as the model saw it; never for a loaded model."""
        return any(graph is vars(self).get(name) for name in ("graph_", "given_graph_"))

    def _in_given_order(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Rows of the nodes of the fit, in the order of the method, as the nodes were given."""
        return in_name_order(self.graph_).back(rows)

    def _by_layer(self, values: Any, name: str) -> pd.Series:
        """Numbers of the layers, in the order of the method, as the layers were given."""
        return pd.Series(values, index=self.layer_order_, name=name)[self.layers_]

    @staticmethod
    def _check_graph(graph: Any) -> MultilayerGraph:
        if not isinstance(graph, MultilayerGraph):
            raise DataError(f"a MultilayerGraph is needed, not {type(graph).__name__}")
        if graph.num_layers == 0:
            raise DataError("the graph has no layers, so there is nothing to learn from")
        return graph
