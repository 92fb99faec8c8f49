import numpy as np
import pytest

from gramme.graph import EdgeLayer, MembershipLayer
from gramme.methods.embedding.deepwalk import _Corpus, skip_gram
from gramme.ops.kernels import Walks

pytest.importorskip("gensim")
HOW = {"dim": 8, "window": 3, "walks_per_node": 20, "epochs": 2}


def test_sentences_are_the_walks():
    layer = EdgeLayer(5, [0, 1, 3], [1, 2, 0], directed=True, nodes=[0, 1, 2, 3])
    walks = Walks.of([layer], length=4)
    corpus = _Corpus(walks, 3)
    sentences = list(corpus)
    assert sentences == list(corpus)  # gensim goes round several times
    found = [
        [str(node) for node in walk[:length]]
        for number in range(3)
        for walk, length in zip(*(array.tolist() for array in walks.one_pass(number)), strict=True)
    ]
    assert sentences == found
    counts, company = corpus.counts()
    words = [int(word) for sentence in sentences for word in sentence]
    assert counts.tolist() == np.bincount(words, minlength=5).tolist()
    assert company.tolist() == [True, True, True, True, False]


def test_those_who_walk_together_are_alike():
    layer = MembershipLayer.from_codes([0] * 8 + [1] * 8 + [-1], range(2), nodes=np.ones(17, bool))
    vectors = skip_gram(Walks.of([layer], length=20), **HOW)
    assert not vectors[16].any()
    unit = vectors[:16] / np.linalg.norm(vectors[:16], axis=1, keepdims=True)
    alike = unit @ unit.T
    assert alike[:8, :8].mean() > alike[:8, 8:].mean() + 0.3


def test_same_seed_same_bits():
    walks = Walks.of([EdgeLayer(6, [0, 1, 2, 3], [1, 2, 3, 4])], length=10)
    one, two, other = (skip_gram(walks, seed=seed, **HOW).tobytes() for seed in (1, 1, 10**12))
    assert one == two != other
