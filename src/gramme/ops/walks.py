"""Random walks over layers, compiled: within a layer, on all layers merged, or hopping between layers.

Each walk has a stream of random numbers of its own, so that a pass gives the same walks in any order, thread or
process. Walks on a membership layer go through its groups. Time: a constant per step (times the logarithm of the degree
for second-order walks); memory: linear in edges and memberships, plus one pass of walks at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramme.graph import Layer
from gramme.ops.compiled import ZERO, compiled
from gramme.ops.counter_random import below, derived_seed, start, uniform
from gramme.ops.steps import first_step, second_step
from gramme.ops.walk_graph import WalkGraph, walk_graph

Nodes = NDArray[np.int32]

NOWHERE: Any = np.int64(-1)
"""Where a walk comes from that has just begun."""


@dataclass(frozen=True)
class Walks:
    """Walks from many nodes, made one pass (a walk from every start) at a time.

    Attributes
    ----------
    graph : WalkGraph
    num_nodes : int
    starts : array of int64
        The nodes walks start from, those that some layer holds.
    length : int
        Nodes of a walk; fewer where it comes to a node without a way out.
    p, q : float
        Return and in-out parameter of node2vec; 1 and 1 walk in proportion to the weights.
    hop : float or None
        Probability to change the layer before a step, where ``graph`` has a row per layer and node.
    seed : uint64
    """

    graph: WalkGraph
    num_nodes: int
    starts: NDArray[np.int64]
    length: int
    p: float
    q: float
    hop: float | None
    seed: np.uint64

    @classmethod
    def of(
        cls,
        layers: Sequence[Layer],
        *,
        length: int,
        p: float = 1.0,
        q: float = 1.0,
        hop: float | None = None,
        seed: int = 0,
    ) -> Walks:
        """Walks on layers: on one, on several as one merged network, or, with ``hop``, changing between them."""
        graph = walk_graph(layers, merged=hop is None)
        present = np.any([layer.present for layer in layers], axis=0)
        starts = np.flatnonzero(present)
        return cls(graph, layers[0].num_nodes, starts, length, p, q, hop, derived_seed(seed))

    def one_pass(self, number: int) -> tuple[Nodes, Nodes]:
        """A walk from every start, in an order of the pass's own.

        Returns
        -------
        walks : array of int32, shape (starts, length)
            Beyond a walk's end: -1.
        lengths : array of int32, shape (starts,)
        """
        order = np.random.default_rng([int(self.seed), number]).permutation(self.starts)
        walks = np.full((order.size, self.length), -1, dtype=np.int32)
        lengths = np.ones(order.size, dtype=np.int32)
        p, q = float(self.p), float(self.q)  # whole numbers would be compiled for once more
        if self.hop is None:
            _walk(self.graph, order, number, p, q, self.seed, walks, lengths)
        else:
            rows = (p, q, float(self.hop))
            _hopping_walk(
                self.graph, self.num_nodes, order, number, *rows, self.seed, walks, lengths
            )
        return walks, lengths


@compiled
def _walk(
    graph: WalkGraph,
    starts: NDArray[np.int64],
    number: int,
    p: float,
    q: float,
    seed: np.uint64,
    walks: Nodes,
    lengths: Nodes,
) -> None:
    stream = np.zeros(1, np.uint64)
    plain = p == 1.0 and q == 1.0
    for k in range(starts.size):
        start(stream, seed, number, starts[k])
        node, came_from = starts[k], NOWHERE
        walks[k, 0] = node
        for place in range(1, walks.shape[1]):
            if plain or came_from < 0:
                following = first_step(graph, node, node, stream)
            else:
                following = second_step(graph, ZERO, node, came_from, p, q, stream)
            if following < 0:
                break
            came_from, node = node, following
            walks[k, place] = node
            lengths[k] = place + 1


@compiled
def _other_layer(
    graph: WalkGraph, num_nodes: int, node: int, layer: int, stream: NDArray[np.uint64]
) -> int:
    """One of the other layers where the node has neighbours, each as likely; the same layer where there is none."""
    layers = (graph.indptr.size - 1) // num_nodes
    found = ZERO
    for other in range(layers):
        row = other * num_nodes + node
        if other != layer and graph.indptr[row] < graph.indptr[row + 1]:
            found += 1
    if found == 0:
        return layer
    chosen = below(stream, found)
    for other in range(layers):
        row = other * num_nodes + node
        if other != layer and graph.indptr[row] < graph.indptr[row + 1]:
            if chosen == 0:
                return other
            chosen -= 1
    return layer


@compiled
def _hopping_walk(
    graph: WalkGraph,
    num_nodes: int,
    starts: NDArray[np.int64],
    number: int,
    p: float,
    q: float,
    hop: float,
    seed: np.uint64,
    walks: Nodes,
    lengths: Nodes,
) -> None:
    stream = np.zeros(1, np.uint64)
    plain = p == 1.0 and q == 1.0
    for k in range(starts.size):
        start(stream, seed, number, starts[k])
        node, came_from = starts[k], NOWHERE
        layer = _other_layer(graph, num_nodes, node, NOWHERE, stream)
        if layer < 0:
            layer = ZERO
        walks[k, 0] = node
        for place in range(1, walks.shape[1]):
            row = layer * num_nodes + node
            stuck = graph.indptr[row] == graph.indptr[row + 1]
            if stuck or uniform(stream) < hop:
                other = _other_layer(graph, num_nodes, node, layer, stream)
                if other != layer:
                    # Where the walk came from says nothing about the new layer
                    layer, came_from = other, NOWHERE
            if plain or came_from < 0:
                following = first_step(graph, layer * num_nodes + node, node, stream)
            else:
                following = second_step(graph, layer * num_nodes, node, came_from, p, q, stream)
            if following < 0:
                break
            came_from, node = node, following
            walks[k, place] = node
            lengths[k] = place + 1
