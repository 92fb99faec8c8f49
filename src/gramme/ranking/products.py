"""Layers as products with values of the nodes, one by one, as the supra graph, and on top of each other."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from gramme._types import Floats
from gramme.errors import DataError, GrammeWarning
from gramme.graph import Layer, MultilayerGraph


def warn_unless(converged: bool, measure: str, steps: int) -> None:
    """Warn that a measure is only approximate."""
    if not converged:
        warnings.warn(
            f"{measure} has not settled after {steps} steps; its values are approximate", GrammeWarning, stacklevel=3
        )


class LayerProduct:
    """``A @ v`` and ``A.T @ v`` for the adjacency A of a layer; row i holds the nodes that i listens to.

    Parameters
    ----------
    layer : Layer

    Attributes
    ----------
    times, transposed : callable
        The two products: the sum over the nodes that a node's edges point to, and over those whose edges point to it.
    present : array of bool, shape (nodes,)
        Which nodes the layer holds.
    out_strength, in_strength : array of float, shape (nodes,)
        The weights of the edges that leave and that reach each node; the same where edges have no direction.

    Examples
    --------
    >>> from gramme.graph import MembershipLayer
    >>> room = LayerProduct(MembershipLayer.from_values(["a", "b", "b", "b"]))
    >>> room.times(np.array([1.0, 2.0, 3.0, 4.0])).tolist()
    [0.0, 7.0, 6.0, 5.0]
    """

    def __init__(self, layer: Layer) -> None:
        self.num_nodes = layer.num_nodes
        self.present = np.asarray(layer.present)
        self.directed = layer.directed
        incidence: Any = layer.incidence()
        if incidence is None:
            forward_matrix = layer.to_scipy()
            backward_matrix = sp.csr_array(forward_matrix.T.tocsr()) if layer.directed else forward_matrix
            self.times: Callable[[Floats], Floats] = forward_matrix.__matmul__
            self.transposed: Callable[[Floats], Floats] = backward_matrix.__matmul__
        else:
            from_groups = sp.csr_array(incidence.T.tocsr())
            # a node is not its own neighbour: what it gives to its groups comes back and is taken off again
            own_weight = np.asarray(incidence.multiply(incidence).sum(axis=1)).ravel()
            is_isolated = layer.degrees() == 0  # what rounding leaves of the subtraction is not a neighbour

            def product(values: Floats) -> Floats:
                return np.where(is_isolated, 0.0, incidence @ (from_groups @ values) - own_weight * values)

            self.times = self.transposed = product
        unit_values = np.ones(self.num_nodes)
        self.out_strength = self.times(unit_values)
        self.in_strength = self.transposed(unit_values) if layer.directed else self.out_strength


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
        self._back = {pair[::-1]: sp.csr_array(edge_matrix.T.tocsr()) for pair, edge_matrix in self.across.items()}
        self.present = np.stack([product.present for product in self.products])
        self.directed = bool(self.across) or any(edge_matrix.directed for edge_matrix in self.products)

    @classmethod
    def of(cls, graph: MultilayerGraph, coupling: float = 1.0) -> SupraProduct:
        """The supra graph of a graph's layers."""
        return cls([LayerProduct(layer) for layer in graph.layers.values()], coupling, couplings_of(graph))

    @property
    def shape(self) -> tuple[int, int]:
        """Layers and nodes."""
        return self.present.shape[0], self.present.shape[1]

    def times(self, values: Floats) -> Floats:
        """M times values of shape (layers, nodes)."""
        within_layers = [
            layer_product.times(layer_values) for layer_product, layer_values in zip(self.products, values, strict=True)
        ]
        return self._coupled(np.stack(within_layers), values, self.across)

    def transposed(self, values: Floats) -> Floats:
        """The transpose of M times values of shape (layers, nodes)."""
        within_layers = [
            layer_product.transposed(layer_values)
            for layer_product, layer_values in zip(self.products, values, strict=True)
        ]
        return self._coupled(np.stack(within_layers), values, self._back)

    def _coupled(self, within: Floats, values: Floats, across: Mapping[tuple[int, int], sp.csr_array]) -> Floats:
        if self.coupling and len(values) > 1:
            present_values = np.where(self.present, values, 0.0)
            within += np.where(self.present, self.coupling * (present_values.sum(axis=0) - present_values), 0.0)
        for (target_layer, out_of), edge_matrix in across.items():
            within[target_layer] += edge_matrix @ values[out_of]
        return within


def couplings_of(graph: MultilayerGraph) -> dict[tuple[int, int], sp.csr_array]:
    """The graph's edges between layers, by the numbers of the layers; an undirected one goes both ways."""
    layer_number = {layer_name: layer_index for layer_index, layer_name in enumerate(graph.layers)}
    coupling_matrices: dict[tuple[int, int], sp.csr_array] = {}

    def add(pair: tuple[int, int], edges: sp.csr_array) -> None:
        coupling_matrices[pair] = sp.csr_array(coupling_matrices[pair] + edges) if pair in coupling_matrices else edges

    for (first_layer, second_layer), coupling in graph.couplings.items():
        edge_matrix = coupling.to_scipy()
        add((layer_number[first_layer], layer_number[second_layer]), edge_matrix)
        if not coupling.directed:
            add((layer_number[second_layer], layer_number[first_layer]), sp.csr_array(edge_matrix.T.tocsr()))
    return coupling_matrices


class AllLayers(NamedTuple):
    """Edges of several layers added up, and the groups of all membership layers side by side."""

    heard: sp.csr_array  # entry (i, j) counts in how many layers i listens to j; weights do not count
    groups: sp.csr_array  # of ones: who is in which group of any layer

    @classmethod
    def of(cls, layers: Iterable[Layer], num_nodes: int) -> AllLayers:
        """Put layers on top of each other."""
        listens_to = sp.csr_array((num_nodes, num_nodes))
        group_matrices = []
        for layer in layers:
            incidence = layer.incidence()
            if incidence is not None:
                incidence.data = np.ones_like(incidence.data)
                group_matrices.append(incidence)
            else:
                edge_pattern = layer.to_scipy()
                edge_pattern.data = np.ones_like(edge_pattern.data)
                listens_to = sp.csr_array(listens_to + edge_pattern)
        all_groups = sp.hstack(group_matrices, format="csr") if group_matrices else sp.csr_array((num_nodes, 0))
        return cls(listens_to, sp.csr_array(all_groups))

    @property
    def told(self) -> sp.csr_array:
        """Entry (i, j) counts in how many layers j listens to i."""
        return sp.csr_array(self.heard.T.tocsr())
