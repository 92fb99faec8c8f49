"""DeepWalk: nodes that are close on random walks get similar vectors, in each layer by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gramme.errors import DataError, import_extra
from gramme.graph import MultilayerGraph
from gramme.methods.params import PositiveFloat, PositiveInt

from .base import Embedding, EmbeddingModel, Settings, layer_mean

if TYPE_CHECKING:
    from gramme.ops.kernels import Walks


# Skip-gram with negative sampling on random walks, by gensim: nodes that walk together get
# similar vectors.


EXTRA = "walks"
_CHUNK = 4096  # walks that are sentences of text at the same time
_KEPT = 1 << 24  # nodes of walks that are kept in memory, 4 bytes each

Pass = tuple[NDArray[np.int32], NDArray[np.int32]]


def skip_gram(
    walks: Walks, *, dim: int, window: int, walks_per_node: int, epochs: int = 1, negative: int = 5, seed: int = 0
) -> NDArray[np.float32]:
    """A vector per node, shape (nodes, dim); zero for nodes that walk with nobody.

    ``dim``, ``window``, ``epochs`` and ``negative`` are those of word2vec: columns, most steps between a node and its
    context, rounds over the walks, noise nodes per pair. ``seed`` is for the starting vectors and the noise; the walks
    have one of their own. Cost: about a microsecond per context pair, far more than the walks.
    """
    word2vec = import_extra("gensim.models.word2vec", EXTRA, "learning from random walks")
    corpus = _Corpus(walks, walks_per_node)
    node_counts, has_company = corpus.counts()
    embedding = np.zeros((walks.num_nodes, dim), dtype=np.float32)
    if not has_company.any():
        return embedding
    model: Any = word2vec.Word2Vec(
        vector_size=dim,
        window=window,
        sg=1,
        hs=0,
        negative=negative,
        sample=0,
        min_count=0,
        workers=1,
        seed=int(np.random.SeedSequence(seed).generate_state(1)[0]),
    )
    occurring_nodes = np.flatnonzero(node_counts)
    model.build_vocab_from_freq({str(node): int(node_counts[node]) for node in occurring_nodes})
    model.train(corpus, total_examples=walks.starts.size * walks_per_node, epochs=epochs)
    word_nodes = np.array([int(word) for word in model.wv.index_to_key], dtype=np.int64)
    embedding[word_nodes] = model.wv.vectors
    embedding[~has_company] = 0
    return embedding


class _Corpus:
    """The walks as sentences; where there are many, they are made again at every round, a pass at a time."""

    def __init__(self, walks: Walks, walks_per_node: int) -> None:
        self.walks = walks
        self.passes = walks_per_node
        node_names = np.empty(walks.num_nodes, dtype=object)
        node_names[:] = [str(node) for node in range(walks.num_nodes)]
        self.names = node_names
        fits_memory = walks.starts.size * walks.length * walks_per_node <= _KEPT
        self.kept: dict[int, Pass] | None = {} if fits_memory else None

    def one_pass(self, number: int) -> Pass:
        if self.kept is None:
            return self.walks.one_pass(number)
        if number not in self.kept:
            self.kept[number] = self.walks.one_pass(number)
        return self.kept[number]

    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """How often each node occurs, and whether ever in a walk with others."""
        node_counts = np.zeros(self.walks.num_nodes, dtype=np.int64)
        lonely_counts = np.zeros(self.walks.num_nodes, dtype=np.int64)
        for pass_number in range(self.passes):
            walks, lengths = self.one_pass(pass_number)
            node_counts += np.bincount(walks[walks >= 0], minlength=node_counts.size)
            lonely_counts += np.bincount(walks[lengths == 1, 0], minlength=node_counts.size)
        return node_counts, node_counts > lonely_counts

    def __iter__(self) -> Iterator[list[str]]:
        for pass_number in range(self.passes):
            walks, lengths = self.one_pass(pass_number)
            for first_walk in range(0, len(walks), _CHUNK):
                sentences = self.names[walks[first_walk : first_walk + _CHUNK]].tolist()
                chunk_lengths = lengths[first_walk : first_walk + _CHUNK]
                if int(chunk_lengths.min(initial=self.walks.length)) == self.walks.length:
                    yield from sentences
                else:
                    for sentence, length in zip(sentences, chunk_lengths.tolist(), strict=True):
                        yield sentence[:length]


@dataclass(kw_only=True, eq=False, repr=False)
class WalkModel(EmbeddingModel):
    """Base of the methods that learn from walks with skip-gram; see :class:`DeepWalk` for the parameters."""

    dim: PositiveInt = 128
    window: PositiveInt = 10
    walks_per_node: PositiveInt = 80
    walk_length: PositiveInt = 40
    epochs: PositiveInt = 1
    negative: PositiveInt = 5

    def _walk_settings(self, kind: str, p: float, q: float) -> Settings:
        """The settings of walks, first-order ones where p = q = 1, and of the skip-gram on them."""
        setting_names = ("dim", "window", "walks_per_node", "walk_length", "epochs", "negative")
        whole_numbers = {name: int(getattr(self, name)) for name in setting_names}
        gensim = import_extra("gensim", EXTRA, "learning from random walks")  # other versions may give other bits
        return {"embedding": kind, **whole_numbers, "p": float(p), "q": float(q), "gensim": str(gensim.__version__)}


def walk_vectors(graph: MultilayerGraph, settings: Settings, seed: int) -> list[Embedding]:
    """The vectors of every layer by itself, by walks with the p and q of the settings."""
    from gramme.ops.kernels import Walks  # numba takes a while to import

    layer_vectors = []
    for layer_number, layer in enumerate(graph.layers.values()):
        p, q = settings["p"], settings["q"]
        walks = Walks.of([layer], length=settings["walk_length"], p=p, q=q, seed=seed + layer_number)
        layer_vectors.append(trained(walks, settings, seed + layer_number))
    return layer_vectors


def trained(walks: Any, settings: Settings, seed: int) -> Embedding:
    """The skip-gram's vectors for some walks."""
    setting_names = ("dim", "window", "walks_per_node", "epochs", "negative")
    return skip_gram(walks, seed=seed, **{name: settings[name] for name in setting_names})


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
    B. Perozzi, R. Al-Rfou, S. Skiena, "DeepWalk: Online Learning of Social Representations", KDD 2014.
    """

    def _candidates(self) -> list[Settings]:
        return [self._walk_settings("walks per layer, mean", 1.0, 1.0)]

    def _embed(self, graph: MultilayerGraph, settings: Settings, seed: int) -> Embedding:
        return layer_mean(walk_vectors(graph, settings, seed))


# Node2Vec: DeepWalk with walks that can be led to stay near or to go far, chosen on the training
# labels.


#: Pairs (p, q) to choose from, the unbiased walk first: it wins where all do the same.
GRID = ((1.0, 1.0), (0.25, 1.0), (4.0, 1.0), (1.0, 0.25), (1.0, 4.0))


@dataclass(kw_only=True, eq=False, repr=False)
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
        As for :class:`~gramme.methods.embedding.base.EmbeddingModel`.

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

    p: PositiveFloat | None = None
    q: PositiveFloat | None = None

    def _check_parameters(self, graph: MultilayerGraph) -> None:
        super()._check_parameters(graph)
        if (self.p is None) != (self.q is None):
            raise DataError("give both p and q, or neither to have them chosen on the training labels")

    def _candidates(self) -> list[Settings]:
        candidate_pairs = GRID if self.p is None or self.q is None else ((self.p, self.q),)
        return [self._walk_settings("walks per layer, mean", p, q) for p, q in candidate_pairs]

    def _embed(self, graph: MultilayerGraph, settings: Settings, seed: int) -> Embedding:
        return layer_mean(walk_vectors(graph, settings, seed))
