"""One column of a table as a layer: categories, groups of numbers, nearest numbers, or lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme._text import setting
from gramme.errors import DataError, did_you_mean

from .arrays import FloatArray, loose_index, plain
from .layer import Layer
from .membership_layer import MembershipLayer
from .nearest import nearest_layer

MAX_CATEGORIES = 20
"""Different numbers, labels or dates of the calendar that may be categories; more are amounts."""

# Numbers cut into groups: equal-width bins, stated edges or quantiles, with names that tell.
Groups = tuple[NDArray[np.int64], list[str]]
DAY_NANOSECONDS = 86_400 * 10**9


def stated_bins(values: FloatArray, bins: Any, show: Callable[[Any], str] | None = None) -> Groups:
    """Group numbers by a count of equal-width bins or by stated edges; -1 where a number is NaN.

    Numbers below the first stated edge and from the last one on join open-ended groups.
    """
    if isinstance(bins, (int, np.integer)) and not isinstance(bins, bool):
        return _cut(values, _chosen_cuts(values, "bins", bins, show), show)
    try:
        edges = np.array(bins, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"bins must be a whole number or a list of edges, not {bins!r}") from error
    if edges.ndim != 1 or not edges.size or not np.isfinite(edges).all():
        raise DataError(f"bins must be a whole number or a list of edges, not {bins!r}")
    if (np.diff(edges) <= 0).any():
        raise DataError(f"the edges of bins must rise, unlike {bins!r}")
    bin_codes = np.searchsorted(edges, values, side="right").astype(np.int64)
    bin_codes[np.isnan(values)] = -1
    edge_texts = _texts(edges, show)
    inner_names = _names(edges, edge_texts)
    last_name = f"above {_texts(edges[-2:-1], show)[0]}" if _alone(edges[-2:]) else f"{edge_texts[-1]} and above"
    return bin_codes, [f"below {edge_texts[0]}", *inner_names, last_name]


def quantile_groups(
    values: FloatArray, quantiles: Any, show: Callable[[Any], str] | None = None, *, frequent_alone: bool = False
) -> Groups:
    """Groups of about equal size, fewer where many numbers are equal; -1 where a number is NaN.

    With ``frequent_alone``, a number whose share would fill a group is one by itself.
    """
    cut_values = _chosen_cuts(values, "quantiles", quantiles, show, frequent_alone)
    if np.isnan(values).all():
        return np.full(values.size, -1, dtype=np.int64), []
    return _cut(values, cut_values, show)


def cut_points(
    values: FloatArray, way: str, choice: Any, show: Callable[[Any], str] | None = None, *, frequent_alone: bool = False
) -> list[float]:
    """Edges that cut these numbers, and later ones alike, into the groups that were asked for.

    For a count of equal-width ``bins`` or of ``quantiles``; :func:`stated_bins` takes the result. Empty where all
    numbers are missing. ``frequent_alone`` as for :func:`quantile_groups`.
    """
    cut_values = _chosen_cuts(values, way, choice, show, frequent_alone)
    known_values = values[~np.isnan(values)]
    if not known_values.size:
        return []
    inner_cuts = _inside(cut_values, float(known_values.min()), float(known_values.max()))
    if frequent_alone:  # a later table may have numbers beyond a frequent one that is the least or largest here
        inner_cuts = np.union1d(inner_cuts, cut_values[np.isin(cut_values, known_values)])
        inner_cuts = np.union1d(inner_cuts, cut_values[np.isin(np.nextafter(cut_values, -np.inf), inner_cuts)])
    cut_list: list[float] = (inner_cuts if inner_cuts.size else known_values[:1]).tolist()
    return cut_list


def count_within(value: Any, least: int, what: str, rows: int) -> int:
    """How many groups or neighbours are asked for; far more than there are rows would fill the memory."""
    asked_count = at_least(value, least, what)
    if asked_count > max(rows, 10):  # ten may be asked for of any column
        raise DataError(f"{asked_count} {what} are more than the {rows} rows; ask for fewer")
    return asked_count


def at_least(value: Any, least: int, what: str) -> int:
    """A whole number of at least ``least``, or an error that quotes what was given."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_whole or value < least:
        raise DataError(f"{what} must be a whole number of at least {least}, not {value!r}")
    return int(value)


def show_time(value: Any) -> str:
    """A moment given in nanoseconds, as text; midnight without its zeros."""
    moment = pd.Timestamp(int(value))
    return str(moment.date()) if moment == moment.normalize() else str(moment.round("s"))


def _chosen_cuts(
    values: FloatArray, way: str, choice: Any, show: Callable[[Any], str] | None, frequent_alone: bool = False
) -> FloatArray:
    """Cuts between so many bins of equal width or groups of about equal size; those between days at midnight."""
    group_count = count_within(choice, 2, way, values.size)
    known_values = values[~np.isnan(values)]
    if not known_values.size:
        return known_values
    cut_values: FloatArray
    if way == "bins":
        width_shares = np.arange(1, group_count) / group_count
        # not low + share * (high - low), which overflows between very large numbers
        cut_values = known_values.min() * (1 - width_shares) + known_values.max() * width_shares
    else:
        cut_values = (
            frequent_and_others(known_values, group_count)
            if frequent_alone
            else _equal_sizes(known_values, group_count)
        )
    if show is show_time and not (known_values % DAY_NANOSECONDS).any():  # which parts the same days and reads better
        cut_values = np.ceil(cut_values / DAY_NANOSECONDS) * DAY_NANOSECONDS
    return cut_values


def _equal_sizes(known: FloatArray, count: int) -> FloatArray:
    return np.quantile(known, np.linspace(0, 1, count + 1)[1:-1])


def frequent_and_others(known: FloatArray, count: int) -> FloatArray:
    """Cuts around each number that as many rows have as a group should, and between the others."""
    distinct_values, value_counts = np.unique(known, return_counts=True)
    frequent_values = (
        distinct_values[value_counts * count >= known.size] if distinct_values.size > count else distinct_values[:0]
    )
    if not frequent_values.size:
        return _equal_sizes(known, count)
    other_values = np.sort(known[~np.isin(known, frequent_values)])
    other_groups = max(count - frequent_values.size, 2)
    cut_values = _equal_sizes(other_values, other_groups) if other_values.size else other_values
    # a cut close to a frequent number would leave a group of very few between them
    values_between = np.searchsorted(other_values, cut_values)[:, None] - np.searchsorted(other_values, frequent_values)
    cut_values = cut_values[(np.abs(values_between) >= other_values.size / (2 * other_groups)).all(axis=1)]
    return np.unique(np.concatenate([frequent_values, np.nextafter(frequent_values, np.inf), cut_values]))


def _inside(cuts: FloatArray, low: float, high: float) -> FloatArray:
    """The different cuts that part some numbers from others."""
    inner_cuts = np.unique(cuts)
    return inner_cuts[(inner_cuts > low) & (inner_cuts <= high)]


def _cut(values: FloatArray, cuts: FloatArray, show: Callable[[Any], str] | None) -> Groups:
    """Groups between the smallest number, the cuts and the largest number."""
    known_values = values[~np.isnan(values)]
    lowest_value, highest_value = (
        (float(known_values.min()), float(known_values.max())) if known_values.size else (0.0, 0.0)
    )
    inner_cuts = _inside(cuts, lowest_value, highest_value)
    bin_codes = np.searchsorted(inner_cuts, values, side="right").astype(np.int64)
    bin_codes[np.isnan(values)] = -1
    # The largest number may be a cut itself; then the last group holds it alone
    bin_edges = np.concatenate([[lowest_value], inner_cuts, [highest_value]])
    bin_names = _names(bin_edges, _texts(bin_edges, show))
    if bin_names[-1].endswith(")"):
        bin_names[-1] = bin_names[-1][:-1] + "]"
    if highest_value > lowest_value and np.nextafter(highest_value, np.inf) in cuts:  # the largest number, by itself
        bin_names[-1] = _texts(bin_edges[-1:], show)[0]
    return bin_codes, bin_names


def _alone(ends: FloatArray) -> bool:
    """Whether no number but the first lies between two ends."""
    return ends.size == 2 and bool(ends[1] == np.nextafter(ends[0], np.inf))


def _names(edges: FloatArray, texts: list[str]) -> list[str]:
    """The names of the groups between edges: "[18, 35)", "above 0" after a group of 0 alone, "0" for that group."""
    bin_names = []
    for bin_number, (low, high) in enumerate(pairwise(texts)):
        if _alone(edges[bin_number : bin_number + 2]):
            bin_names.append(low)
        elif bin_number and _alone(edges[bin_number - 1 : bin_number + 1]):
            bin_names.append(f"({texts[bin_number - 1]}, {high})")
        else:
            bin_names.append(f"[{low}, {high})")
    return bin_names


def _texts(edges: FloatArray, show: Callable[[Any], str] | None) -> list[str]:
    """Edges as text with as few digits as keep different edges apart."""
    if show is not None:
        edge_texts = [show(edge) for edge in edges]
        if len(set(edge_texts)) == np.unique(edges).size:
            return edge_texts
    for digits in (4, 6, 9, 12, 17):
        edge_texts = [_text(edge, digits) for edge in edges.tolist()]
        if len(set(edge_texts)) == np.unique(edges).size:
            break
    return edge_texts


def _text(edge: float, digits: int) -> str:
    """A number with so many digits, and at least those before its point: 14351, not 1.435e+04."""
    edge_text = f"{edge:.{digits}g}"
    if abs(edge) < 1e15:
        if edge.is_integer():
            return str(int(edge))
        if "e+" in edge_text:
            return f"{edge:.0f}"
    return edge_text


# Labels that are amounts, such as an income or an age: not classes, but they can be cut into classes.
LABEL_KINDS = ("class", "number")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z")


def amounts(labels: Iterable[Any], *, text: bool = True) -> int:
    """How many different amounts the labels are; 0 where they are classes.

    Numbers that are just 0, 1, ..., k or 1, 2, ..., k and repeat are codes of classes, however many.
    """
    all_labels = list(labels)
    distinct_labels = set(all_labels)
    if len(distinct_labels) <= MAX_CATEGORIES:
        return 0
    numbers = set()
    for label in distinct_labels:
        if isinstance(label, (bool, np.bool_)):
            return 0
        is_spelled = text and isinstance(label, str) and _NUMBER.match(label.strip())
        if is_spelled or isinstance(label, (int, float, np.number)):
            numbers.add(float(label))
        else:
            return 0
    labels_repeat = len(all_labels) > 1.5 * len(distinct_labels)
    are_codes = labels_repeat and any(numbers == set(map(float, range(k, k + len(numbers)))) for k in (0, 1))
    return 0 if are_codes else len(distinct_labels)


def settled_labels(
    labels: Mapping[str, Any], kind: str | None = None, bins: int | None = None, edges: Sequence[float] | None = None
) -> dict[str, Any]:
    """The labels by node as classes or numbers; amounts are refused unless an option says what to do with them."""
    if kind is not None and kind not in LABEL_KINDS:
        raise DataError(f"{setting('label_kind')} must be 'class' or 'number', not {kind!r}")
    if sum(choice_given is not None for choice_given in (kind, bins, edges)) > 1:
        option_names = [setting(option_name) for option_name in ("label_kind", "label_bins", "label_edges")]
        raise DataError(f"say one of {option_names[0]}, {option_names[1]} and {option_names[2]}")
    if kind == "class":
        return dict(labels)
    if kind == "number" or bins is not None or edges is not None:
        numbers = _as_numbers(labels)
        if kind == "number":
            return dict(zip(labels, numbers.tolist(), strict=True))
        label_codes, option_names = (
            quantile_groups(numbers, bins) if edges is None else stated_bins(numbers, list(edges))
        )
        return {node: option_names[code] for node, code in zip(labels, label_codes.tolist(), strict=True)}
    amount_count = amounts(labels.values())
    if amount_count:
        raise DataError(too_many(amount_count, len(labels)))
    return dict(labels)


def too_many(count: int, total: int) -> str:
    """What to say about labels that are amounts."""
    return (
        f"the labels are numbers with {count:,} different values on {total:,} nodes, amounts rather than classes. "
        f"Cut them into classes with {setting('label_bins', 4)}, of about equal size, or with "
        f"{setting('label_edges')} where you say; {setting('label_kind', 'number')} keeps numbers for a regression, "
        f"{setting('label_kind', 'class')} makes each number a class"
    )


def _as_numbers(labels: Mapping[str, Any]) -> NDArray[np.float64]:
    label_numbers = np.empty(len(labels))
    for label_position, (node, label) in enumerate(labels.items()):
        try:
            label_numbers[label_position] = float(str(label).strip().replace(",", "."))
        except ValueError:
            label_numbers[label_position] = np.nan
        if not np.isfinite(label_numbers[label_position]):
            raise DataError(
                f"the label {label!r} of {node!r} is not a number; if it means 'not known', add "
                f"{setting('missing', [label])}"
            )
    return label_numbers


# Dates as groups of the calendar: rows of the same decade, year, month or day of the week are alike.
UNITS = ("decade", "year", "month", "weekday")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def calendar_groups(nanoseconds: NDArray[np.float64], unit: str) -> tuple[NDArray[Any], list[str]]:
    """The group of each moment, -1 for NaN, and the groups' names in order."""
    if unit not in UNITS:
        raise DataError(f"dates are grouped by decade, year, month or weekday; {did_you_mean(str(unit), UNITS)}")
    is_known = ~np.isnan(nanoseconds)
    moments = pd.DatetimeIndex(nanoseconds[is_known].astype(np.int64))
    group_numbers, name_of = _numbered(moments, unit)
    distinct_numbers, known_codes = np.unique(group_numbers.to_numpy(), return_inverse=True)
    date_codes = np.full(nanoseconds.size, -1, dtype=np.int64)
    date_codes[is_known] = known_codes
    return date_codes, [name_of(int(group_number)) for group_number in distinct_numbers]


def _numbered(moments: pd.DatetimeIndex, unit: str) -> tuple[pd.Index, Callable[[int], str]]:
    """Each moment's group as a number, and how to name one."""
    if unit == "decade":
        return moments.year // 10, lambda number: f"{number}0s"
    if unit == "year":
        return moments.year, str
    if unit == "month":
        return moments.year * 12 + moments.month - 1, lambda month: f"{month // 12:04d}-{month % 12 + 1:02d}"
    return moments.day_of_week, lambda day: _WEEKDAYS[day]


def usual_unit(nanoseconds: NDArray[np.float64]) -> str | None:
    """The first of year, decade and month that makes more than two groups and not too many; None if none does."""
    for unit in ("year", "decade", "month"):
        if 2 < len(calendar_groups(nanoseconds, unit)[1]) <= MAX_CATEGORIES:
            return unit
    return None


DEFAULT_QUANTILES = 5
MISSING = "missing"
POLICIES = ("nobody", "group", "median", "most common")


def column_layer(column: pd.Series, way: str | None = None, choice: Any = None, *, missing: str = "nobody") -> Layer:
    """The layer of a column, made in the ``way`` that was said; where nothing was, its values decide."""
    if way == "separator":
        return _several_values(column, choice, missing)
    if missing in ("median", "most common") and column.isna().any():
        column = _filled(column, missing)
    if way == "categories":
        return _grouped(*_named_by_text(column), missing)
    numbers, show = as_numbers(column, required=way is not None)
    usual_way, usual_choice = _usual_way(numbers, show)
    if numbers is None or (way is None and usual_way == "categories"):
        value_codes, value_names = _factorized(column)
        return _grouped(
            value_codes,
            value_names if numbers is None else [int(category_value) for category_value in value_names],
            missing,
        )
    frequent_alone = way is None
    if way is None:
        way, choice = usual_way, usual_choice
    if way == "dates":
        if show is None:
            raise DataError("this is no column of dates")
        return _grouped(*calendar_groups(numbers, choice), missing)
    if way == "knn":
        return nearest_layer(numbers, at_least(choice, 1, "knn"))
    if way == "bins":
        if show is not None and not isinstance(choice, int):
            try:
                # one by one: of several texts at once pandas wants all with parts of a second, or none
                choice = pd.DatetimeIndex([pd.Timestamp(date_edge) for date_edge in choice]).as_unit("ns").asi8
            except (TypeError, ValueError, OverflowError) as error:
                raise DataError(f"bins of dates must be a whole number or dates: {error}") from error
        return _grouped(*stated_bins(numbers, choice, show), missing)
    return _grouped(*quantile_groups(numbers, choice, show, frequent_alone=frequent_alone), missing)


def _usual_way(numbers: FloatArray | None, show: Callable[[Any], str] | None) -> tuple[str, Any]:
    """What becomes of a column about which nothing was said."""
    if numbers is None:
        return "categories", None
    if show is not None:
        date_unit = usual_unit(numbers)
        return ("quantiles", DEFAULT_QUANTILES) if date_unit is None else ("dates", date_unit)
    distinct_numbers = pd.unique(numbers[~np.isnan(numbers)])
    # few whole numbers are codes of something, not amounts; with gaps they arrive as floats
    are_categories = len(distinct_numbers) <= MAX_CATEGORIES and bool(
        (distinct_numbers == np.floor(distinct_numbers)).all()
    )
    return ("categories", None) if are_categories else ("quantiles", DEFAULT_QUANTILES)


def settled(column: pd.Series, way: str | None = None, choice: Any = None) -> tuple[str, Any]:
    """The way and choice that make the same groups of another table's column as of this one.

    What :func:`column_layer` would decide by looking at the values is decided here once: whether they are categories,
    and where numbers are cut.
    """
    if way in ("categories", "separator"):
        return way, choice
    numbers, show = as_numbers(column, required=way is not None)
    frequent_alone = way is None
    if way is None:
        way, choice = _usual_way(numbers, show)
    elif way == "dates":
        column_layer(column, way, choice)
    if numbers is None or way == "categories":
        return "categories", None
    if way == "dates":
        return way, choice
    if way == "knn":
        return way, count_within(choice, 1, "knn", len(column))
    if way == "bins" and not isinstance(choice, (int, np.integer)):
        return way, list(choice)
    bin_edges = cut_points(numbers, way, choice, show, frequent_alone=frequent_alone)
    if not bin_edges:
        return "categories", None
    if show is not None:
        return "bins", [pd.Timestamp(int(edge)).isoformat() for edge in bin_edges]
    return "bins", bin_edges


def as_numbers(column: pd.Series, *, required: bool) -> tuple[NDArray[np.float64] | None, Callable[[Any], str] | None]:
    """The column as float64 with NaN for missing, and how to show an edge; None for categories."""
    column_type = column.dtype
    is_missing = column.isna().to_numpy()
    if pd.api.types.is_datetime64_any_dtype(column_type):
        moments = column.dt.tz_convert(None) if isinstance(column_type, pd.DatetimeTZDtype) else column
        try:
            nanoseconds = moments.astype("datetime64[ns]").to_numpy().astype(np.int64)
        except pd.errors.OutOfBoundsDatetime:
            raise DataError("a date is before 1678 or after 2261; make it missing") from None
        return np.where(is_missing, np.nan, nanoseconds.astype(np.float64)), show_time
    is_number = pd.api.types.is_numeric_dtype(column_type) and not pd.api.types.is_bool_dtype(column_type)
    if isinstance(column_type, np.dtype) and column_type.kind == "O":
        inferred_type = pd.api.types.infer_dtype(column, skipna=True)
        is_number = inferred_type in ("integer", "floating", "mixed-integer-float", "decimal")
    if not is_number and not required:
        return None, None
    if pd.api.types.is_complex_dtype(column_type):
        raise DataError("complex numbers have no order, so they make no groups")
    if isinstance(column_type, pd.CategoricalDtype):
        column = column.astype(object)
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    not_finite = np.isinf(values) | (np.isnan(values) & ~is_missing)
    if not_finite.any():
        wrong_row = int(np.flatnonzero(not_finite)[0])
        raise DataError(f"{plain(column.iloc[wrong_row])!r} in row {wrong_row + 1} is not a finite number")
    return values, None


def _filled(column: pd.Series, missing: str) -> pd.Series:
    """The column with a value of its own in the gaps, so that filling makes no new group."""
    known_cells = column[column.notna()]
    if not len(known_cells):
        raise DataError(f"missing={missing!r} needs at least one value that is not missing")
    if missing == "median":
        numbers, _ = as_numbers(known_cells, required=False)
        if numbers is None:
            raise DataError("missing='median' needs numbers; this is text or categories")
        fill_value = known_cells.iloc[int(np.argsort(numbers, kind="stable")[(len(known_cells) - 1) // 2])]
    else:
        value_codes, distinct_values = _factorized(known_cells)
        fill_value = distinct_values[int(np.bincount(value_codes).argmax())]
    return column.fillna(fill_value)


def _named_by_text(column: pd.Series) -> tuple[NDArray[Any], list[str]]:
    """Categories that have the same name whether 1 arrives as a whole number, as 1.0 or as text."""
    value_codes, distinct_values = _factorized(column)
    value_texts = [
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for value in (plain(value) for value in distinct_values)
    ]
    merged_codes, distinct_names = pd.factorize(np.array(value_texts, dtype=object))
    return np.where(value_codes < 0, -1, merged_codes[value_codes]) if len(value_texts) else value_codes, list(
        distinct_names
    )


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
    member_rows: list[int] = []
    member_values: list[str] = []
    is_missing = column.isna().tolist()
    for row, cell in enumerate(column.astype(object)):
        cell_values = [] if is_missing[row] else [cell_value.strip() for cell_value in str(cell).split(separator)]
        cell_values = [cell_value for cell_value in cell_values if cell_value]
        if not cell_values and missing == "group":
            cell_values = [MISSING]
        member_rows.extend([row] * len(cell_values))
        member_values.extend(cell_values)
    group_codes, group_names = pd.factorize(np.array(member_values, dtype=object))
    return MembershipLayer(len(column), np.array(member_rows, dtype=np.int64), group_codes, group_names)


def _grouped(codes: NDArray[Any], names: Iterable[Any], missing: str) -> MembershipLayer:
    group_names = loose_index(names)
    if missing == "group" and (codes < 0).any():
        missing_code = int(group_names.get_indexer(pd.Index([MISSING], dtype=object))[0])
        if missing_code < 0:
            missing_code, group_names = len(group_names), loose_index([*group_names, MISSING])
        codes = np.where(codes < 0, missing_code, codes)
    return MembershipLayer.from_codes(codes, group_names)
