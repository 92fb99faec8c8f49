"""Steps of a walk over a graph whose parts lie at several processes, as products with each layer.

Vectors of the eigenvalue iteration are whole at every process, 8 bytes per node each; edges and memberships are not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import torch
from numpy.typing import NDArray

from gramme.distributed import PartGraph
from gramme.distributed.part_layers import PartEdges, PartGroups
from gramme.distributed.part_sums import PartEdgeSum, SharedGroups

Floats = NDArray[np.float64]

MAX_GATHERED_ENTRIES = 2_000_000
"""Edges, memberships and nodes up to which every process gathers all layers for the eigenvectors, and works alone.

Where eigenvalues are equal, as in a table of all combinations or a network of equal pieces, their vectors depend on the
last bit of every sum. Beyond this size sums are taken together, and such vectors may be others than on one process.
"""


class LayerSteps(ABC):
    """One layer: values of neighbours, scaled by the square roots of the degrees on both sides.

    Attributes
    ----------
    scale : array, shape (nodes here,)
    """

    scale: Floats

    @abstractmethod
    def product(self, values: Floats) -> Floats:
        """Scaled sums over neighbours, from values (nodes here, columns); a collective."""


class EdgeSteps(LayerSteps):
    """A layer of edges, both ways."""

    def __init__(self, graph: PartGraph, layer: PartEdges) -> None:
        self.directed = layer.directed
        self.sum = PartEdgeSum(
            graph.world, layer.links, symmetric=not layer.directed, hears_itself=False
        )
        self.scale = inverse_roots(self.both_ways(np.ones((graph.num_nodes, 1)))[:, 0])

    def both_ways(self, values: Floats) -> Floats:
        """Sums over those a node listens to and those who listen to it; these are the same without direction."""
        given = torch.from_numpy(np.ascontiguousarray(values))
        found = self.sum(given)
        if self.directed:
            found += self.sum.transposed(given)
        sums: Floats = found.numpy()
        return sums

    def product(self, values: Floats) -> Floats:
        return self.scale[:, None] * self.both_ways(self.scale[:, None] * values)


class GroupSteps(LayerSteps):
    """A layer of groups, through their sums."""

    def __init__(self, graph: PartGraph, layer: PartGroups) -> None:
        self.names, self.inside = layer.group_names, layer.incidence()
        self.back = self.inside.T.tocsr()
        self._shared = SharedGroups(graph.world, layer.shared, layer.shared_count)
        self.sizes = self.sums(np.ones((graph.num_nodes, 1)))[:, 0]
        self.scale = inverse_roots(self.inside @ self.sizes)

    def sums(self, values: Floats) -> Floats:
        """Sums of the groups with members here, over all their members."""
        mine = torch.from_numpy(np.ascontiguousarray(self.back @ values))
        found: Floats = self._shared.whole_(mine).numpy()
        return found

    def product(self, values: Floats) -> Floats:
        found: Floats = self.scale[:, None] * (
            self.inside @ self.sums(self.scale[:, None] * values)
        )
        return found


def layer_steps(graph: PartGraph, name: str) -> LayerSteps:
    """Steps in one layer of a part."""
    layer = graph.layers[name]
    if isinstance(layer, PartEdges):
        return EdgeSteps(graph, layer)
    assert isinstance(layer, PartGroups)
    return GroupSteps(graph, layer)


class WalkInParts:
    """N = b^(-1/2) B b^(-1/2) over all layers of a graph in parts.

    Attributes
    ----------
    root : array, shape (nodes here,)
        b^(-1/2).
    first : array, shape (nodes of the whole graph,)
        The first eigenvector: the square roots of b, of length 1.
    """

    def __init__(self, graph: PartGraph) -> None:
        self.graph = graph
        self.layers = {name: layer_steps(graph, name) for name in graph.layers}
        mass = self._added(np.ones((graph.num_nodes, 1)))[:, 0]
        self.root = inverse_roots(mass)
        first = graph.in_order(np.sqrt(mass))
        self.first: Floats = first / max(float(np.linalg.norm(first)), 1e-300)

    def _added(self, values: Floats) -> Floats:
        total = np.zeros_like(values)
        for steps in self.layers.values():
            total += steps.product(values)
        return total

    def step(self, whole: Floats) -> Floats:
        """One step from a value for every node of the whole graph, to one for every node."""
        mine = whole[self.graph.places] * self.root
        found: Floats = self.graph.in_order(self._added(mine[:, None])[:, 0] * self.root)
        return found


def inverse_roots(degrees: Floats) -> Floats:
    """1 / sqrt, 0 where there is nothing to divide by."""
    found: Floats = np.where(degrees > 0, 1 / np.sqrt(np.where(degrees > 0, degrees, 1)), 0.0)
    return found
