"""Nearest-neighbour edges, exact and the same on every machine: ties go to the earlier row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from gramme.errors import DataError

BLOCK_ROWS = 512


def nearest_edges(points: NDArray[Any], neighbours: int) -> NDArray[np.int64]:
    """Edges from every row to its nearest other rows, shape (2, rows x neighbours).

    Distances of all pairs are looked at, a block of rows at a time: for some ten thousand rows at most.

    >>> nearest_edges(np.array([[0.0], [1.0], [1.5]]), 1)
    array([[0, 1, 2],
           [1, 2, 1]])
    """
    rows = len(points)
    if not 1 <= neighbours < rows:
        raise DataError(f"neighbours must be from 1 to {rows - 1}, not {neighbours}")
    points = np.asarray(points, dtype=np.float64)
    found = []
    for begin in range(0, rows, BLOCK_ROWS):
        block = np.arange(begin, min(begin + BLOCK_ROWS, rows))
        distance = cdist(points[block], points, "sqeuclidean")
        distance[block - begin, block] = np.inf
        farthest = np.partition(distance, neighbours - 1, axis=1)[:, [neighbours - 1]]
        nearer = distance < farthest
        tied = distance == farthest
        places = neighbours - nearer.sum(axis=1, keepdims=True)
        source, target = np.nonzero(nearer | (tied & (np.cumsum(tied, axis=1) <= places)))
        found.append(np.stack([source + begin, target]))
    return np.concatenate(found, axis=1)
