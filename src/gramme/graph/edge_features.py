"""Numbers that describe each edge or membership: an amount, a time, a kind of contact; a row per entry of a layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from gramme.errors import DataError, did_you_mean

from .arrays import FloatArray, checked_names, frozen

MAX_EDGE_KINDS = 100
"""Distinct texts up to which a column of edges is a kind, with a feature for each; beyond, it is more likely a note."""


def checked_edge_features(
    features: ArrayLike | None, names: Sequence[str] | None, size: int, what: str, named: Callable[[int], str]
) -> tuple[FloatArray | None, tuple[str, ...] | None]:
    """Features as float64 with a name per column, or an error that names the first entry without finite numbers."""
    if features is None:
        if names is not None:
            raise DataError(f"feature_names were given for {what}s without features")
        return None, None
    if names is None and isinstance(features, pd.DataFrame):
        names = [str(column_name) for column_name in features.columns]
    try:
        feature_matrix = np.array(features, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"the features of the {what}s must be numbers, in rows of equal length: {error}") from error
    if feature_matrix.ndim == 1 and feature_matrix.size == size:
        feature_matrix = feature_matrix[:, None]
    if feature_matrix.ndim != 2 or feature_matrix.shape[0] != size:
        raise DataError(
            f"features of shape {feature_matrix.shape} were given for {size} {what}s; a row for each is needed"
        )
    if not feature_matrix.shape[1]:
        raise DataError(f"the features of the {what}s have no columns; leave them out")
    bad_rows = np.flatnonzero(~np.isfinite(feature_matrix).all(axis=1))
    if bad_rows.size:
        raise DataError(f"the features of {named(int(bad_rows[0]))} are not all finite numbers")
    if names is None:
        names = [f"feature {k + 1}" for k in range(feature_matrix.shape[1])]
    return feature_matrix, checked_names(names, feature_matrix.shape[1])


def mean_rows(features: FloatArray, group: NDArray[np.int64], count: int) -> FloatArray:
    """The mean of the rows of each group; a group of one row keeps it bit for bit."""
    group_sizes = np.bincount(group, minlength=count)
    feature_sums = np.zeros((count, features.shape[1]))
    np.add.at(feature_sums, group, features)
    return frozen(feature_sums / group_sizes[:, None])


def encoded_columns(table: Any, columns: Sequence[Any]) -> tuple[FloatArray, tuple[str, ...]]:
    """Columns of a table of edges as features and their names.

    Numbers stay as they are (models standardise them), truth values become 0 and 1, dates days since 1970; any other
    column is a kind, with a feature ``column=value`` of 0 and 1 for each of its values. A missing number becomes the
    mean of the known ones, a missing kind has 0 in all of its features.
    """
    if isinstance(columns, str) or not len(columns):
        raise DataError(f"edge_features must be a list of columns, not {columns!r}")
    feature_columns: dict[str, FloatArray] = {}
    for column_name in columns:
        if column_name not in table:
            raise DataError(
                f"the edges have no column {column_name!r}; {did_you_mean(str(column_name), map(str, table.keys()))}"
            )
        for feature_name, feature_values in _encoded(str(column_name), pd.Series(table[column_name])).items():
            if feature_columns.setdefault(feature_name, feature_values) is not feature_values:
                raise DataError(
                    f"the column {feature_name!r} was named twice in edge_features, or another makes its name"
                )
    return np.column_stack(list(feature_columns.values())), tuple(feature_columns)


def _encoded(name: str, column: pd.Series) -> dict[str, FloatArray]:
    column = column.reset_index(drop=True).infer_objects()
    if not column.notna().any():
        if not len(column):
            return {name: np.zeros(0)}
        raise DataError(f"the column {name!r} of the edges has no value at all; leave it out of edge_features")
    inferred_type = pd.api.types.infer_dtype(column, skipna=True)
    if inferred_type in ("datetime64", "datetime", "date"):
        days = pd.to_datetime(column, utc=True) - pd.Timestamp(0, tz="UTC")
        column, inferred_type = days / pd.Timedelta(days=1), "floating"
    if inferred_type in ("integer", "floating", "mixed-integer-float", "decimal", "boolean"):
        numbers = column.astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
        if np.isinf(numbers).any():
            raise DataError(f"the column {name!r} of the edges holds a number that is not finite")
        return {name: np.where(np.isnan(numbers), np.nanmean(numbers), numbers)}
    kind_codes, kind_names = pd.factorize(column.astype(str).where(column.notna()), sort=True)
    if len(kind_names) > MAX_EDGE_KINDS:
        raise DataError(
            f"the column {name!r} of the edges has {len(kind_names)} distinct texts; up to "
            f"{MAX_EDGE_KINDS} can be kinds of "
            "edges. Group them first, or leave the column out of edge_features"
        )
    return {f"{name}={kind}": (kind_codes == kind_code).astype(np.float64) for kind_code, kind in enumerate(kind_names)}
