"""Closeness of two nodes in the walk profile: how alike the places are that walks over all layers lead to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gramme.graph import MultilayerGraph
from gramme.links.pair_scores import Floats, Pairs
from gramme.methods.linear.walk_profile import WalkProfile

PROFILE_DIMENSIONS = 64
NEAR, FAR = 2, 8
"""Steps of the walks that are compared."""
MAX_WALK_NODES = 200_000
"""Nodes up to which walks are compared at all: finding their profile takes hundreds of passes over the edges."""


@dataclass(frozen=True)
class WalkCloseness:
    """Rows of length 1 for short and for long walks; None if the graph is too large."""

    near: NDArray[np.float32] | None
    far: NDArray[np.float32] | None

    @classmethod
    def of(cls, graph: MultilayerGraph) -> WalkCloseness:
        """From all layers of a graph."""
        if graph.num_nodes > MAX_WALK_NODES or graph.num_nodes < 3 or not graph.num_edges:
            return cls(None, None)
        profile = WalkProfile.of(graph, min(PROFILE_DIMENSIONS, graph.num_nodes - 1))
        return cls(*(_rows(profile, steps) for steps in (NEAR, FAR)))

    def of_pairs(self, pairs: Pairs) -> Floats:
        """The cosine for short and for long walks, shape (pairs, 2)."""
        found = np.zeros((len(pairs), 2))
        for column, rows in enumerate((self.near, self.far)):
            if rows is not None and rows.shape[1]:
                for begin in range(0, len(pairs), 200_000):
                    part = pairs[begin : begin + 200_000]
                    product = (rows[part[:, 0]] * rows[part[:, 1]]).sum(axis=1)
                    found[begin : begin + 200_000, column] = product
        return found


def _rows(profile: WalkProfile, steps: int) -> NDArray[np.float32]:
    scaled = profile.vectors * (profile.values**steps).astype(np.float32)
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    return (scaled / np.where(length > 1e-12, length, 1.0)).astype(np.float32)
