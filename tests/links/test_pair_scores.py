"""Scores from paths against networkx and against counting the paths one by one."""

import itertools

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from gramme.links.pair_scores import SCORES, STEPS, LongWalks, PathScores, affordable_steps

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


@pytest.mark.parametrize("weighted", [False, True])
def test_paths_of_length_3_are_counted_without_the_pairs_own_edge(weighted):
    matrix = random_graph(1, weighted)
    found = PathScores(matrix).of(PAIRS)[:, SCORES.index("paths")]
    np.testing.assert_allclose(found, by_counting(matrix), atol=1e-5)


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


def test_a_pair_scores_alone_as_among_others():
    matrix = random_graph(5, weighted=True)
    together = PathScores(matrix).of(PAIRS)
    for place in (0, 17, 80):
        alone = PathScores(matrix).of(PAIRS[place : place + 1])
        assert alone.tobytes() == together[place].tobytes()


@pytest.mark.parametrize("longest", [5, 7])
def test_long_walks_are_powers_of_the_scaled_matrix(longest):
    matrix = random_graph(4, weighted=True)
    root = 1 / np.sqrt(np.maximum(matrix.sum(axis=1), 1e-9))
    step = root[:, None] * matrix.toarray() * root
    found = LongWalks(matrix, longest).of(PAIRS)
    for column, power in enumerate(STEPS):
        exact = np.linalg.matrix_power(step, power)[PAIRS[:, 0], PAIRS[:, 1]] * (power <= longest)
        np.testing.assert_allclose(np.exp(found[:, column]) * 1e-9 - 1e-9, exact, atol=1e-6)


def test_a_pair_has_the_same_score_alone_and_among_all(monkeypatch):
    monkeypatch.setattr("gramme.links.pair_scores._COLUMNS", 4)  # three blocks of sources
    matrix = random_graph(6)
    together = LongWalks(matrix).of(PAIRS)
    assert together.any()
    for place in (3, 40, 110):
        alone = LongWalks(matrix).of(PAIRS[place : place + 1])
        assert alone.tobytes() == together[place].tobytes()


def test_walks_are_as_long_as_the_graph_allows_for():
    assert affordable_steps(10_000, 230_000) == 7
    assert affordable_steps(10_000, 400_000) == 5
    assert affordable_steps(10_000, 660_000) == 0
    assert affordable_steps(1_000_000, 10_000_000) == 0
    assert not LongWalks(random_graph(4), 0).of(PAIRS).any()
