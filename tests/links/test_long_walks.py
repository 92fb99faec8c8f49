"""Long walks: powers of the scaled matrix, found in both ways; a pair has one score whatever is asked with it."""

import numpy as np
import pytest
from tests.links.test_pair_scores import PAIRS, random_graph

from gramme.links.long_walks import LongWalks, walks_are_affordable


@pytest.mark.parametrize("most", [0, 100])
def test_long_walks_are_powers_of_the_scaled_matrix(most, monkeypatch):
    monkeypatch.setattr("gramme.links.long_walks.MAX_HALVED_NODES", most)
    matrix = random_graph(4, weighted=True)
    root = 1 / np.sqrt(np.maximum(matrix.sum(axis=1), 1e-9))
    step = root[:, None] * matrix.toarray() * root
    found = LongWalks(matrix).of(PAIRS)
    for column, power in enumerate((4, 5)):
        exact = np.linalg.matrix_power(step, power)[PAIRS[:, 0], PAIRS[:, 1]]
        np.testing.assert_allclose(np.exp(found[:, column]) * 1e-9 - 1e-9, exact, atol=1e-6)


@pytest.mark.parametrize("most", [0, 100])
def test_a_pair_has_the_same_score_alone_and_among_all(most, monkeypatch):
    """Whether walks are followed was once settled by how many pairs were asked about together."""
    monkeypatch.setattr("gramme.links.long_walks.MAX_HALVED_NODES", most)
    monkeypatch.setattr("gramme.links.long_walks.MAX_WALK_WORK", 100)
    matrix = random_graph(6)
    together = LongWalks(matrix).of(PAIRS)
    assert together.any()
    for place in (3, 40, 110):
        alone = LongWalks(matrix).of(PAIRS[place : place + 1])
        assert alone.tobytes() == together[place].tobytes()


def test_walks_are_followed_for_all_pairs_of_a_graph_or_for_none():
    assert walks_are_affordable(10_000, 600_000)
    assert not walks_are_affordable(1_000_000, 10_000_000)
    assert not LongWalks(random_graph(4), follow=False).of(PAIRS).any()
