"""Long walks: powers of the scaled matrix, found in both ways; a pair has one score whatever is asked with it."""

import numpy as np
import pytest
from tests.links.test_pair_scores import PAIRS, random_graph

from gramme.links.long_walks import STEPS, LongWalks, affordable_steps


@pytest.fixture(params=[0, 100], ids=["followed", "whole"])
def _way(request, monkeypatch):
    monkeypatch.setattr("gramme.links.long_walks.MAX_DENSE_NODES", request.param)
    monkeypatch.setattr("gramme.links.long_walks._COLUMNS", 16)


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize("longest", [5, 7])
def test_long_walks_are_powers_of_the_scaled_matrix(longest):
    matrix = random_graph(4, weighted=True)
    root = 1 / np.sqrt(np.maximum(matrix.sum(axis=1), 1e-9))
    step = root[:, None] * matrix.toarray() * root
    found = LongWalks(matrix, longest).of(PAIRS)
    for column, power in enumerate(STEPS):
        exact = np.linalg.matrix_power(step, power)[PAIRS[:, 0], PAIRS[:, 1]] * (power <= longest)
        np.testing.assert_allclose(np.exp(found[:, column]) * 1e-9 - 1e-9, exact, atol=1e-6)


@pytest.mark.usefixtures("_way")
def test_a_pair_has_the_same_score_alone_and_among_all(monkeypatch):
    """Whether walks are followed was once settled by how many pairs were asked about together."""
    monkeypatch.setattr("gramme.links.long_walks.MAX_WALK_WORK", 100)
    matrix = random_graph(6)
    together = LongWalks(matrix).of(PAIRS)
    assert together.any()
    for place in (3, 40, 110):
        alone = LongWalks(matrix).of(PAIRS[place : place + 1])
        assert alone.tobytes() == together[place].tobytes()


def test_walks_are_as_long_as_the_graph_allows_for():
    assert affordable_steps(10_000, 230_000) == 7
    assert affordable_steps(10_000, 660_000) == 5
    assert affordable_steps(1_000_000, 10_000_000) == 0
    assert not LongWalks(random_graph(4), 0).of(PAIRS).any()
