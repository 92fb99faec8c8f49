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
        base_settings: Settings = {"embedding": "MNE", "weight": float(self.weight)}
        return [base_settings | {name: int(getattr(self, name)) for name in _WHOLE_NUMBERS}]

    def _embed(self, graph: MultilayerGraph, settings: Settings, seed: int) -> Embedding:
        from gramme.ops.kernels import Walks, train_common, train_layer

        num_nodes, common_dim, layer_dim = graph.num_nodes, settings["common_dim"], settings["layer_dim"]
        layers = list(graph.layers.values())
        random = np.random.default_rng(seed)
        common_vectors = _small(random, num_nodes, common_dim)
        context_vectors = np.zeros((num_nodes, common_dim), np.float32)
        training_settings = {name: settings[name] for name in ("window", "negative")}
        num_rounds, walk_length = settings["walks_per_node"], settings["walk_length"]
        walks, lengths = _walks(Walks.of(layers, length=walk_length, seed=seed), num_rounds)
        epochs = settings["common_epochs"]
        train_common(walks, lengths, common_vectors, context_vectors, epochs=epochs, seed=seed, **training_settings)
        layer_vectors = []
        for layer_number, layer in enumerate(layers):
            walks, lengths = _walks(Walks.of([layer], length=walk_length, seed=seed + layer_number), num_rounds)
            added_vectors = np.zeros((num_nodes, layer_dim), np.float32)
            layer_matrix = _small(random, layer_dim, common_dim)
            layer_context = context_vectors.copy()
            trained_arrays = (common_vectors, added_vectors, layer_matrix, layer_context)
            epochs = settings["layer_epochs"]
            train_layer(walks, lengths, *trained_arrays, epochs=epochs, seed=seed + layer_number, **training_settings)
            has_company = np.zeros(num_nodes, dtype=bool)
            shared_walks = walks[lengths > 1]
            has_company[shared_walks[shared_walks >= 0]] = True
            node_vectors = common_vectors + np.float32(settings["weight"]) * (added_vectors @ layer_matrix)
            layer_vectors.append(np.where(has_company[:, None], node_vectors, np.float32(0)))
        return layer_mean(layer_vectors)


def _small(random: np.random.Generator, rows: int, columns: int) -> NDArray[np.float32]:
    centred_numbers = random.random((rows, columns), dtype=np.float32) - np.float32(0.5)
    small_numbers: NDArray[np.float32] = centred_numbers / np.float32(columns)
    return small_numbers


def _walks(walks: Walks, rounds: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """All walks of some rounds."""
    walk_passes = [walks.one_pass(number) for number in range(rounds)]
    return np.concatenate([one for one, _ in walk_passes]), np.concatenate([two for _, two in walk_passes])
