"""Node2Vec: DeepWalk with walks that can be led to stay near or to go far, chosen on the training labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from gramme.errors import DataError
from gramme.graph import MultilayerGraph
from gramme.methods.embedding.cache import Embedding
from gramme.methods.embedding.deepwalk import WalkModel, walk_vectors
from gramme.methods.embedding.estimator import Settings, layer_mean
from gramme.methods.parameters import POSITIVE, Optional, Rule

#: Pairs (p, q) to choose from, the unbiased walk first: it wins where all do the same.
GRID = ((1.0, 1.0), (0.25, 1.0), (4.0, 1.0), (1.0, 0.25), (1.0, 4.0))


class Node2Vec(WalkModel):
    """Node classifier on node2vec embeddings, one per layer, averaged over the layers.

    As :class:`~gramme.methods.DeepWalk`, but a step depends on where the walk came from: going back is 1/p as likely as
    going to a common neighbour, going further away 1/q. Second-order steps are drawn by rejection, so that memory stays
    linear in the edges. Cost: that of DeepWalk, times the pairs (p, q) tried; embeddings see no labels, so the cache
    keeps them for all splits.

    Parameters
    ----------
    p, q : float or None, default=None
        Return and in-out parameter. With None for both, one of five pairs is chosen by cross-validation on the training
        labels: (1, 1), (0.25, 1), (4, 1), (1, 0.25), (1, 4), a part of the grid of node2vec's paper.
    dim, window, walks_per_node, walk_length, epochs, negative
        As for :class:`~gramme.methods.DeepWalk`.
    C, standardise, cache, random_state
        As for :class:`~gramme.methods.embedding.estimator.EmbeddingModel`.

    Attributes
    ----------
    classes_, probabilities_, transduction_
        As for every :class:`~gramme.methods.NodeClassifier`.
    embedding_ : array of float32, shape (nodes, dim)
        The mean over the layers where a node has neighbours; zero where it has none at all.
    settings_ : dict
        With the p and q that were chosen.

    References
    ----------
    A. Grover, J. Leskovec, "node2vec: Scalable Feature Learning for Networks", KDD 2016.
    """

    parameter_rules: ClassVar[Mapping[str, Rule]] = {
        "p": Optional(POSITIVE),
        "q": Optional(POSITIVE),
    }

    def __init__(
        self,
        *,
        p: float | None = None,
        q: float | None = None,
        dim: int = 128,
        window: int = 10,
        walks_per_node: int = 80,
        walk_length: int = 40,
        epochs: int = 1,
        negative: int = 5,
        C: float = 1.0,
        standardise: bool = True,
        cache: bool = True,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            dim=dim,
            window=window,
            walks_per_node=walks_per_node,
            walk_length=walk_length,
            epochs=epochs,
            negative=negative,
            C=C,
            standardise=standardise,
            cache=cache,
            random_state=random_state,
        )
        self.p = p
        self.q = q

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        super()._check_parameters(graph)
        if (self.p is None) != (self.q is None):
            raise DataError(
                "give both p and q, or neither to have them chosen on the training labels"
            )

    def _candidates(self) -> list[Settings]:
        pairs = GRID if self.p is None or self.q is None else ((self.p, self.q),)
        return [self._walk_settings("walks per layer, mean", p, q) for p, q in pairs]

    def _embed(self, graph: MultilayerGraph, settings: Settings, seed: int) -> Embedding:
        return layer_mean(walk_vectors(graph, settings, seed))
