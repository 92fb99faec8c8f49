"""MNE's training, compiled: skip-gram where a node's vector is b + u X, common part plus what a layer adds.

b has many columns and is shared by all layers; u has few and belongs to one layer, whose matrix X brings it to the size
of b. Vectors predict the other nodes of a walk within a window against noise nodes.

References
----------
H. Zhang, L. Qiu, L. Yi, Y. Song, "Scalable Multiplex Network Embedding", IJCAI 2018.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gramme.ops.alias import Floats, Ints, alias_tables
from gramme.ops.alias import drawn
from gramme.ops.compiled import compiled_sums, logistic
from gramme.ops.counter_random import below, derived_seed, start

Vectors = NDArray[np.float32]
Nodes = NDArray[np.int32]
_RATE, _LEAST_RATE = 0.025, 0.0001
_LARGEST = 1000.0  # of the norm of X


def train_common(
    walks: Nodes,
    lengths: Nodes,
    common: Vectors,
    context: Vectors,
    *,
    window: int,
    epochs: int,
    negative: int,
    seed: int,
) -> None:
    """Train the common vectors (nodes, columns) and the context vectors in place; a plain skip-gram."""
    none = np.zeros((0, 0), np.float32)
    settings = {"window": window, "epochs": epochs, "negative": negative, "seed": seed}
    train_layer(walks, lengths, common, none, none, context, **settings)


def train_layer(
    walks: Nodes,
    lengths: Nodes,
    common: Vectors,
    added: Vectors,
    matrix: Vectors,
    context: Vectors,
    *,
    window: int,
    epochs: int,
    negative: int,
    seed: int,
) -> None:
    """Train what a layer adds, u (nodes, few) and X (few, columns), and the context in place; b stays."""
    parts = (common, added, matrix, context)
    _train(
        walks,
        lengths,
        *_noise(walks, len(common)),
        window,
        epochs,
        negative,
        derived_seed(seed),
        *parts,
    )


def _noise(walks: Nodes, nodes: int) -> tuple[Floats, Ints]:
    counts = np.bincount(walks[walks >= 0], minlength=nodes).astype(np.float64)
    return alias_tables(np.array([0, nodes], dtype=np.int64), counts**0.75)


@compiled_sums
def _train(
    walks: Nodes,
    lengths: Nodes,
    accept: Floats,
    alias: Ints,
    window: int,
    epochs: int,
    negative: int,
    seed: np.uint64,
    common: Vectors,
    added: Vectors,
    matrix: Vectors,
    context: Vectors,
) -> None:
    nodes, dim = common.shape
    few = matrix.shape[0]
    stream = np.zeros(1, np.uint64)
    vector = np.zeros(dim, np.float32)
    change = np.zeros(dim, np.float32)
    before = np.zeros(few, np.float32)
    total = epochs * walks.shape[0]
    for epoch in range(epochs):
        for walk in range(walks.shape[0]):
            start(stream, seed, epoch, walk)
            progress = (epoch * walks.shape[0] + walk) / total
            rate = np.float32(max(_LEAST_RATE, _RATE - (_RATE - _LEAST_RATE) * progress))
            for place in range(lengths[walk]):
                reach = window - below(stream, window)
                node = walks[walk, place]
                for near in range(max(0, place - reach), min(lengths[walk], place + reach + 1)):
                    if near == place:
                        continue
                    target = walks[walk, near]
                    for k in range(dim):
                        vector[k] = common[node, k]
                        change[k] = 0
                    for i in range(few):
                        for k in range(dim):
                            vector[k] += added[node, i] * matrix[i, k]
                    for turn in range(negative + 1):
                        other = target
                        if turn > 0:
                            other = drawn(accept, alias, 0, nodes, stream)
                            if other == target:
                                continue
                        score = np.float32(0)
                        for k in range(dim):
                            score += vector[k] * context[other, k]
                        wanted = 1.0 if turn == 0 else 0.0
                        step = np.float32(rate * (wanted - logistic(float(score))))
                        for k in range(dim):
                            change[k] += step * context[other, k]
                            context[other, k] += step * vector[k]
                    if few == 0:
                        for k in range(dim):
                            common[node, k] += change[k]
                        continue
                    for i in range(few):
                        before[i] = added[node, i]
                        rise = np.float32(0)
                        for k in range(dim):
                            rise += change[k] * matrix[i, k]
                        added[node, i] += rise
                    for i in range(few):
                        for k in range(dim):
                            matrix[i, k] += before[i] * change[k]
            if few:
                norm = np.sqrt(np.sum(matrix * matrix))
                if norm > _LARGEST:
                    shrink = np.float32(_LARGEST / norm)
                    for i in range(few):
                        for k in range(dim):
                            matrix[i, k] *= shrink
