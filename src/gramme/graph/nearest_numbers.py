"""The nearest neighbours of numbers on a line, exact and without comparing all pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gramme.graph.edge_layer import EdgeLayer


def nearest_layer(values: NDArray[np.float64], neighbours: int) -> EdgeLayer:
    """Every node joined to the ``neighbours`` nodes with the nearest values, undirected.

    On a sorted line the k nearest of a number lie within k steps to either side, so one walk
    outwards finds them in O(n k) after the sort. Of equal distances the one nearer in the order of
    (value, row) is taken, which spreads edges among equal values instead of joining all of them to
    the same few rows. A node with a missing value (NaN) is absent.

    >>> layer = nearest_layer(np.array([1.0, 2.0, 4.0, np.nan]), 1)
    >>> layer.source.tolist(), layer.target.tolist(), layer.num_present
    ([0, 1], [1, 2], 3)
    """
    present = np.flatnonzero(~np.isnan(values))
    order = present[np.argsort(values[present], kind="stable")]
    line = values[order]
    size = line.size
    here = np.arange(size)
    left, right = here - 1, here + 1
    starts, ends = [], []
    for _ in range(min(neighbours, size - 1)):
        # Both ends are never reached at once: there are at least as many others as steps
        to_left = np.where(left >= 0, line - line[left], np.inf)
        to_right = np.where(right < size, line[np.minimum(right, size - 1)] - line, np.inf)
        nearer = (to_left == to_right) & (here - left <= right - here)
        go_left = (to_left < to_right) | nearer
        starts.append(order)
        ends.append(order[np.where(go_left, left, right)])
        left = left - go_left
        right = right + ~go_left
    nothing = [np.zeros(0, dtype=np.int64)]
    return EdgeLayer(
        values.size,
        np.concatenate(starts or nothing),
        np.concatenate(ends or nothing),
        nodes=present,
    )
