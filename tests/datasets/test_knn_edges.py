import numpy as np
import pytest

from gramme.datasets import knn_edges
from gramme.datasets.knn_edges import nearest_edges
from gramme.errors import DataError


def slowly(points, neighbours):
    edges = []
    for row, point in enumerate(points):
        distance = ((points - point) ** 2).sum(axis=1)
        others = sorted((d, other) for other, d in enumerate(distance) if other != row)
        edges += [(row, other) for other in sorted(other for _, other in others[:neighbours])]
    return np.array(edges).T


@pytest.mark.parametrize("neighbours", [1, 3, 39])
@pytest.mark.parametrize("block", [7, 512])
def test_it_equals_the_slow_way_with_many_ties(monkeypatch, neighbours, block):
    monkeypatch.setattr(knn_edges, "BLOCK_ROWS", block)
    points = np.random.default_rng(0).integers(3, size=(40, 2)).astype(float)
    assert np.array_equal(nearest_edges(points, neighbours), slowly(points, neighbours))


@pytest.mark.parametrize("neighbours", [0, 5, 6])
def test_too_few_or_too_many(neighbours):
    with pytest.raises(DataError, match="neighbours must be from 1 to 4"):
        nearest_edges(np.zeros((5, 1)), neighbours)
