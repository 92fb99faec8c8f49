"""MNE: a large common vector per node, and a small one per layer that a matrix of the layer brings to the same size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gramme.graph import MultilayerGraph
from gramme.methods.params import NonNegativeFloat, PositiveInt

from .base import Embedding, EmbeddingModel, Settings, layer_mean

if TYPE_CHECKING:
    from gramme.ops.kernels import Walks

_WHOLE_NUMBERS = (
    "common_dim",
    "layer_dim",
    "window",
    "walks_per_node",
    "walk_length",
    "common_epochs",
    "layer_epochs",
    "negative",
)


@dataclass(kw_only=True, eq=False, repr=False)
class MNE(EmbeddingModel):
    """Node classifier on MNE embeddings: the mean over the layers of the common vector plus what a layer adds.

    As in the authors' program, the common vectors b are trained first, on walks over all layers merged; then, layer by
    layer with b fixed, the layer's small vectors u and its matrix X, on walks in that layer, starting from the first
    stage's context vectors. A node's vector in a layer is b + weight * u X; the classifier sees its mean over the
    layers where the node has neighbours. Compiled, no extra needed.

    Cost: walks_per_node * walk_length * window * epochs context pairs per node and stage, each (negative + 1) *
    common_dim multiplications, twice that in the stages of the layers: about 3 microseconds per node of a walk and
    epoch.

    Parameters
    ----------
    common_dim, layer_dim : int, default=200 and 10
        Columns of the common vectors and of the layers' own.
    weight : float, default=0.5
        How much the layers' part counts in the embedding (w in the paper, 0.5 in the authors' program).
    walks_per_node, walk_length, window : int, default=20, 10 and 5
        Walks from each node, nodes of a walk, and steps between a node and its context, as in the authors' program.
    common_epochs, layer_epochs : int, default=100 and 20
        Rounds over the walks in the first stage and in each layer's, as in the authors' program.
    negative : int, default=5
        Noise nodes per context pair.
    C, standardise, cache, random_state
        As for :class:`~gramme.methods.embedding.base.EmbeddingModel`.

    Attributes
    ----------
    classes_, probabilities_, transduction_
        As for every :class:`~gramme.methods.NodeClassifier`.
    embedding_ : array of float32, shape (nodes, common_dim)
        Zero for a node without neighbours.
    settings_ : dict

    References
    ----------
    H. Zhang, L. Qiu, L. Yi, Y. Song, "Scalable Multiplex Network Embedding", IJCAI 2018.
    """

    common_dim: PositiveInt = 200
    layer_dim: PositiveInt = 10
    weight: NonNegativeFloat = 0.5
    walks_per_node: PositiveInt = 20
    walk_length: PositiveInt = 10
    window: PositiveInt = 5
    common_epochs: PositiveInt = 100
    layer_epochs: PositiveInt = 20
    negative: PositiveInt = 5

    def _candidates(self) -> list[Settings]:
        found: Settings = {"embedding": "MNE", "weight": float(self.weight)}
        return [found | {name: int(getattr(self, name)) for name in _WHOLE_NUMBERS}]

    def _embed(self, graph: MultilayerGraph, settings: Settings, seed: int) -> Embedding:
        from gramme.ops.kernels import Walks, train_common, train_layer

        nodes, dim, few = graph.num_nodes, settings["common_dim"], settings["layer_dim"]
        layers = list(graph.layers.values())
        random = np.random.default_rng(seed)
        common = _small(random, nodes, dim)
        context = np.zeros((nodes, dim), np.float32)
        how = {name: settings[name] for name in ("window", "negative")}
        rounds, length = settings["walks_per_node"], settings["walk_length"]
        walks, lengths = _walks(Walks.of(layers, length=length, seed=seed), rounds)
        epochs = settings["common_epochs"]
        train_common(walks, lengths, common, context, epochs=epochs, seed=seed, **how)
        found = []
        for place, layer in enumerate(layers):
            walks, lengths = _walks(Walks.of([layer], length=length, seed=seed + place), rounds)
            added, matrix = np.zeros((nodes, few), np.float32), _small(random, few, dim)
            here = context.copy()
            parts = (common, added, matrix, here)
            epochs = settings["layer_epochs"]
            train_layer(walks, lengths, *parts, epochs=epochs, seed=seed + place, **how)
            company = np.zeros(nodes, dtype=bool)
            together = walks[lengths > 1]
            company[together[together >= 0]] = True
            vectors = common + np.float32(settings["weight"]) * (added @ matrix)
            found.append(np.where(company[:, None], vectors, np.float32(0)))
        return layer_mean(found)


def _small(random: np.random.Generator, rows: int, columns: int) -> NDArray[np.float32]:
    half = random.random((rows, columns), dtype=np.float32) - np.float32(0.5)
    small: NDArray[np.float32] = half / np.float32(columns)
    return small


def _walks(walks: Walks, rounds: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """All walks of some rounds."""
    passes = [walks.one_pass(number) for number in range(rounds)]
    return np.concatenate([one for one, _ in passes]), np.concatenate([two for _, two in passes])
