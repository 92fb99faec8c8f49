"""One column of a table as a layer: categories, groups of numbers, nearest numbers, or lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.graph.arrays import loose_index, plain
from gramme.graph.calendar_groups import calendar_groups, usual_unit
from gramme.graph.layer import Layer
from gramme.graph.membership_layer import MembershipLayer
from gramme.graph.nearest_numbers import nearest_layer
from gramme.graph.number_groups import (
    at_least,
    count_within,
    cut_points,
    quantile_groups,
    show_time,
    stated_bins,
)

MAX_CATEGORIES = 20
DEFAULT_QUANTILES = 5
MISSING = "missing"
POLICIES = ("nobody", "group", "median", "most common")


def column_layer(
    column: pd.Series, way: str | None = None, choice: Any = None, *, missing: str = "nobody"
) -> Layer:
    """The layer of a column.

    Parameters
    ----------
    column : Series
        A cell per node.
    way : {"categories", "bins", "quantiles", "knn", "separator", "dates"}, optional
        What was said about the column; where nothing was, its values decide.
    choice
        The number of bins, quantiles or neighbours, the edges of bins, the separator, or the unit of the calendar.
    missing : {"nobody", "group", "median", "most common"}, default="nobody"
        What becomes of missing values.

    Examples
    --------
    >>> column_layer(pd.Series([1, 2, 2, None]), missing="group")
    MembershipLayer(4 nodes, 3 groups, 1 implied edges)
    """
    if way == "separator":
        return _several_values(column, choice, missing)
    if missing in ("median", "most common") and column.isna().any():
        column = _filled(column, missing)
    if way == "categories":
        return _grouped(*_named_by_text(column), missing)
    numbers, show = as_numbers(column, required=way is not None)
    if numbers is None or (way is None and show is None and _few_whole_numbers(numbers)):
        return _categories(column, numbers is not None, missing)
    if way is None and show is not None and usual_unit(numbers) is not None:
        way, choice = "dates", usual_unit(numbers)
    if way == "dates":
        if show is None:
            raise DataError("this is no column of dates")
        return _grouped(*calendar_groups(numbers, choice), missing)
    if way == "knn":
        return nearest_layer(numbers, at_least(choice, 1, "knn"))
    if way == "bins":
        if show is not None and not isinstance(choice, int):
            choice = _moments(choice)
        codes, names = stated_bins(numbers, choice, show)
    else:
        codes, names = quantile_groups(
            numbers, choice if way else DEFAULT_QUANTILES, show, frequent_alone=way is None
        )
    return _grouped(codes, names, missing)


def settled(column: pd.Series, way: str | None = None, choice: Any = None) -> tuple[str, Any]:
    """The way and choice that make the same groups of another table's column as of this one.

    What :func:`column_layer` would decide by looking at the values is decided here once: whether they are categories,
    and where numbers are cut.

    >>> settled(pd.Series([1, 2, 2])), settled(pd.Series([0.0, 4.0, 10.0]), "bins", 2)
    (('categories', None), ('bins', [5.0]))
    """
    if way in ("categories", "separator"):
        return way, choice
    numbers, show = as_numbers(column, required=way is not None)
    if numbers is None or (way is None and show is None and _few_whole_numbers(numbers)):
        return "categories", None
    if way == "dates":
        column_layer(column, way, choice)
        return way, choice
    if way is None and show is not None and usual_unit(numbers) is not None:
        return "dates", usual_unit(numbers)
    if way == "knn":
        return way, count_within(choice, 1, "knn", len(column))
    if way == "bins" and not isinstance(choice, (int, np.integer)):
        return way, list(choice)
    edges = cut_points(
        numbers,
        way or "quantiles",
        choice if way else DEFAULT_QUANTILES,
        show,
        frequent_alone=way is None,
    )
    if not edges:
        return "categories", None
    if show is not None:
        return "bins", [pd.Timestamp(int(edge)).isoformat() for edge in edges]
    return "bins", edges


def _moments(edges: Any) -> NDArray[np.int64]:
    """Edges of bins that are dates, in nanoseconds."""
    try:
        # one by one: of several texts at once pandas wants all with parts of a second, or none
        return pd.DatetimeIndex([pd.Timestamp(edge) for edge in edges]).as_unit("ns").asi8
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"bins of dates must be a whole number or dates: {error}") from error


def as_numbers(
    column: pd.Series, *, required: bool
) -> tuple[NDArray[np.float64] | None, Callable[[Any], str] | None]:
    """The column as float64 with NaN for missing, and how to show an edge; None for categories."""
    kind = column.dtype
    gaps = column.isna().to_numpy()
    if pd.api.types.is_datetime64_any_dtype(kind):
        moments = column.dt.tz_convert(None) if isinstance(kind, pd.DatetimeTZDtype) else column
        try:
            nanoseconds = moments.astype("datetime64[ns]").to_numpy().astype(np.int64)
        except pd.errors.OutOfBoundsDatetime:
            raise DataError("a date is before 1678 or after 2261; make it missing") from None
        return np.where(gaps, np.nan, nanoseconds.astype(np.float64)), show_time
    number = pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind)
    if isinstance(kind, np.dtype) and kind.kind == "O":
        inferred = pd.api.types.infer_dtype(column, skipna=True)
        number = inferred in ("integer", "floating", "mixed-integer-float", "decimal")
    if not number and not required:
        return None, None
    if pd.api.types.is_complex_dtype(kind):
        raise DataError("complex numbers have no order, so they make no groups")
    if isinstance(kind, pd.CategoricalDtype):
        column = column.astype(object)
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.isinf(values) | (np.isnan(values) & ~gaps)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise DataError(f"{plain(column.iloc[row])!r} in row {row} is not a finite number")
    return values, None


def _few_whole_numbers(numbers: NDArray[np.float64]) -> bool:
    """Whether these are whole numbers with few different ones: codes of something, not amounts.

    Whole numbers with gaps arrive as floats, since pandas has no other way to mark the gaps.
    """
    found = pd.unique(numbers[~np.isnan(numbers)])
    return len(found) <= MAX_CATEGORIES and bool((found == np.floor(found)).all())


def _filled(column: pd.Series, missing: str) -> pd.Series:
    """The column with a value of its own in the gaps, so that filling makes no new group."""
    known = column[column.notna()]
    if not len(known):
        raise DataError(f"missing={missing!r} needs at least one value that is not missing")
    if missing == "median":
        numbers, _ = as_numbers(known, required=False)
        if numbers is None:
            raise DataError("missing='median' needs numbers; this is text or categories")
        value = known.iloc[int(np.argsort(numbers, kind="stable")[(len(known) - 1) // 2])]
    else:
        codes, found = _factorized(known)
        value = found[int(np.bincount(codes).argmax())]
    return column.fillna(value)


def _categories(column: pd.Series, whole: bool, missing: str) -> MembershipLayer:
    codes, names = _factorized(column)
    return _grouped(codes, [int(value) for value in names] if whole else names, missing)


def _named_by_text(column: pd.Series) -> tuple[NDArray[Any], list[str]]:
    """Categories that have the same name whether 1 arrives as a whole number, as 1.0 or as text."""
    codes, found = _factorized(column)
    texts = [
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for value in (plain(value) for value in found)
    ]
    merged, names = pd.factorize(np.array(texts, dtype=object))
    return np.where(codes < 0, -1, merged[codes]) if len(texts) else codes, list(names)


def _factorized(column: pd.Series) -> tuple[NDArray[Any], Any]:
    try:
        return pd.factorize(column)
    except TypeError as error:
        raise DataError(f"{error}; a cell holds one value, or text with a separator") from error


def _several_values(column: pd.Series, separator: Any, missing: str) -> MembershipLayer:
    if not isinstance(separator, str) or not separator:
        raise DataError(f"separator must be text such as ';', not {separator!r}")
    if missing not in ("nobody", "group"):
        raise DataError(f"missing={missing!r} is not for cells with several values")
    rows: list[int] = []
    values: list[str] = []
    gaps = column.isna().tolist()
    for row, cell in enumerate(column.astype(object)):
        parts = [] if gaps[row] else [part.strip() for part in str(cell).split(separator)]
        parts = [part for part in parts if part]
        if not parts and missing == "group":
            parts = [MISSING]
        rows.extend([row] * len(parts))
        values.extend(parts)
    codes, names = pd.factorize(np.array(values, dtype=object))
    return MembershipLayer(len(column), np.array(rows, dtype=np.int64), codes, names)


def _grouped(codes: NDArray[Any], names: Iterable[Any], missing: str) -> MembershipLayer:
    index = loose_index(names)
    if missing == "group" and (codes < 0).any():
        place = int(index.get_indexer(pd.Index([MISSING], dtype=object))[0])
        if place < 0:
            place, index = len(index), loose_index([*index, MISSING])
        codes = np.where(codes < 0, place, codes)
    return MembershipLayer.from_codes(codes, index)
