"""LINE's training, compiled: edges drawn in proportion to weight, noise in proportion to degree^0.75.

An edge is drawn as a node in proportion to its weighted degree and then a first-order step from it, which is the same
distribution as drawing from the list of edges but needs no list, so that it goes through groups too.

References
----------
J. Tang, M. Qu, M. Wang, M. Zhang, J. Yan, Q. Mei, "LINE: Large-scale Information Network Embedding", WWW 2015.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gramme.ops.alias import Floats, Ints, alias_tables, drawn
from gramme.ops.compiled import ZERO, compiled_sums, logistic
from gramme.ops.counter_random import derived_seed, start
from gramme.ops.steps import first_step
from gramme.ops.walk_graph import WalkGraph

Vectors = NDArray[np.float32]
_RATE = 0.025


def edge_vectors(
    graph: WalkGraph, *, order: int, dim: int, samples: int, negative: int, seed: int
) -> Vectors:
    """Vectors that tell edges from noise, shape (rows, dim); zero for rows without edges.

    Parameters
    ----------
    graph : WalkGraph
        One row per node.
    order : {1, 2}
        1: ends of an edge get similar vectors. 2: each node has a further vector for its part as somebody's
        neighbour, so that nodes with the same neighbours get similar vectors.
    dim, negative : int
    samples : int
        Edges drawn. Cost: about ``samples * (negative + 1) * dim`` multiplications, whatever the number of edges.
    seed : int
    """
    rows = graph.rows
    random = np.random.default_rng(seed)
    vectors = (
        (random.random((rows, dim), dtype=np.float32) - np.float32(0.5)) / np.float32(dim)
    ).astype(np.float32)
    # A node counts as often as edges lead to it; where edges have a direction, that is not its own mass
    arriving = _arrivals(graph)
    linked = (graph.mass > 0) | (arriving > 0)
    vectors[~linked] = 0
    if not linked.any():
        return vectors
    context = vectors if order == 1 else np.zeros_like(vectors)
    whole = np.array([0, rows], dtype=np.int64)
    sources = alias_tables(whole, graph.mass)
    noise = alias_tables(whole, (graph.mass + arriving) ** 0.75)
    _train(graph, *sources, *noise, samples, negative, derived_seed(seed), vectors, context)
    return vectors


def _arrivals(graph: WalkGraph) -> Floats:
    """The weight of the edges that lead to each node; memberships lead both ways and count as mass already."""
    places = np.flatnonzero(graph.slots >= 0)
    weight = graph.weight[places] if graph.weight.size else None
    return np.bincount(graph.slots[places], weights=weight, minlength=graph.rows).astype(np.float64)


@compiled_sums
def _train(
    graph: WalkGraph,
    source_accept: Floats,
    source_alias: Ints,
    noise_accept: Floats,
    noise_alias: Ints,
    samples: int,
    negative: int,
    seed: np.uint64,
    vectors: Vectors,
    context: Vectors,
) -> None:
    rows, dim = vectors.shape
    stream = np.zeros(1, np.uint64)
    start(stream, seed, ZERO, ZERO)
    change = np.zeros(dim, np.float32)
    for sample in range(samples):
        rate = np.float32(_RATE * max(1.0 - sample / samples, 1e-4))
        node = drawn(source_accept, source_alias, ZERO, rows, stream)
        neighbour = first_step(graph, node, node, stream)
        change[:] = 0
        for turn in range(negative + 1):
            other = neighbour
            if turn > 0:
                other = drawn(noise_accept, noise_alias, ZERO, rows, stream)
                if other in (neighbour, node):
                    continue
            score = np.float32(0)
            for k in range(dim):
                score += vectors[node, k] * context[other, k]
            wanted = 1.0 if turn == 0 else 0.0
            step = np.float32(rate * (wanted - logistic(float(score))))
            for k in range(dim):
                change[k] += step * context[other, k]
                context[other, k] += step * vectors[node, k]
        for k in range(dim):
            vectors[node, k] += change[k]
