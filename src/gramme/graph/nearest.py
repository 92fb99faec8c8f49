"""The nearest neighbours of points with several coordinates, exact and without comparing all pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from .edge_layer import EdgeLayer


# The nearest neighbours of numbers on a line, exact and without comparing all pairs.
def nearest_layer(values: NDArray[np.float64], neighbours: int) -> EdgeLayer:
    """Every node joined to the ``neighbours`` nodes with the nearest values, undirected.

    On a sorted line the k nearest of a number lie within k steps to either side, so one walk
    outwards finds them in O(n k) after the sort. Of equal distances the one nearer in the order of
    (value, row) is taken, which spreads edges among equal values instead of joining all of them to
    the same few rows. A node with a missing value (NaN) is absent.
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
    return EdgeLayer(values.size, np.concatenate(starts or nothing), np.concatenate(ends or nothing), nodes=present)


def nearest_points_layer(points: NDArray[np.float64], neighbours: int) -> EdgeLayer:
    """Every node joined to the ``neighbours`` nodes with the nearest points, undirected.

    Points (nodes, coordinates) are looked up in a k-d tree of the different ones: equal points, which would make its
    search slow, are neighbours of each other first, and among equal ones edges are spread over all of them. A node
    with a missing coordinate (NaN) is absent. O(n k log n) for few coordinates.
    """
    present = np.flatnonzero(~np.isnan(points).any(axis=1))
    neighbours = min(neighbours, present.size - 1)
    if neighbours < 1:
        nothing = np.zeros(0, dtype=np.int64)
        return EdgeLayer(len(points), nothing, nothing, nodes=present)
    place, different = _different(points[present])
    size = np.bincount(place)
    members = np.argsort(place, kind="stable")  # rows by point
    first = np.concatenate([[0], np.cumsum(size)[:-1]])
    position = np.empty(present.size, dtype=np.int64)  # of a row among its equals
    position[members] = np.arange(present.size) - np.repeat(first, size)
    starts, ends = [], []
    for step in range(1, neighbours + 1):
        # Equal points stand in a ring; a ring with fewer others than steps is done
        rows = np.flatnonzero(size[place] > step)
        mine = place[rows]
        starts.append(rows)
        ends.append(members[first[mine] + (position[rows] + step) % size[mine]])
    wanted = neighbours - np.minimum(size - 1, neighbours)  # still to be found at other points
    lonely = np.flatnonzero(wanted)
    if lonely.size:
        others = min(neighbours, len(different) - 1)
        found = cKDTree(different).query(different[lonely], k=others + 1)[1]
        near = np.asarray(found)[:, 1:]  # without the point itself
        before = np.cumsum(size[near], axis=1) - size[near]
        taken = np.clip(wanted[lonely][:, None] - before, 0, size[near])
        rows = np.flatnonzero(wanted[place])
        which = np.searchsorted(lonely, place[rows])
        count = taken[which]  # (rows, others): rows to take of each other point
        start = np.repeat(np.repeat(rows, others), count.ravel())
        target = np.repeat(near[which].ravel(), count.ravel())
        ends_of_runs = np.cumsum(count.ravel())
        turn = np.arange(start.size) - np.repeat(ends_of_runs - count.ravel(), count.ravel())
        starts.append(start)
        ends.append(members[first[target] + (position[start] + turn) % size[target]])
    source, goal = np.concatenate(starts), np.concatenate(ends)
    return EdgeLayer(len(points), present[source], present[goal], nodes=present)


def _different(points: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """For each row the number of its point, and the different points."""
    columns = [pd.factorize(points[:, place])[0] for place in range(points.shape[1])]
    codes = columns[0].astype(np.int64)
    for column in columns[1:]:
        codes, _ = pd.factorize(codes * (int(column.max()) + 1) + column)
    chosen = np.unique(codes, return_index=True)[1]
    return codes.astype(np.int64), points[chosen]
