"""From several views of the same nodes: the pixels of a digit and its outline, a person's answers and their steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from gramme.errors import DataError

from .arrays import name_index, plain
from .edge_layer import EdgeLayer
from .edges import by_layer
from .layer import Layer
from .multilayer import MultilayerGraph
from .nearest import nearest_points_layer


def from_views(
    views: Any,
    *,
    k: int | Mapping[str, int] = 10,
    scale: bool = True,
    nodes: Iterable[Any] | None = None,
    labels: Any = None,
    name: str | None = None,
) -> MultilayerGraph:
    """A nearest-neighbour layer per view, and the views as features of their own layers.

    Parameters
    ----------
    views : mapping of name to array, DataFrame or sparse matrix, shape (nodes, columns)
        One row per node. A row of nothing but NaN is missing: the node is absent from that view. Where all views are
        DataFrames with an index of names, rows belong together by name, and a node may have no row in some views.
    k : int or mapping of view to int, default=10
        Every node is joined to its ``k`` nearest, undirected.
    scale : bool, default=True
        Whether distances are between columns brought to mean 0 and standard deviation 1; with False, between the
        numbers as they are. Rows of a sparse matrix are brought to length 1 instead. The features are kept as given.
    nodes : iterable, optional
        Names of the nodes, in order.
    labels, name
        As for :class:`~gramme.MultilayerGraph`.

    Examples
    --------
    >>> left = [[0.0], [0.1], [5.0], [5.1]]
    >>> right = [[1.0, 1.0], [1.0, 1.1], [float("nan")] * 2, [9.0, 9.0]]
    >>> g = from_views({"left": left, "right": right}, k=1)
    >>> g
    MultilayerGraph(4 nodes, 2 layers: left 2 edges, right 2 edges, 3 features of 2 layers)
    >>> g.layers["right"].num_present
    3
    """
    if not isinstance(views, Mapping) or not views:
        raise DataError("views must be a mapping of name to matrix, and not empty")
    matrices, node_index = _aligned(views, nodes)
    stated_neighbours = by_layer(k, matrices, "k") if isinstance(k, Mapping) else dict.fromkeys(matrices, k)
    view_layers: dict[str, Layer] = {}
    for view, matrix in matrices.items():
        neighbours = stated_neighbours.get(view, 10)
        if not isinstance(neighbours, (int, np.integer)) or neighbours < 1:
            raise DataError(f"k must be a whole number of at least 1, not {neighbours!r}")
        view_layers[view] = _nearest(matrix, int(neighbours), scale)
    return MultilayerGraph(view_layers, nodes=node_index, labels=labels, features=matrices, name=name)


def _aligned(views: Mapping[str, Any], nodes: Iterable[Any] | None) -> tuple[dict[str, Any], pd.Index]:
    """The views as matrices over the same nodes, and these."""
    view_frames = {name: view for name, view in views.items() if isinstance(view, pd.DataFrame)}
    by_name = len(view_frames) == len(views) and not all(
        isinstance(frame.index, pd.RangeIndex) for frame in view_frames.values()
    )
    if by_name:
        frame_indices = {name: name_index(frame.index) for name, frame in view_frames.items()}
        node_index = name_index(
            dict.fromkeys(each for index in frame_indices.values() for each in index) if nodes is None else nodes
        )
        matrices = {}
        for name, frame in view_frames.items():
            row_positions = node_index.get_indexer(frame_indices[name])
            if (row_positions < 0).any():
                stray_name = plain(frame.index[int(np.flatnonzero(row_positions < 0)[0])])
                raise DataError(f"the view {name!r} has a row for {stray_name!r}, which is not among the nodes")
            matrices[name] = np.full((len(node_index), frame.shape[1]), np.nan)
            matrices[name][row_positions] = _numbers(name, frame)
    else:
        matrices = {name: _numbers(name, view) for name, view in views.items()}
        row_counts = {name: matrix.shape[0] for name, matrix in matrices.items()}
        if len(set(row_counts.values())) > 1:
            size_words = ", ".join(f"{name!r} has {size}" for name, size in row_counts.items())
            raise DataError(
                f"the views have different numbers of rows: {size_words}; give every node "
                "a row in each, of NaN where it has "
                "none, or DataFrames with the nodes' names as index"
            )
        node_index = name_index(nodes, next(iter(row_counts.values())))
    for name, matrix in matrices.items():
        _check(name, matrix, node_index)
    return matrices, node_index


def _numbers(name: str, view: Any) -> Any:
    if sp.issparse(view):
        given_matrix: Any = view
        return sp.csr_array(given_matrix)
    try:
        matrix = np.array(view, dtype=None if hasattr(view, "dtype") else np.float64)
        if matrix.dtype not in (np.float32, np.float64):
            matrix = matrix.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"the view {name!r} must be numbers, a row per node: {error}") from error
    if matrix.ndim != 2:
        raise DataError(f"the view {name!r} must have rows and columns, not the shape {matrix.shape}")
    return matrix


def _check(name: str, matrix: Any, nodes: pd.Index) -> None:
    """A row has all its numbers, or none."""
    if not isinstance(matrix, np.ndarray):
        return
    is_missing = np.isnan(matrix)
    partial_rows = np.flatnonzero((is_missing.any(axis=1) & ~is_missing.all(axis=1)) | np.isinf(matrix).any(axis=1))
    if partial_rows.size:
        raise DataError(
            f"in the view {name!r} the node {plain(nodes[int(partial_rows[0])])!r} has "
            "numbers that are missing or not finite; "
            "fill them in, or make its whole row NaN"
        )


def _nearest(matrix: Any, neighbours: int, scale: bool) -> EdgeLayer:
    node_count = matrix.shape[0]
    if isinstance(matrix, np.ndarray):
        present_nodes = np.flatnonzero(~np.isnan(matrix).any(axis=1))
        points: Any = np.asarray(matrix[present_nodes], dtype=np.float64)
        if scale and present_nodes.size:
            column_spread = points.std(axis=0)
            column_varies = column_spread > 0
            points = (points[:, column_varies] - points[:, column_varies].mean(axis=0)) / column_spread[column_varies]
        # of few coordinates a k-d tree finds neighbours faster than comparing all pairs
        if 0 < points.shape[1] <= 8:
            full_points = np.full((node_count, points.shape[1]), np.nan)
            full_points[present_nodes] = points
            return nearest_points_layer(full_points, neighbours)
    else:
        present_nodes = np.flatnonzero(np.diff(matrix.indptr) > 0)
        points = matrix[present_nodes].astype(np.float64)
        if scale:
            row_lengths = np.sqrt(np.asarray(points.multiply(points).sum(axis=1)).ravel())
            points = sp.csr_array(sp.diags_array(1 / np.where(row_lengths > 0, row_lengths, 1)) @ points)
    neighbours = min(neighbours, present_nodes.size - 1)
    if neighbours < 1 or points.shape[1] == 0:
        no_nodes = np.zeros(0, dtype=np.int64)
        return EdgeLayer(node_count, no_nodes, no_nodes, nodes=present_nodes)
    from sklearn.neighbors import NearestNeighbors  # slow to import

    # all pairs are compared, in blocks: O(points squared x columns)
    searcher = NearestNeighbors(n_neighbors=neighbours, algorithm="brute").fit(points)
    near_points = np.asarray(searcher.kneighbors(return_distance=False), dtype=np.int64)
    source_rows = np.repeat(np.arange(present_nodes.size), near_points.shape[1])
    return EdgeLayer(node_count, present_nodes[source_rows], present_nodes[near_points.ravel()], nodes=present_nodes)
