"""Candidates: unlinked pairs within three steps, the best few of each node."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from gramme.links import evidence as candidates
from gramme.links.evidence import candidate_pairs

NOBODY = sp.csr_array((40, 0))


def random_graph(share: float, seed: int = 0) -> sp.csr_array:
    random = np.random.default_rng(seed)
    full = np.triu((random.random((40, 40)) < share) * (random.random((40, 40)) + 0.5), 1)
    return sp.csr_array(full + full.T)


def by_counting(matrix: sp.csr_array) -> np.ndarray:
    """Paths of length 2 and 3 between all nodes, by degrees, one by one."""
    full = matrix.toarray()
    root = 1 / np.sqrt(np.maximum(full.sum(axis=1), 1e-12))
    two, three = np.zeros((40, 40)), np.zeros((40, 40))
    for i, u, v in itertools.product(range(40), repeat=3):
        two[i, v] += full[i, u] * full[u, v] * root[u] * root[v]
    np.fill_diagonal(two, 0)
    for i, v, j in itertools.product(range(40), repeat=3):
        three[i, j] += two[i, v] * full[v, j] * root[j]
    return two + three


@pytest.mark.parametrize("share", [0.02, 0.2, 0.6])
def test_the_best_few_pairs_of_each_node_by_paths(share, monkeypatch):
    monkeypatch.setattr(candidates, "CANDIDATES_PER_NODE", 6)
    graph = random_graph(share)
    found = candidate_pairs(graph, NOBODY, graph, directed=False)
    score = by_counting(graph)
    np.fill_diagonal(score, 0)
    expected = set()
    for one in range(40):
        best = [other for other in np.argsort(-score[one])[:6] if score[one, other] > 1e-9]
        expected |= {tuple(sorted((one, int(other)))) for other in best}
    linked = graph.toarray() > 0
    assert {tuple(pair) for pair in found.tolist()} == {pair for pair in expected if not linked[pair]}


def test_candidates_of_one_node_are_all_within_three_steps():
    ring = sp.csr_array(np.roll(np.eye(40), 1, axis=1) + np.roll(np.eye(40), -1, axis=1))
    found = candidate_pairs(ring, NOBODY, ring, directed=False, sources=np.array([10]))
    assert found.tolist() == [[7, 10], [8, 10], [10, 12], [10, 13]]
