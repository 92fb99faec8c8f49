"""DeepWalk: nodes that are close on random walks get similar vectors, in each layer by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from gramme.graph import MultilayerGraph
from gramme.methods.embedding.cache import Embedding
from gramme.methods.embedding.estimator import EmbeddingModel, Settings, layer_mean
from gramme.methods.embedding.skip_gram import gensim_version, skip_gram
from gramme.methods.parameters import Rule, WholeNumber


class WalkModel(EmbeddingModel):
    """Base of the methods that learn from walks with skip-gram; see :class:`DeepWalk` for the parameters."""

    parameter_rules: ClassVar[Mapping[str, Rule]] = dict.fromkeys(
        ("dim", "window", "walks_per_node", "walk_length", "epochs", "negative"), WholeNumber()
    )

    def __init__(
        self,
        *,
        dim: int,
        window: int,
        walks_per_node: int,
        walk_length: int,
        epochs: int,
        negative: int,
        C: float,
        standardise: bool,
        cache: bool,
        random_state: Any,
    ) -> None:
        super().__init__(C=C, standardise=standardise, cache=cache, random_state=random_state)
        self.dim = dim
        self.window = window
        self.walks_per_node = walks_per_node
        self.walk_length = walk_length
        self.epochs = epochs
        self.negative = negative

    def _walk_settings(self, kind: str, p: float, q: float) -> Settings:
        """The settings of walks, first-order ones where p = q = 1, and of the skip-gram on them."""
        return {
            "embedding": kind,
            "dim": int(self.dim),
            "window": int(self.window),
            "walks_per_node": int(self.walks_per_node),
            "walk_length": int(self.walk_length),
            "epochs": int(self.epochs),
            "negative": int(self.negative),
            "p": float(p),
            "q": float(q),
            "gensim": gensim_version(),
        }


def walk_vectors(graph: MultilayerGraph, settings: Settings, seed: int) -> list[Embedding]:
    """The vectors of every layer by itself, by walks with the p and q of the settings."""
    from gramme.ops.walks import Walks  # numba takes a while to import

    found = []
    for place, layer in enumerate(graph.layers.values()):
        p, q = settings["p"], settings["q"]
        walks = Walks.of([layer], length=settings["walk_length"], p=p, q=q, seed=seed + place)
        found.append(trained(walks, settings, seed + place))
    return found


def trained(walks: Any, settings: Settings, seed: int) -> Embedding:
    """The skip-gram's vectors for some walks."""
    return skip_gram(
        walks,
        dim=settings["dim"],
        window=settings["window"],
        walks_per_node=settings["walks_per_node"],
        epochs=settings["epochs"],
        negative=settings["negative"],
        seed=seed,
    )


class DeepWalk(WalkModel):
    """Node classifier on DeepWalk embeddings, one per layer, averaged over the layers.

    Uniform random walks (in proportion to the weights, where there are any) go out from every node; skip-gram makes
    vectors of nodes that occur near each other similar; logistic regression predicts. Walks on a membership layer go
    through its groups, walks on a directed layer follow the edges. Cost: walks_per_node * walk_length * window context
    pairs per node and layer at about a microsecond each; the walks themselves are a small part.

    Parameters
    ----------
    dim : int, default=128
        Columns of the embedding; the GrAMME paper has 128.
    window : int, default=10
        Most steps between a node and its context.
    walks_per_node : int, default=80
        Walks that start at each node.
    walk_length : int, default=40
        Nodes of a walk. The default is that of DeepWalk's paper; the GrAMME paper does not say.
    epochs : int, default=1
        Rounds of the skip-gram over the walks.
    negative : int, default=5
        Noise nodes per context pair. DeepWalk's own program used hierarchical softmax; negative sampling is what
        node2vec and most later uses of DeepWalk train with.
    C, standardise, cache, random_state
        As for :class:`~gramme.methods.embedding.estimator.EmbeddingModel`.

    Attributes
    ----------
    classes_, probabilities_, transduction_
        As for every :class:`~gramme.methods.NodeClassifier`.
    embedding_ : array of float32, shape (nodes, dim)
        The mean over the layers where a node has neighbours; zero where it has none at all.
    settings_ : dict

    References
    ----------
    B. Perozzi, R. Al-Rfou, S. Skiena, "DeepWalk: Online Learning of Social Representations", KDD 2014.
    """

    def __init__(
        self,
        *,
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

    def _candidates(self) -> list[Settings]:
        return [self._walk_settings("walks per layer, mean", 1.0, 1.0)]

    def _embed(self, graph: MultilayerGraph, settings: Settings, seed: int) -> Embedding:
        return layer_mean(walk_vectors(graph, settings, seed))
