"""PMNE: three ways to embed many layers with node2vec: merge the networks, join the results, or hop between layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from gramme.graph import MultilayerGraph
from gramme.methods.params import Number, PositiveFloat, PositiveInt

from .base import Embedding, Settings
from .deepwalk import WalkModel, trained, walk_vectors


@dataclass(kw_only=True, eq=False, repr=False)
class PMNENetwork(WalkModel):
    """PMNE by network aggregation (``pmne-n``): node2vec on all layers merged into one network.

    An edge of the merged network weighs as much as it does in all layers together; nothing is materialised. Settings
    are those of the authors' program: 10 walks of 80 nodes per node. It weighs a step back, and one further away, half
    as much as one to a common neighbour, which is p = q = 2 in node2vec's terms. Cost: as
    :class:`~gramme.methods.DeepWalk` on a single layer, in proportion to walks_per_node * walk_length * window.

    Parameters
    ----------
    p, q : float, default=2.0
        Return and in-out parameter of node2vec.
    dim, window, walks_per_node, walk_length, epochs, negative
        As for :class:`~gramme.methods.DeepWalk`.
    C, standardise, cache, random_state
        As for :class:`~gramme.methods.embedding.base.EmbeddingModel`.

    Attributes
    ----------
    classes_, probabilities_, transduction_
        As for every :class:`~gramme.methods.NodeClassifier`.
    embedding_ : array of float32, shape (nodes, dim)
        Zero for a node without neighbours.
    settings_ : dict

    References
    ----------
    W. Liu, P.-Y. Chen, S. Yeung, T. Suzumura, L. Chen, "Principled Multilayer Network Embedding", ICDM Workshops 2017.
    """

    p: PositiveFloat = 2.0
    q: PositiveFloat = 2.0
    dim: PositiveInt = 100
    walks_per_node: PositiveInt = 10
    walk_length: PositiveInt = 80

    _kind = "walks on all layers merged"

    def _candidates(self) -> list[Settings]:
        return [self._walk_settings(self._kind, self.p, self.q)]

    def _embed(self, graph: MultilayerGraph, settings: Settings, seed: int) -> Embedding:
        from gramme.ops.kernels import Walks  # numba takes a while to import

        layers = list(graph.layers.values())
        walk_settings = {name: settings[name] for name in ("p", "q", "hop") if name in settings}
        return trained(Walks.of(layers, length=settings["walk_length"], seed=seed, **walk_settings), settings, seed)


class PMNEResults(PMNENetwork):
    """PMNE by results aggregation (``pmne-r``), the variant the GrAMME paper reports: node2vec per layer, side by side.

    ``embedding_`` has layers * dim columns, zero in the columns of layers where a node has no neighbours. Cost: as
    :class:`~gramme.methods.DeepWalk`, in proportion to walks_per_node * walk_length * window per node and layer.
    Parameters and reference: see :class:`PMNENetwork`.
    """

    _kind = "walks per layer, side by side"

    def _embed(self, graph: MultilayerGraph, settings: Settings, seed: int) -> Embedding:
        return np.concatenate(walk_vectors(graph, settings, seed), axis=1)


@dataclass(kw_only=True, eq=False, repr=False)
class PMNECoanalysis(PMNENetwork):
    """PMNE by layer co-analysis (``pmne-c``): walks that hop between the layers, one vector per node.

    Before each step the walk changes, with probability ``hop``, to another layer where its node has neighbours, each as
    likely. The first step in a new layer is in proportion to weight, since where the walk came from says nothing there.
    Cost: as :class:`PMNENetwork`.

    Parameters
    ----------
    hop : float, default=0.5
        Probability to change the layer before a step (r in the PMNE paper; 0.5 in the authors' program).
    p, q, dim, window, walks_per_node, walk_length, epochs, negative, C, standardise, cache, random_state
        See :class:`PMNENetwork`, also for attributes and reference.
    """

    hop: Annotated[float, Number(0, float(np.nextafter(1, 2)))] = 0.5

    _kind = "walks that hop between layers"

    def _candidates(self) -> list[Settings]:
        return [one | {"hop": float(self.hop)} for one in super()._candidates()]
