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
    present_nodes = np.flatnonzero(~np.isnan(values))
    value_order = present_nodes[np.argsort(values[present_nodes], kind="stable")]
    sorted_values = values[value_order]
    value_count = sorted_values.size
    line_positions = np.arange(value_count)
    left_position, right_position = line_positions - 1, line_positions + 1
    source_parts, target_parts = [], []
    for _ in range(min(neighbours, value_count - 1)):
        # Both ends are never reached at once: there are at least as many others as steps
        to_left = np.where(left_position >= 0, sorted_values - sorted_values[left_position], np.inf)
        to_right = np.where(
            right_position < value_count,
            sorted_values[np.minimum(right_position, value_count - 1)] - sorted_values,
            np.inf,
        )
        left_is_nearer = (to_left == to_right) & (line_positions - left_position <= right_position - line_positions)
        go_left = (to_left < to_right) | left_is_nearer
        source_parts.append(value_order)
        target_parts.append(value_order[np.where(go_left, left_position, right_position)])
        left_position = left_position - go_left
        right_position = right_position + ~go_left
    no_nodes = [np.zeros(0, dtype=np.int64)]
    return EdgeLayer(
        values.size,
        np.concatenate(source_parts or no_nodes),
        np.concatenate(target_parts or no_nodes),
        nodes=present_nodes,
    )


def nearest_points_layer(points: NDArray[np.float64], neighbours: int) -> EdgeLayer:
    """Every node joined to the ``neighbours`` nodes with the nearest points, undirected.

    Points (nodes, coordinates) are looked up in a k-d tree of the different ones: equal points, which would make its
    search slow, are neighbours of each other first, and among equal ones edges are spread over all of them. A node
    with a missing coordinate (NaN) is absent. O(n k log n) for few coordinates.
    """
    present_nodes = np.flatnonzero(~np.isnan(points).any(axis=1))
    neighbours = min(neighbours, present_nodes.size - 1)
    if neighbours < 1:
        no_nodes = np.zeros(0, dtype=np.int64)
        return EdgeLayer(len(points), no_nodes, no_nodes, nodes=present_nodes)
    point_number, distinct_points = _different(points[present_nodes])
    point_sizes = np.bincount(point_number)
    rows_by_point = np.argsort(point_number, kind="stable")  # rows by point
    first_member = np.concatenate([[0], np.cumsum(point_sizes)[:-1]])
    own_position = np.empty(present_nodes.size, dtype=np.int64)  # of a row among its equals
    own_position[rows_by_point] = np.arange(present_nodes.size) - np.repeat(first_member, point_sizes)
    source_parts, target_parts = [], []
    for step in range(1, neighbours + 1):
        # Equal points stand in a ring; a ring with fewer others than steps is done
        open_rows = np.flatnonzero(point_sizes[point_number] > step)
        own_points = point_number[open_rows]
        source_parts.append(open_rows)
        target_parts.append(
            rows_by_point[first_member[own_points] + (own_position[open_rows] + step) % point_sizes[own_points]]
        )
    still_wanted = neighbours - np.minimum(point_sizes - 1, neighbours)  # still to be found at other points
    open_points = np.flatnonzero(still_wanted)
    if open_points.size:
        other_count = min(neighbours, len(distinct_points) - 1)
        nearest_found = cKDTree(distinct_points).query(distinct_points[open_points], k=other_count + 1)[1]
        near_points = np.asarray(nearest_found)[:, 1:]  # without the point itself
        taken_before = np.cumsum(point_sizes[near_points], axis=1) - point_sizes[near_points]
        taken_counts = np.clip(still_wanted[open_points][:, None] - taken_before, 0, point_sizes[near_points])
        open_rows = np.flatnonzero(still_wanted[point_number])
        open_index = np.searchsorted(open_points, point_number[open_rows])
        row_counts = taken_counts[open_index]  # (rows, others): rows to take of each other point
        source_rows = np.repeat(np.repeat(open_rows, other_count), row_counts.ravel())
        target_points = np.repeat(near_points[open_index].ravel(), row_counts.ravel())
        ends_of_runs = np.cumsum(row_counts.ravel())
        run_position = np.arange(source_rows.size) - np.repeat(ends_of_runs - row_counts.ravel(), row_counts.ravel())
        source_parts.append(source_rows)
        target_parts.append(
            rows_by_point[
                first_member[target_points] + (own_position[source_rows] + run_position) % point_sizes[target_points]
            ]
        )
    all_sources, all_targets = np.concatenate(source_parts), np.concatenate(target_parts)
    return EdgeLayer(len(points), present_nodes[all_sources], present_nodes[all_targets], nodes=present_nodes)


def _different(points: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """For each row the number of its point, and the different points."""
    column_codes = [pd.factorize(points[:, column_number])[0] for column_number in range(points.shape[1])]
    point_codes = column_codes[0].astype(np.int64)
    for column in column_codes[1:]:
        point_codes, _ = pd.factorize(point_codes * (int(column.max()) + 1) + column)
    first_rows = np.unique(point_codes, return_index=True)[1]
    return point_codes.astype(np.int64), points[first_rows]
