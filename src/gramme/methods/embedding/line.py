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
        samples = None if self.samples is None else int(self.samples)
        found = {"embedding": "LINE", "dim": int(self.dim), "samples": samples}
        return [found | {"negative": int(self.negative)}]

    def _embed(self, graph: MultilayerGraph, settings: Settings, seed: int) -> Embedding:
        from gramme.ops.kernels import (
            edge_vectors,  # numba takes a while to import
            walk_graph,
        )

        found = []
        for place, layer in enumerate(graph.layers.values()):
            edges = walk_graph([layer])
            linked = int((edges.mass > 0).sum())
            halves = [
                edge_vectors(
                    edges,
                    order=order,
                    dim=settings["dim"] // 2,
                    samples=settings["samples"] or 500 * linked,
                    negative=settings["negative"],
                    seed=seed + place,
                )
                for order in (1, 2)
            ]
            found.append(np.concatenate([_unit_rows(half) for half in halves], axis=1))
        return layer_mean(found)


def _unit_rows(vectors: Embedding) -> Embedding:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Embedding = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return scaled
