"""Steps over very many layers of edges at once: a graph may have thousands of layers with a few nodes each.

A step takes the mean over a node and its neighbours in every layer. Layer by layer, thousands of calls would each do
next to nothing. Here all pairs of a layer and a node that has neighbours in it are the rows of one sparse matrix:

    step(V)  =  N (w * (s * (R V))),

with R the sums over a node and its neighbours, s one over their sizes, w the weight of the row's layer, and N the sum
over the rows of a node, in the order of the layers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from gramme.distributed import world_of
from gramme.graph import MultilayerGraph
from gramme.methods.propagation.series import Floats, NodeSpace

MANY_LAYERS = 64
"""Layers from which on they are taken together."""
MAX_ROWS_PER_NODE = 16
"""Rows of all layers per node at most, on average, so that a step takes little more memory than its result ..."""
FEW_ROWS = 100_000
"""... unless there are so few rows that it does not matter."""


class ManyLayersWalk(NodeSpace):
    """Steps for graphs with many small layers. Cost of a step: edges x columns, in three calls."""

    def __init__(self, graph: MultilayerGraph) -> None:
        self.graph, self.nodes = graph, graph.num_nodes
        row, other, weight = _pairs(graph)
        places, row = np.unique(row, return_inverse=True)
        self.layer, node = np.divmod(places, max(self.nodes, 1))
        count = places.size
        own = np.arange(count)
        rows, columns = np.concatenate([own, row]), np.concatenate([node, other])
        values = np.concatenate([np.ones(count), weight])
        self.sums = sp.csr_array((values, (rows, columns)), shape=(count, self.nodes))
        self.share = 1 / np.asarray(self.sums.sum(axis=1), dtype=np.float64).reshape(-1, 1)
        self.to_nodes = sp.csr_array((np.ones(count), (node, own)), shape=(self.nodes, count))
        self.to_nodes.sort_indices()

    def means(self, values: NDArray[Any]) -> NDArray[Any]:
        """The mean of each node and its neighbours, a row for each pair of a layer and a node that it joins."""
        kind = values.dtype
        found: NDArray[Any] = self.sums.astype(kind, copy=False) @ values
        found *= self.share.astype(kind)
        return found

    def step(self, state: Tensor, weights: Tensor) -> Tensor:
        heard = self.means(state.numpy())
        heard *= weights.numpy()[self.layer]
        return torch.from_numpy(self.to_nodes.astype(heard.dtype, copy=False) @ heard)

    def spreads(self, values: Floats) -> Floats:
        """Per layer, the sum of the squared deviations of its means from their own mean."""
        means, layers = self.means(values), self.graph.num_layers
        counts = np.maximum(np.bincount(self.layer, minlength=layers), 1)
        total = np.zeros(layers)
        for column in means.T:
            centre = np.bincount(self.layer, column, minlength=layers) / counts
            total += np.bincount(self.layer, (column - centre[self.layer]) ** 2, minlength=layers)
        return total


def _pairs(graph: MultilayerGraph) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """For every edge, and both ways where it has no direction: layer x nodes + node, its neighbour, the weight."""
    rows, others, weights = [], [], []
    for place, layer in enumerate(graph.layers.values()):
        edges = layer.to_edges()
        start, end = edges.source.astype(np.int64), edges.target.astype(np.int64)
        weight = np.ones(edges.num_edges) if edges.weight is None else edges.weight
        ways = [(start, end)] if layer.directed else [(start, end), (end, start)]
        for one, another in ways:
            rows.append(place * graph.num_nodes + one)
            others.append(another)
            weights.append(weight)
    return np.concatenate(rows), np.concatenate(others), np.concatenate(weights)


def has_many_small_layers(graph: MultilayerGraph) -> bool:
    """Whether taking the layers together is the better way: many, all of edges, in one process."""
    layers = graph.layers.values()
    if graph.num_layers < MANY_LAYERS or not world_of(graph).alone:
        return False
    if any(layer.as_groups() is not None for layer in layers):
        return False
    rows = sum(min(2 * layer.num_entries, layer.num_nodes) for layer in layers)
    return rows <= max(MAX_ROWS_PER_NODE * graph.num_nodes, FEW_ROWS)
