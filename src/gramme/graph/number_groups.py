"""Numbers cut into groups: equal-width bins, stated edges or quantiles, with names that tell.

A group holds the numbers from its lower edge on and below its upper edge, "[18, 35)"; the last
one of equal-width bins and of quantiles holds its upper edge too, "[50, 80]".
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.errors import DataError

Groups = tuple[NDArray[np.int64], list[str]]
FloatArray = NDArray[np.float64]
#: So many groups may be asked for of any column; more only where there are as many rows.
FEW_GROUPS = 10
DAY_NANOSECONDS = 86_400 * 10**9


def stated_bins(values: FloatArray, bins: Any, show: Callable[[Any], str] | None = None) -> Groups:
    """Group numbers by a count of equal-width bins or by stated edges; -1 where a number is NaN.

    Numbers below the first stated edge and from the last one on join open-ended groups.

    >>> codes, names = stated_bins(np.array([10.0, 18, 20, 60]), [18, 35, 50])
    >>> [names[code] for code in codes]
    ['below 18', '[18, 35)', '[18, 35)', '50 and above']
    >>> stated_bins(np.array([0.0, 4, 10]), 2)[1]
    ['[0, 5)', '[5, 10]']
    """
    if isinstance(bins, (int, np.integer)) and not isinstance(bins, bool):
        cuts = _equal_widths(values, count_within(bins, 2, "bins", values.size))
        return _cut(values, _at_midnight(cuts, values, show), show)
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
    values: FloatArray,
    quantiles: Any,
    show: Callable[[Any], str] | None = None,
    *,
    frequent_alone: bool = False,
) -> Groups:
    """Groups of about equal size, fewer where many numbers are equal; -1 where a number is NaN.

    With ``frequent_alone``, a number whose share would fill a group is one by itself.

    >>> codes, names = quantile_groups(np.arange(8.0), 4)
    >>> np.bincount(codes).tolist(), names
    ([2, 2, 2, 2], ['[0, 1.75)', '[1.75, 3.5)', '[3.5, 5.25)', '[5.25, 7]'])
    """
    count = count_within(quantiles, 2, "quantiles", values.size)
    known = values[~np.isnan(values)]
    if not known.size:
        return np.full(values.size, -1, dtype=np.int64), []
    cuts = frequent_and_others(known, count) if frequent_alone else _equal_sizes(known, count)
    return _cut(values, _at_midnight(cuts, known, show), show)


def cut_points(
    values: FloatArray,
    way: str,
    choice: Any,
    show: Callable[[Any], str] | None = None,
    *,
    frequent_alone: bool = False,
) -> list[float]:
    """Edges that cut these numbers, and later ones alike, into the groups that were asked for.

    For a count of equal-width ``bins`` or of ``quantiles``; :func:`stated_bins` takes the result. Empty where all
    numbers are missing. ``frequent_alone`` as for :func:`quantile_groups`.

    >>> cut_points(np.arange(11.0), "bins", 2), cut_points(np.arange(8.0), "quantiles", 4)
    ([5.0], [1.75, 3.5, 5.25])
    """
    count = count_within(choice, 2, way, values.size)
    known = values[~np.isnan(values)]
    if not known.size:
        return []
    cuts = _equal_widths(known, count) if way == "bins" else _equal_sizes(known, count)
    if frequent_alone:
        cuts = frequent_and_others(known, count)
    cuts = _at_midnight(cuts, known, show)
    inside = _inside(cuts, float(known.min()), float(known.max()))
    if frequent_alone:  # a later table may have numbers beyond a frequent one that is the least or largest here
        inside = np.union1d(inside, cuts[np.isin(cuts, known)])
        inside = np.union1d(inside, cuts[np.isin(np.nextafter(cuts, -np.inf), inside)])
    found: list[float] = (inside if inside.size else known[:1]).tolist()
    return found


def count_within(value: Any, least: int, what: str, rows: int) -> int:
    """How many groups or neighbours are asked for; far more than there are rows would fill the memory."""
    count = at_least(value, least, what)
    if count > max(rows, FEW_GROUPS):
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


def _span(values: FloatArray) -> tuple[float, float]:
    known = values[~np.isnan(values)]
    return (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)


def _equal_widths(values: FloatArray, count: int) -> FloatArray:
    low, high = _span(values)
    share: FloatArray = np.arange(1, count) / count
    # Not low + share * (high - low), which overflows between very large numbers
    return low * (1 - share) + high * share


def _equal_sizes(known: FloatArray, count: int) -> FloatArray:
    return np.quantile(known, np.linspace(0, 1, count + 1)[1:-1])


def frequent_and_others(known: FloatArray, count: int) -> FloatArray:
    """Cuts around each number that as many rows have as a group should, and between the others.

    >>> frequent_and_others(np.array([0.0, 0, 0, 0, 0, 0, 1, 2, 3, 4]), 3)
    array([0.0e+000, 4.9e-324, 2.5e+000])
    """
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


def _at_midnight(
    cuts: FloatArray, values: FloatArray, show: Callable[[Any], str] | None
) -> FloatArray:
    """Cuts between whole days moved to the start of a day, which parts the same days and reads better."""
    known = values[~np.isnan(values)]
    if show is not show_time or (known % DAY_NANOSECONDS).any():
        return cuts
    return np.ceil(cuts / DAY_NANOSECONDS) * DAY_NANOSECONDS


def _inside(cuts: FloatArray, low: float, high: float) -> FloatArray:
    """The different cuts that part some numbers from others."""
    inside = np.unique(cuts)
    return inside[(inside > low) & (inside <= high)]


def _cut(values: FloatArray, cuts: FloatArray, show: Callable[[Any], str] | None) -> Groups:
    """Groups between the smallest number, the cuts and the largest number."""
    low, high = _span(values)
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
