import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramme.graph.nearest import nearest_layer, nearest_points_layer


@pytest.mark.parametrize("neighbours", [1, 2, 5, 50])
def test_every_number_is_joined_to_its_nearest(neighbours):
    values = np.random.default_rng(neighbours).normal(size=40)
    distance = np.abs(values[:, None] - values)
    np.fill_diagonal(distance, np.inf)
    expected = np.zeros((40, 40), dtype=bool)
    for row, nearest in enumerate(distance.argsort(axis=1)[:, : min(neighbours, 39)]):
        expected[row, nearest] = True
    assert ((nearest_layer(values, neighbours).to_scipy() != 0) == (expected | expected.T)).all()


def test_equal_numbers_share_their_edges_out():
    degrees = nearest_layer(np.zeros(50), 2).degrees()
    assert degrees.max() <= 4
    assert degrees.min() >= 2


def test_a_missing_number_is_absent():
    layer = nearest_layer(np.array([1.0, np.nan, 2.0]), 1)
    assert layer.present.tolist() == [True, False, True]
    assert nearest_layer(np.array([np.nan, np.nan]), 1).num_present == 0


@given(st.integers(1, 25), st.integers(1, 3), st.integers(1, 7), st.integers(1, 6), st.integers(0, 10**6))
def test_neighbours_are_exact(rows, columns, neighbours, values, seed):
    """Nobody nearer than a neighbour is left out, and every edge is among somebody's nearest."""
    random = np.random.default_rng(seed)
    points = random.integers(0, values, (rows, columns)).astype(float)
    if seed % 2:
        points += random.random((rows, columns))
    points[random.random((rows, columns)) < 0.1] = np.nan
    layer = nearest_points_layer(points, neighbours)
    there = ~np.isnan(points).any(axis=1)
    assert (layer.present == there).all()
    joined = layer.to_scipy().toarray() > 0
    distance = ((points[:, None] - points[None]) ** 2).sum(-1)
    np.fill_diagonal(distance, np.inf)
    distance[:, ~there] = np.inf
    wanted = min(neighbours, int(there.sum()) - 1)
    if wanted < 1:
        assert not joined.any()
        return
    farthest = np.sort(distance, axis=1)[:, wanted - 1]
    for row in np.flatnonzero(there):
        assert joined[row].sum() >= wanted
        assert joined[row][distance[row] < farthest[row] - 1e-12].all()
    for one, other in zip(*np.nonzero(joined), strict=True):
        assert distance[one, other] <= max(farthest[one], farthest[other]) + 1e-12


def test_one_coordinate_gives_what_a_line_gives():
    values = np.random.default_rng(0).random(200)
    line, points = nearest_layer(values, 4), nearest_points_layer(values[:, None], 4)
    assert (line.to_scipy() != points.to_scipy()).nnz == 0


@pytest.mark.parametrize("count", [1, 3])
def test_equal_points_do_not_all_lean_on_the_same_rows(count):
    points = np.zeros((1000, 2))
    points[500:] = 1
    degrees = nearest_points_layer(points, count).to_scipy().sum(axis=1)
    assert degrees.max() <= 2 * count


def test_many_equal_points_take_no_longer_than_different_ones():
    """All pairs of a hundred thousand equal points would not fit into memory."""
    layer = nearest_points_layer(np.zeros((100_000, 2)), 10)
    assert layer.num_edges == 1_000_000
