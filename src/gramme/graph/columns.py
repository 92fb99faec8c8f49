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
    codes = np.searchsorted(edges, values, side="right").astype(np.int64)
    codes[np.isnan(values)] = -1
    texts = _texts(edges, show)
    inner = _names(edges, texts)
    last = f"above {_texts(edges[-2:-1], show)[0]}" if _alone(edges[-2:]) else f"{texts[-1]} and above"
    return codes, [f"below {texts[0]}", *inner, last]


def quantile_groups(
    values: FloatArray, quantiles: Any, show: Callable[[Any], str] | None = None, *, frequent_alone: bool = False
) -> Groups:
    """Groups of about equal size, fewer where many numbers are equal; -1 where a number is NaN.

    With ``frequent_alone``, a number whose share would fill a group is one by itself.
    """
    cuts = _chosen_cuts(values, "quantiles", quantiles, show, frequent_alone)
    if np.isnan(values).all():
        return np.full(values.size, -1, dtype=np.int64), []
    return _cut(values, cuts, show)


def cut_points(
    values: FloatArray, way: str, choice: Any, show: Callable[[Any], str] | None = None, *, frequent_alone: bool = False
) -> list[float]:
    """Edges that cut these numbers, and later ones alike, into the groups that were asked for.

    For a count of equal-width ``bins`` or of ``quantiles``; :func:`stated_bins` takes the result. Empty where all
    numbers are missing. ``frequent_alone`` as for :func:`quantile_groups`.
    """
    cuts = _chosen_cuts(values, way, choice, show, frequent_alone)
    known = values[~np.isnan(values)]
    if not known.size:
        return []
    inside = _inside(cuts, float(known.min()), float(known.max()))
    if frequent_alone:  # a later table may have numbers beyond a frequent one that is the least or largest here
        inside = np.union1d(inside, cuts[np.isin(cuts, known)])
        inside = np.union1d(inside, cuts[np.isin(np.nextafter(cuts, -np.inf), inside)])
    found: list[float] = (inside if inside.size else known[:1]).tolist()
    return found


def count_within(value: Any, least: int, what: str, rows: int) -> int:
    """How many groups or neighbours are asked for; far more than there are rows would fill the memory."""
    count = at_least(value, least, what)
    if count > max(rows, 10):  # ten may be asked for of any column
        raise DataError(f"{count} {what} are more than the {rows} rows; ask for fewer")
    return count


def at_least(value: Any, least: int, what: str) -> int:
    """A whole number of at least ``least``, or an error that quotes what was given."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < least:
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
    count = count_within(choice, 2, way, values.size)
    known = values[~np.isnan(values)]
    if not known.size:
        return known
    cuts: FloatArray
    if way == "bins":
        share = np.arange(1, count) / count
        # not low + share * (high - low), which overflows between very large numbers
        cuts = known.min() * (1 - share) + known.max() * share
    else:
        cuts = frequent_and_others(known, count) if frequent_alone else _equal_sizes(known, count)
    if show is show_time and not (known % DAY_NANOSECONDS).any():  # which parts the same days and reads better
        cuts = np.ceil(cuts / DAY_NANOSECONDS) * DAY_NANOSECONDS
    return cuts


def _equal_sizes(known: FloatArray, count: int) -> FloatArray:
    return np.quantile(known, np.linspace(0, 1, count + 1)[1:-1])


def frequent_and_others(known: FloatArray, count: int) -> FloatArray:
    """Cuts around each number that as many rows have as a group should, and between the others."""
    different, times = np.unique(known, return_counts=True)
    frequent = different[times * count >= known.size] if different.size > count else different[:0]
    if not frequent.size:
        return _equal_sizes(known, count)
    others = np.sort(known[~np.isin(known, frequent)])
    groups = max(count - frequent.size, 2)
    cuts = _equal_sizes(others, groups) if others.size else others
    # a cut close to a frequent number would leave a group of very few between them
    between = np.searchsorted(others, cuts)[:, None] - np.searchsorted(others, frequent)
    cuts = cuts[(np.abs(between) >= others.size / (2 * groups)).all(axis=1)]
    return np.unique(np.concatenate([frequent, np.nextafter(frequent, np.inf), cuts]))


def _inside(cuts: FloatArray, low: float, high: float) -> FloatArray:
    """The different cuts that part some numbers from others."""
    inside = np.unique(cuts)
    return inside[(inside > low) & (inside <= high)]


def _cut(values: FloatArray, cuts: FloatArray, show: Callable[[Any], str] | None) -> Groups:
    """Groups between the smallest number, the cuts and the largest number."""
    known = values[~np.isnan(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    inside = _inside(cuts, low, high)
    codes = np.searchsorted(inside, values, side="right").astype(np.int64)
    codes[np.isnan(values)] = -1
    # The largest number may be a cut itself; then the last group holds it alone
    edges = np.concatenate([[low], inside, [high]])
    names = _names(edges, _texts(edges, show))
    if names[-1].endswith(")"):
        names[-1] = names[-1][:-1] + "]"
    if high > low and np.nextafter(high, np.inf) in cuts:  # the largest number, by itself
        names[-1] = _texts(edges[-1:], show)[0]
    return codes, names


def _alone(ends: FloatArray) -> bool:
    """Whether no number but the first lies between two ends."""
    return ends.size == 2 and bool(ends[1] == np.nextafter(ends[0], np.inf))


def _names(edges: FloatArray, texts: list[str]) -> list[str]:
    """The names of the groups between edges: "[18, 35)", "above 0" after a group of 0 alone, "0" for that group."""
    names = []
    for place, (low, high) in enumerate(pairwise(texts)):
        if _alone(edges[place : place + 2]):
            names.append(low)
        elif place and _alone(edges[place - 1 : place + 1]):
            names.append(f"({texts[place - 1]}, {high})")
        else:
            names.append(f"[{low}, {high})")
    return names


def _texts(edges: FloatArray, show: Callable[[Any], str] | None) -> list[str]:
    """Edges as text with as few digits as keep different edges apart."""
    if show is not None:
        texts = [show(edge) for edge in edges]
        if len(set(texts)) == np.unique(edges).size:
            return texts
    for digits in (4, 6, 9, 12, 17):
        texts = [_text(edge, digits) for edge in edges.tolist()]
        if len(set(texts)) == np.unique(edges).size:
            break
    return texts


def _text(edge: float, digits: int) -> str:
    """A number with so many digits, and at least those before its point: 14351, not 1.435e+04."""
    text = f"{edge:.{digits}g}"
    if abs(edge) < 1e15:
        if edge.is_integer():
            return str(int(edge))
        if "e+" in text:
            return f"{edge:.0f}"
    return text


# Labels that are amounts, such as an income or an age: not classes, but they can be cut into classes.
LABEL_KINDS = ("class", "number")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z")


def amounts(labels: Iterable[Any], *, text: bool = True) -> int:
    """How many different amounts the labels are; 0 where they are classes.

    Numbers that are just 0, 1, ..., k or 1, 2, ..., k and repeat are codes of classes, however many.
    """
    every = list(labels)
    different = set(every)
    if len(different) <= MAX_CATEGORIES:
        return 0
    numbers = set()
    for label in different:
        if isinstance(label, (bool, np.bool_)):
            return 0
        spelled = text and isinstance(label, str) and _NUMBER.match(label.strip())
        if spelled or isinstance(label, (int, float, np.number)):
            numbers.add(float(label))
        else:
            return 0
    repeated = len(every) > 1.5 * len(different)
    codes = repeated and any(numbers == set(map(float, range(k, k + len(numbers)))) for k in (0, 1))
    return 0 if codes else len(different)


def settled_labels(
    labels: Mapping[str, Any], kind: str | None = None, bins: int | None = None, edges: Sequence[float] | None = None
) -> dict[str, Any]:
    """The labels by node as classes or numbers; amounts are refused unless an option says what to do with them."""
    if kind is not None and kind not in LABEL_KINDS:
        raise DataError(f"{setting('label_kind')} must be 'class' or 'number', not {kind!r}")
    if sum(one is not None for one in (kind, bins, edges)) > 1:
        names = [setting(name) for name in ("label_kind", "label_bins", "label_edges")]
        raise DataError(f"say one of {names[0]}, {names[1]} and {names[2]}")
    if kind == "class":
        return dict(labels)
    if kind == "number" or bins is not None or edges is not None:
        numbers = _as_numbers(labels)
        if kind == "number":
            return dict(zip(labels, numbers.tolist(), strict=True))
        codes, names = quantile_groups(numbers, bins) if edges is None else stated_bins(numbers, list(edges))
        return {node: names[code] for node, code in zip(labels, codes.tolist(), strict=True)}
    count = amounts(labels.values())
    if count:
        raise DataError(too_many(count, len(labels)))
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
    numbers = np.empty(len(labels))
    for place, (node, label) in enumerate(labels.items()):
        try:
            numbers[place] = float(str(label).strip().replace(",", "."))
        except ValueError:
            numbers[place] = np.nan
        if not np.isfinite(numbers[place]):
            raise DataError(
                f"the label {label!r} of {node!r} is not a number; if it means 'not known', add "
                f"{setting('missing', [label])}"
            )
    return numbers


# Dates as groups of the calendar: rows of the same decade, year, month or day of the week are alike.
UNITS = ("decade", "year", "month", "weekday")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def calendar_groups(nanoseconds: NDArray[np.float64], unit: str) -> tuple[NDArray[Any], list[str]]:
    """The group of each moment, -1 for NaN, and the groups' names in order."""
    if unit not in UNITS:
        raise DataError(f"dates are grouped by decade, year, month or weekday; {did_you_mean(str(unit), UNITS)}")
    known = ~np.isnan(nanoseconds)
    moments = pd.DatetimeIndex(nanoseconds[known].astype(np.int64))
    number, show = _numbered(moments, unit)
    different, found = np.unique(number.to_numpy(), return_inverse=True)
    codes = np.full(nanoseconds.size, -1, dtype=np.int64)
    codes[known] = found
    return codes, [show(int(value)) for value in different]


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
    usual, usual_choice = _usual_way(numbers, show)
    if numbers is None or (way is None and usual == "categories"):
        codes, names = _factorized(column)
        return _grouped(codes, names if numbers is None else [int(value) for value in names], missing)
    frequent_alone = way is None
    if way is None:
        way, choice = usual, usual_choice
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
                choice = pd.DatetimeIndex([pd.Timestamp(edge) for edge in choice]).as_unit("ns").asi8
            except (TypeError, ValueError, OverflowError) as error:
                raise DataError(f"bins of dates must be a whole number or dates: {error}") from error
        return _grouped(*stated_bins(numbers, choice, show), missing)
    return _grouped(*quantile_groups(numbers, choice, show, frequent_alone=frequent_alone), missing)


def _usual_way(numbers: FloatArray | None, show: Callable[[Any], str] | None) -> tuple[str, Any]:
    """What becomes of a column about which nothing was said."""
    if numbers is None:
        return "categories", None
    if show is not None:
        unit = usual_unit(numbers)
        return ("quantiles", DEFAULT_QUANTILES) if unit is None else ("dates", unit)
    found = pd.unique(numbers[~np.isnan(numbers)])
    # few whole numbers are codes of something, not amounts; with gaps they arrive as floats
    few = len(found) <= MAX_CATEGORIES and bool((found == np.floor(found)).all())
    return ("categories", None) if few else ("quantiles", DEFAULT_QUANTILES)


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
    edges = cut_points(numbers, way, choice, show, frequent_alone=frequent_alone)
    if not edges:
        return "categories", None
    if show is not None:
        return "bins", [pd.Timestamp(int(edge)).isoformat() for edge in edges]
    return "bins", edges


def as_numbers(column: pd.Series, *, required: bool) -> tuple[NDArray[np.float64] | None, Callable[[Any], str] | None]:
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
        raise DataError(f"{plain(column.iloc[row])!r} in row {row + 1} is not a finite number")
    return values, None


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
