"""The features of a graph's nodes: checked once, kept read-only, compared whatever their form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.errors import DataError, did_you_mean

from .arrays import frozen, is_missing, plain, plain_list, same_values

if TYPE_CHECKING:
    from .multilayer import MultilayerGraph


# Values per node, given in node order or by node name, as an array in node order.
def aligned(graph: MultilayerGraph, values: Any, what: str = "value") -> NDArray[np.object_]:
    """Values per node in node order, from a sequence in that order or a mapping by node name.

    None, NaN and pandas' NA become None, and so do blank text and nodes a mapping leaves out; numpy's
    scalars become Python's. A Series counts as a mapping by name unless its index is the default one
    (0, 1, 2, ...) while the nodes have names of their own.
    """
    aligned_values = np.full(graph.num_nodes, None, dtype=object)
    if isinstance(values, pd.Series):
        series_index = values.index
        default_index = isinstance(series_index, pd.RangeIndex) and series_index.start == 0 and series_index.step == 1
        if default_index and not isinstance(graph.nodes, pd.RangeIndex):
            values = values.to_numpy(dtype=object)
        else:
            if not values.index.is_unique:
                repeated_name = values.index[values.index.duplicated()][0]
                raise DataError(f"node {repeated_name!r} has more than one {what}")
            values = dict(zip(values.index, values.to_numpy(dtype=object), strict=True))
    if isinstance(values, Mapping):
        listed_values = [plain(value) for value in values.values()]
        node_positions = graph.positions(values.keys())
    else:
        if isinstance(values, (str, bytes, set, frozenset)) or not isinstance(values, Iterable):
            raise DataError(f"{what}s must be a sequence or a mapping by node, not {values!r}")
        value_shape = getattr(values, "shape", (0,))
        if len(value_shape) != 1:
            raise DataError(f"{what}s must be one-dimensional, not of shape {tuple(value_shape)}")
        listed_values = plain_list(values)
        if len(listed_values) != graph.num_nodes:
            raise DataError(f"{len(listed_values)} {what}s were given for {graph.num_nodes} nodes")
        node_positions = np.arange(graph.num_nodes)
    for node_position, value in zip(node_positions.tolist(), listed_values, strict=True):
        if not is_missing(value) and not (isinstance(value, str) and not value.strip()):
            try:
                hash(value)
            except TypeError as error:
                node_name = plain(graph.nodes[node_position])
                raise DataError(f"the {what} of node {node_name!r} is not a value: {error}") from error
            aligned_values[node_position] = value
    return frozen(aligned_values)


def checked_masks(masks: Mapping[Any, Any] | None, num_nodes: int) -> Mapping[str, NDArray[np.bool_]]:
    """Truth values per node by name, read-only; an error names the mask that is something else."""
    if masks is not None and not isinstance(masks, Mapping):
        raise DataError(f"masks must be a mapping of name to truth values, not {masks!r}")
    checked_by_name = {}
    for name, mask in (masks or {}).items():
        mask_values = np.array(mask)
        if mask_values.dtype != np.bool_ or mask_values.shape != (num_nodes,):
            raise DataError(
                f"the mask {name!r} must be {num_nodes} truth values, one per node, not {mask_values.dtype} of shape "
                f"{mask_values.shape}"
            )
        checked_by_name[name] = frozen(mask_values)
    return MappingProxyType(checked_by_name)


Features = NDArray[np.floating[Any]] | sp.csr_array


def checked_features(features: Any, nodes: pd.Index) -> Features:
    """A read-only copy, one row per node: float32 and float64 stay, other numbers become float64.

    Anything but a sparse matrix becomes a dense array; a sparse matrix becomes CSR.
    """
    matrix: Any = features
    try:
        if sp.issparse(features):
            matrix = sp.csr_array(matrix, copy=True)
        else:
            matrix = np.array(features)
        if np.iscomplexobj(matrix):
            raise DataError("features must be real numbers, not complex ones")
        if matrix.dtype not in (np.float32, np.float64):
            matrix = matrix.astype(np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"features must be numbers, in rows of equal length: {error}") from error
    if matrix.ndim != 2 or matrix.shape[0] != len(nodes):
        raise DataError(f"features of shape {matrix.shape} were given for {len(nodes)} nodes")
    if isinstance(matrix, np.ndarray):
        bad_rows = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    else:
        matrix.sum_duplicates()
        bad_rows = matrix.tocoo().row[~np.isfinite(matrix.data)]
    if bad_rows.size:
        node_name = plain(nodes[int(bad_rows[0])])
        raise DataError(f"the features of node {node_name!r} are not all finite numbers")
    freeze_features(matrix)
    return matrix  # type: ignore[no-any-return]


def checked_layer_features(
    features: Mapping[str, Any] | None, layers: Iterable[str], nodes: pd.Index
) -> Mapping[str, Features]:
    """Features by layer, each checked as :func:`checked_features` does; a row of NaN alone is missing and stays."""
    layer_names, checked_by_layer = list(layers), {}
    for name, given in (features or {}).items():
        if name not in layer_names:
            raise DataError(
                f"features were given for the layer {name!r}, which is not there; "
                f"{did_you_mean(str(name), layer_names)}"
            )
        try:
            feature_matrix = given
            missing_rows = None
            if not sp.issparse(given):
                feature_matrix = np.array(given)
                if feature_matrix.ndim == 2 and feature_matrix.dtype.kind == "f" and feature_matrix.shape[1]:
                    missing_rows = np.isnan(feature_matrix).all(axis=1)
                    feature_matrix[missing_rows] = 0
            feature_matrix = checked_features(feature_matrix, nodes)
        except (DataError, TypeError, ValueError) as error:
            raise DataError(f"layer {name!r}: {error}") from error
        if missing_rows is not None and missing_rows.any():
            feature_matrix = feature_matrix.copy()
            feature_matrix[missing_rows] = np.nan
            freeze_features(feature_matrix)
        checked_by_layer[name] = feature_matrix
    return MappingProxyType({name: checked_by_layer[name] for name in layer_names if name in checked_by_layer})


def missing_rows(matrix: Features) -> NDArray[np.bool_]:
    """Which nodes have no features in a layer: rows of nothing but NaN."""
    if not isinstance(matrix, np.ndarray) or not matrix.shape[1]:
        return np.zeros(matrix.shape[0], dtype=bool)
    return np.isnan(matrix[:, 0])


def freeze_features(matrix: Features | None) -> None:
    """Make a dense or sparse matrix read-only in place."""
    if matrix is None:
        return
    matrix_parts = [matrix] if isinstance(matrix, np.ndarray) else [matrix.data, matrix.indices, matrix.indptr]
    for matrix_part in matrix_parts:
        matrix_part.flags.writeable = False


def same_features(left: Features | None, right: Features | None) -> bool:
    """Whether two optional matrices hold the same numbers, dense or sparse."""
    if left is None or right is None:
        return left is None and right is None
    if left.shape != right.shape:
        return False
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return same_values(left, right)
    difference: Any = sp.csr_array(left) - sp.csr_array(right)
    return not np.any(difference.data)
