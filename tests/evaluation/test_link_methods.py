"""Link predictors of others: what they learn from, and what they say of pairs they were never shown."""

import numpy as np
import pytest
from tests.links.graphs import planted_links

from gramme.evaluation.link_methods import training_pairs


def test_they_learn_from_the_edges_and_as_many_pairs_without_one():
    graph = planted_links(40)
    adjacency = graph.layers["talk"].to_scipy().toarray()
    linked, unlinked = training_pairs(graph, "talk", np.random.default_rng(0))
    assert len(linked) == len(unlinked) == graph.layers["talk"].num_edges
    assert (adjacency[linked[:, 0], linked[:, 1]] > 0).all()
    assert (adjacency[unlinked[:, 0], unlinked[:, 1]] == 0).all()
    assert (unlinked[:, 0] != unlinked[:, 1]).all()


def test_the_products_of_walks_tell_links_from_other_pairs():
    pytest.importorskip("gensim")
    from gramme.evaluation.link_methods import node2vec_hadamard

    graph = planted_links(40)
    linked, unlinked = training_pairs(graph, "talk", np.random.default_rng(1))
    scores = node2vec_hadamard(graph, "talk", np.concatenate([linked, unlinked]), 0)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert scores[: len(linked)].mean() > scores[len(linked) :].mean()
