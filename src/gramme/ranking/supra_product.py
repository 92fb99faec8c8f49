"""The graph of all nodes' copies, one per layer, as products: layers within, couplings across, nothing built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import scipy.sparse as sp
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
    coupling : float, default=1.0
        Weight of the edges between a node's copies, at least 0.
    across : mapping of (layer, layer) to scipy CSR, optional
        Further edges, from nodes in the first layer to nodes in the second, by the layers' numbers.

    Attributes
    ----------
    present : array of bool, shape (layers, nodes)
        Which copies there are.
    """

    def __init__(
        self,
        products: Sequence[LayerProduct],
        coupling: float = 1.0,
        across: Mapping[tuple[int, int], sp.csr_array] | None = None,
    ) -> None:
        if not (np.isfinite(coupling) and coupling >= 0):
            raise DataError(f"the coupling between layers must be at least 0, not {coupling}")
        self.products = list(products)
        self.coupling = float(coupling)
        self.across = dict(across or {})
        self._back = {pair: sp.csr_array(one.T.tocsr()) for pair, one in self.across.items()}
        self.present = np.stack([product.present for product in self.products])
        self._everywhere = bool(self.present.all())
        self.directed = bool(self.across) or any(one.directed for one in self.products)

    @classmethod
    def of(cls, graph: MultilayerGraph, coupling: float = 1.0) -> SupraProduct:
        """The supra graph of a graph's layers."""
        return cls(
            [LayerProduct(layer) for layer in graph.layers.values()], coupling, couplings_of(graph)
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Layers and nodes."""
        return self.present.shape[0], self.present.shape[1]

    def times(self, values: Values) -> Values:
        """M times values of shape (layers, nodes)."""
        within = [one.times(row) for one, row in zip(self.products, values, strict=True)]
        found = self._coupled(np.stack(within), values)
        for (first, second), edges in self.across.items():
            found[first] += edges @ values[second]
        return found

    def transposed(self, values: Values) -> Values:
        """The transpose of M times values of shape (layers, nodes)."""
        within = [one.transposed(row) for one, row in zip(self.products, values, strict=True)]
        found = self._coupled(np.stack(within), values)
        for (first, second), edges in self._back.items():
            found[second] += edges @ values[first]
        return found

    def _coupled(self, within: Values, values: Values) -> Values:
        if self.coupling and len(values) > 1:
            there = values if self._everywhere else np.where(self.present, values, 0.0)
            others = there.sum(axis=0) - there
            others *= self.coupling
            if not self._everywhere:
                others[~self.present] = 0.0
            within += others
        return within


def couplings_of(graph: MultilayerGraph) -> dict[tuple[int, int], sp.csr_array]:
    """The graph's edges between layers, by the numbers of the layers; an undirected one goes both ways."""
    number = {name: place for place, name in enumerate(graph.layers)}
    found: dict[tuple[int, int], sp.csr_array] = {}

    def add(pair: tuple[int, int], edges: sp.csr_array) -> None:
        found[pair] = sp.csr_array(found[pair] + edges) if pair in found else edges

    for (first, second), coupling in graph.couplings.items():
        edges = coupling.to_scipy()
        add((number[first], number[second]), edges)
        if not coupling.directed:
            add((number[second], number[first]), sp.csr_array(edges.T.tocsr()))
    return found
