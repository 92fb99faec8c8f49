"""The features of a graph's nodes: checked once, kept read-only, compared whatever their form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme.errors import DataError, did_you_mean
from gramme.graph.arrays import plain, same_values

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
        name = plain(nodes[int(bad_rows[0])])
        raise DataError(f"the features of node {name!r} are not all finite numbers")
    freeze_features(matrix)
    return matrix  # type: ignore[no-any-return]


def checked_feature_names(
    names: Sequence[str] | None, features: Features | None
) -> tuple[str, ...] | None:
    """A distinct name for each column of the features, or None where they have none."""
    if names is None:
        return None
    found = tuple(names)
    columns = 0 if features is None else features.shape[1]
    if isinstance(names, str) or not all(isinstance(name, str) for name in found):
        raise DataError(f"feature_names must be texts, not {names!r}")
    if len(found) != columns:
        raise DataError(f"{len(found)} feature_names were given for {columns} columns of features")
    if len(set(found)) < len(found):
        double = next(name for place, name in enumerate(found) if name in found[:place])
        raise DataError(f"two features have the name {double!r}; names must differ")
    return found


def checked_layer_features(
    features: Mapping[str, Any] | None, layers: Iterable[str], nodes: pd.Index
) -> Mapping[str, Features]:
    """Features by layer, each checked as :func:`checked_features` does; a row of NaN alone is missing and stays."""
    names, found = list(layers), {}
    for name, given in (features or {}).items():
        if name not in names:
            raise DataError(
                f"features were given for the layer {name!r}, which is not there; {did_you_mean(str(name), names)}"
            )
        try:
            matrix = given
            missing = None
            if not sp.issparse(given):
                matrix = np.array(given)
                if matrix.ndim == 2 and matrix.dtype.kind == "f" and matrix.shape[1]:
                    missing = np.isnan(matrix).all(axis=1)
                    matrix[missing] = 0
            matrix = checked_features(matrix, nodes)
        except (DataError, TypeError, ValueError) as error:
            raise DataError(f"layer {name!r}: {error}") from error
        if missing is not None and missing.any():
            matrix = matrix.copy()
            matrix[missing] = np.nan
            freeze_features(matrix)
        found[name] = matrix
    return MappingProxyType({name: found[name] for name in names if name in found})


def missing_rows(matrix: Features) -> NDArray[np.bool_]:
    """Which nodes have no features in a layer: rows of nothing but NaN."""
    if not isinstance(matrix, np.ndarray) or not matrix.shape[1]:
        return np.zeros(matrix.shape[0], dtype=bool)
    return np.isnan(matrix[:, 0])


def freeze_features(matrix: Features | None) -> None:
    """Make a dense or sparse matrix read-only in place."""
    if matrix is None:
        return
    parts = (
        [matrix] if isinstance(matrix, np.ndarray) else [matrix.data, matrix.indices, matrix.indptr]
    )
    for part in parts:
        part.flags.writeable = False


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


def same_layer_features(left: Mapping[str, Features], right: Mapping[str, Features]) -> bool:
    """Whether two graphs have the same features for the same layers."""
    return left.keys() == right.keys() and all(
        same_features(matrix, right[name]) for name, matrix in left.items()
    )
