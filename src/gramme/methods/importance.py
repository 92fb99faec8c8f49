"""How much a method relies on each layer: the rules that all methods share, however they measure it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramme.graph import MultilayerGraph


def shares_of_joined(
    shares: NDArray[np.floating[Any]], graph: MultilayerGraph
) -> NDArray[np.float64]:
    """Shares of the layers, (..., layers), with 0 for layers that join no nodes and the others summing to 1.

    A model may have fitted something to such a layer, but it cannot tell nodes apart by it. If no layer joins any
    nodes, all shares are 0.
    """
    joined = np.array([layer.num_edges > 0 for layer in graph.layers.values()], dtype=bool)
    kept = np.where(joined, shares, 0.0)
    total = kept.sum(axis=-1, keepdims=True)
    even = joined / max(int(joined.sum()), 1)
    found: NDArray[np.float64] = np.where(total > 0, kept / np.where(total > 0, total, 1.0), even)
    return found
