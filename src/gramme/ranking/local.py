"""Measures of a node's own edges: how many, how heavy, and how evenly spread over the layers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gramme.graph import Layer, MultilayerGraph
from gramme.ranking.layer_product import LayerProduct

Values = NDArray[np.float64]


def layer_degrees(layer: Layer) -> tuple[Values, Values]:
    """Edges that leave and that reach each node of a layer; the same where edges have no direction."""
    out = layer.degrees().astype(np.float64)
    if not layer.directed:
        return out, out
    reached = layer.to_edges().target
    return out, np.bincount(reached, minlength=layer.num_nodes).astype(np.float64)


def layer_degree(layer: Layer) -> Values:
    """All edges at each node; an edge with a direction counts at both its ends."""
    out, into = layer_degrees(layer)
    return out + into if layer.directed else out


def layer_strength(product: LayerProduct) -> Values:
    """The weight of all edges at each node."""
    if product.directed:
        return product.out_strength + product.in_strength
    return product.out_strength


def participation(graph: MultilayerGraph) -> Values:
    """How evenly a node's edges are spread over the layers: 0 all in one, 1 equally many in each.

    ``L / (L - 1) * (1 - sum over layers of (degree there / degree in all)^2)``; 0 for a node without edges.

    References
    ----------
    Battiston, Nicosia, Latora: Structural measures for multiplex networks. Physical Review E 89, 032804 (2014).
    """
    degrees = np.stack([layer_degree(layer) for layer in graph.layers.values()])
    layers = len(degrees)
    total = degrees.sum(axis=0)
    if layers < 2:
        return np.zeros(total.size)
    shares = np.divide(degrees, total, out=np.zeros_like(degrees), where=total > 0)
    spread: Values = np.where(total > 0, layers / (layers - 1) * (1 - (shares**2).sum(axis=0)), 0.0)
    return spread
