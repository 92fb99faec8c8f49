"""Skip-gram with negative sampling on random walks, by gensim: nodes that walk together get similar vectors.

gensim wants sentences of text. Walks come as arrays of numbers, one pass at a time, and become sentences by one look-up
of the names; the vocabulary is counted from the arrays. One worker, so that the same seed gives the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gramme.errors import import_extra

if TYPE_CHECKING:
    from gramme.ops.walks import Walks

EXTRA = "walks"
_CHUNK = 4096  # walks that are sentences of text at the same time
_KEPT = 1 << 24  # nodes of walks that are kept in memory, 4 bytes each

Pass = tuple[NDArray[np.int32], NDArray[np.int32]]


def gensim_version() -> str:
    """The version of gensim, which other bits may depend on; an error if it is not installed."""
    return str(import_extra("gensim", EXTRA, "learning from random walks").__version__)


def skip_gram(
    walks: Walks,
    *,
    dim: int,
    window: int,
    walks_per_node: int,
    epochs: int = 1,
    negative: int = 5,
    seed: int = 0,
) -> NDArray[np.float32]:
    """A vector per node, shape (nodes, dim); zero for nodes that walk with nobody.

    Cost: about a microsecond per context pair, far more than the walks.

    Parameters
    ----------
    walks : Walks
    dim, window, epochs, negative : int
        Of word2vec: columns, most steps between a node and its context, rounds over the walks, noise nodes per pair.
    walks_per_node : int
    seed : int, default=0
        Of the starting vectors and the noise; the walks have a seed of their own.
    """
    word2vec = import_extra("gensim.models.word2vec", EXTRA, "learning from random walks")
    corpus = _Corpus(walks, walks_per_node)
    counts, company = corpus.counts()
    embedding = np.zeros((walks.num_nodes, dim), dtype=np.float32)
    if not company.any():
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
    occurring = np.flatnonzero(counts)
    model.build_vocab_from_freq({str(node): int(counts[node]) for node in occurring})
    model.train(corpus, total_examples=walks.starts.size * walks_per_node, epochs=epochs)
    places = np.array([int(word) for word in model.wv.index_to_key], dtype=np.int64)
    embedding[places] = model.wv.vectors
    embedding[~company] = 0
    return embedding


class _Corpus:
    """The walks as sentences; where there are many, they are made again at every round, a pass at a time."""

    def __init__(self, walks: Walks, walks_per_node: int) -> None:
        self.walks = walks
        self.passes = walks_per_node
        names = np.empty(walks.num_nodes, dtype=object)
        names[:] = [str(node) for node in range(walks.num_nodes)]
        self.names = names
        few = walks.starts.size * walks.length * walks_per_node <= _KEPT
        self.kept: dict[int, Pass] | None = {} if few else None

    def one_pass(self, number: int) -> Pass:
        if self.kept is None:
            return self.walks.one_pass(number)
        if number not in self.kept:
            self.kept[number] = self.walks.one_pass(number)
        return self.kept[number]

    def counts(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """How often each node occurs, and whether ever in a walk with others."""
        counts = np.zeros(self.walks.num_nodes, dtype=np.int64)
        alone = np.zeros(self.walks.num_nodes, dtype=np.int64)
        for number in range(self.passes):
            walks, lengths = self.one_pass(number)
            counts += np.bincount(walks[walks >= 0], minlength=counts.size)
            alone += np.bincount(walks[lengths == 1, 0], minlength=counts.size)
        return counts, counts > alone

    def __iter__(self) -> Iterator[list[str]]:
        for number in range(self.passes):
            walks, lengths = self.one_pass(number)
            for begin in range(0, len(walks), _CHUNK):
                sentences = self.names[walks[begin : begin + _CHUNK]].tolist()
                part = lengths[begin : begin + _CHUNK]
                if int(part.min(initial=self.walks.length)) == self.walks.length:
                    yield from sentences
                else:
                    for sentence, length in zip(sentences, part.tolist(), strict=True):
                        yield sentence[:length]
