"""Scores from paths against networkx and against counting the paths one by one."""

import itertools

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from gramme.links.pair_scores import SCORES, PathScores

PAIRS = np.array(list(itertools.permutations(range(12), 2)))


def random_graph(seed: int, weighted: bool = False) -> sp.csr_array:
    graph = nx.gnm_random_graph(12, 26, seed=seed)
    matrix = sp.csr_array(nx.to_scipy_sparse_array(graph, dtype=float))
    if weighted:
        random = np.random.default_rng(seed)
        matrix.data = random.random(matrix.nnz) + 0.1
        matrix = sp.csr_array(matrix + matrix.T)
    return matrix


def by_counting(matrix: sp.csr_array) -> np.ndarray:
    full = matrix.toarray()
    strength = full.sum(axis=1)
    found = []
    for i, j in PAIRS:
        total = 0.0
        for u, v in itertools.permutations(range(12), 2):
            if u not in (i, j) and v not in (i, j):
                total += full[i, u] * full[u, v] * full[v, j] / np.sqrt(strength[u] * strength[v])
        # u = j or v = i would use the edge of the pair itself
        found.append(total)
    return np.array(found)


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_paths_of_length_3_are_counted_without_the_pairs_own_edge(dense, weighted, monkeypatch):
    monkeypatch.setattr("gramme.links.pair_scores.MAX_DENSE_NODES", 100 if dense else 0)
    monkeypatch.setattr("gramme.links.pair_scores._DENSE_SPEED", 1e9)
    matrix = random_graph(1, weighted)
    scores = PathScores(matrix)
    found = scores.of(PAIRS)[:, SCORES.index("paths")]
    assert scores._is_dense == dense
    np.testing.assert_allclose(found, by_counting(matrix), atol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_dense_products_and_walks_give_the_same_bits(weighted, monkeypatch):
    """A graph and the same graph with some edges set aside may be on either side of the line between the two."""
    matrix = random_graph(1, weighted)
    monkeypatch.setattr("gramme.links.pair_scores.MAX_DENSE_NODES", 0)
    walked = PathScores(matrix).of(PAIRS)
    monkeypatch.setattr("gramme.links.pair_scores.MAX_DENSE_NODES", 100)
    monkeypatch.setattr("gramme.links.pair_scores._DENSE_SPEED", 1e9)
    dense = PathScores(matrix)
    monkeypatch.setattr("gramme.links.pair_scores._ROWS", 5)
    assert dense.of(PAIRS).tobytes() == walked.tobytes()
    assert dense._is_dense


def test_common_neighbours_are_networkx_scores():
    matrix = random_graph(2)
    graph = nx.from_scipy_sparse_array(matrix)
    found = PathScores(matrix).of(PAIRS)
    allocation = [score for _, _, score in nx.resource_allocation_index(graph, PAIRS.tolist())]
    np.testing.assert_allclose(found[:, SCORES.index("resource_allocation")], allocation)
    attachment = [score for _, _, score in nx.preferential_attachment(graph, PAIRS.tolist())]
    by_degree = np.exp(found[:, SCORES.index("attachment")])
    degrees = np.array([[graph.degree(i), graph.degree(j)] for i, j in PAIRS])
    np.testing.assert_allclose(by_degree, (degrees + 1).prod(axis=1))
    np.testing.assert_allclose(attachment, degrees.prod(axis=1))


def test_a_pairs_scores_are_the_same_whether_it_is_linked_or_not():
    matrix = random_graph(3).toarray()
    without = matrix.copy()
    i, j = np.argwhere(matrix > 0)[0]
    without[i, j] = without[j, i] = 0
    pair = np.array([[i, j]])
    linked, unlinked = (PathScores(sp.csr_array(one)).of(pair)[0] for one in (matrix, without))
    for name in ("adamic_adar", "resource_allocation"):
        assert linked[SCORES.index(name)] == unlinked[SCORES.index(name)]


@pytest.mark.parametrize("dense", [0, 100])
def test_a_pair_scores_alone_as_among_others(dense, monkeypatch):
    monkeypatch.setattr("gramme.links.pair_scores.MAX_DENSE_NODES", dense)
    monkeypatch.setattr("gramme.links.pair_scores._DENSE_SPEED", 1e9)
    monkeypatch.setattr("gramme.links.pair_scores._ROWS", 5)
    matrix = random_graph(5, weighted=True)
    together = PathScores(matrix).of(PAIRS)
    for place in (0, 17, 80):
        alone = PathScores(matrix).of(PAIRS[place : place + 1])
        assert alone.tobytes() == together[place].tobytes()
