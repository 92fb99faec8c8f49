import numpy as np
import pytest

from gramme.graph.nearest_numbers import nearest_layer


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
