"""LINE: neighbours get similar vectors (first order), and so do nodes with the same neighbours (second order)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods.params import PositiveInt

from .base import Embedding, EmbeddingModel, Settings, layer_mean


@dataclass(kw_only=True, eq=False, repr=False)
class LINE(EmbeddingModel):
    """Node classifier on LINE embeddings, one per layer, averaged over the layers.

    Half of the columns come from first-order proximity, half from second-order; each half of a node's vector is scaled
    to length 1, as the authors' programs do before they join them. Edges are drawn in proportion to their weight, on a
    membership layer through its groups. Cost: samples * (negative + 1) * dim multiplications per layer, about half a
    second per million samples, whatever the number of edges.

    Parameters
    ----------
    dim : int, default=100
        Columns of the embedding, an even number; the GrAMME paper has 100.
    samples : int or None, default=None
        Edges drawn per layer and order. None: 500 per node that has neighbours in the layer. It matters: with too few
        the vectors stay where they started, with too many they know each edge by heart and lose the larger structure.
    negative : int, default=5
        Noise nodes per edge.
    C, standardise, cache, random_state
        As for :class:`~gramme.methods.embedding.base.EmbeddingModel`.

    Attributes
    ----------
    classes_, probabilities_, transduction_
        As for every :class:`~gramme.methods.NodeClassifier`.
    embedding_ : array of float32, shape (nodes, dim)
        The mean over the layers where a node has neighbours; zero where it has none at all.
    settings_ : dict

    References
    ----------
    J. Tang, M. Qu, M. Wang, M. Zhang, J. Yan, Q. Mei, "LINE: Large-scale Information Network Embedding", WWW 2015.
    """

    dim: PositiveInt = 100
    samples: PositiveInt | None = None
    negative: PositiveInt = 5

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        super()._check_parameters(graph)
        if self.dim % 2:
            raise DataError(f"dim must be even, half for each order, not {self.dim!r}")

    def _candidates(self) -> list[Settings]:
        num_samples = None if self.samples is None else int(self.samples)
        settings_found = {"embedding": "LINE", "dim": int(self.dim), "samples": num_samples}
        return [settings_found | {"negative": int(self.negative)}]

    def _embed(self, graph: MultilayerGraph, settings: Settings, seed: int) -> Embedding:
        from gramme.ops.kernels import (
            edge_vectors,  # numba takes a while to import
            walk_graph,
        )

        layer_vectors = []
        for layer_number, layer in enumerate(graph.layers.values()):
            layer_edges = walk_graph([layer])
            num_linked = int((layer_edges.mass > 0).sum())
            order_vectors = [
                edge_vectors(
                    layer_edges,
                    order=order,
                    dim=settings["dim"] // 2,
                    samples=settings["samples"] or 500 * num_linked,
                    negative=settings["negative"],
                    seed=seed + layer_number,
                )
                for order in (1, 2)
            ]
            layer_vectors.append(np.concatenate([_unit_rows(half) for half in order_vectors], axis=1))
        return layer_mean(layer_vectors)


def _unit_rows(vectors: Embedding) -> Embedding:
    row_lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit_vectors: Embedding = (vectors / np.where(row_lengths > 0, row_lengths, 1)).astype(np.float32)
    return unit_vectors
