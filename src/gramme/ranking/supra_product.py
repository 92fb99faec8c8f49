"""The graph of all nodes' copies, one per layer, as products: layers within, couplings across, nothing built."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.ranking.layer_product import LayerProduct

Values = NDArray[np.float64]


class SupraProduct:
    """The supra adjacency M times values of shape (layers, nodes), and its transpose.

    Each layer's edges join the copies in that layer; a coupling of the given strength joins the copies of one node in
    all layers that hold it. Cost: edges and memberships, plus layers times nodes.

    Parameters
    ----------
    products : sequence of LayerProduct
    coupling : float
        Weight of the edges between a node's copies, at least 0.

    Attributes
    ----------
    present : array of bool, shape (layers, nodes)
        Which copies there are.
    """

    def __init__(self, products: Sequence[LayerProduct], coupling: float = 1.0) -> None:
        if not (np.isfinite(coupling) and coupling >= 0):
            raise DataError(f"the coupling between layers must be at least 0, not {coupling}")
        self.products = list(products)
        self.coupling = float(coupling)
        self.present = np.stack([product.present for product in self.products])
        self.directed = any(product.directed for product in self.products)

    @classmethod
    def of(cls, graph: MultilayerGraph, coupling: float = 1.0) -> SupraProduct:
        """The supra graph of a graph's layers."""
        return cls([LayerProduct(layer) for layer in graph.layers.values()], coupling)

    @property
    def shape(self) -> tuple[int, int]:
        """Layers and nodes."""
        return self.present.shape[0], self.present.shape[1]

    def times(self, values: Values) -> Values:
        """M times values of shape (layers, nodes)."""
        within = [one.times(row) for one, row in zip(self.products, values, strict=True)]
        return self._coupled(np.stack(within), values)

    def transposed(self, values: Values) -> Values:
        """The transpose of M times values of shape (layers, nodes)."""
        within = [one.transposed(row) for one, row in zip(self.products, values, strict=True)]
        return self._coupled(np.stack(within), values)

    def _coupled(self, within: Values, values: Values) -> Values:
        if self.coupling and len(values) > 1:
            there = np.where(self.present, values, 0.0)
            within += self.coupling * np.where(self.present, there.sum(axis=0) - there, 0.0)
        return within
