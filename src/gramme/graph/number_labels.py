"""Labels that are amounts, such as an income or an age: not classes, but they can be cut into classes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramme._wording import setting
from gramme.errors import DataError
from gramme.graph.number_groups import quantile_groups, stated_bins

MAX_NUMBER_CLASSES = 20
"""Different numbers that may still be classes, as in tables; more are amounts unless they count 0, 1, 2, ..."""
LABEL_KINDS = ("class", "number")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z")


def amounts(labels: Iterable[Any], *, text: bool = True) -> int:
    """How many different amounts the labels are; 0 where they are classes.

    Numbers that are just 0, 1, ..., k or 1, 2, ..., k and repeat are codes of classes, however many.

    Parameters
    ----------
    labels : iterable
        Without unknown ones.
    text : bool, default=True
        Whether text that spells a number counts as one.

    Examples
    --------
    >>> amounts(range(18, 80)), amounts([*range(50)] * 2), amounts(["red", "blue"])
    (62, 0, 0)
    """
    every = list(labels)
    different = set(every)
    if len(different) <= MAX_NUMBER_CLASSES:
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
    labels: Mapping[str, Any],
    kind: str | None = None,
    bins: int | None = None,
    edges: Sequence[float] | None = None,
) -> dict[str, Any]:
    """The labels by node as classes or numbers; amounts are refused unless an option says what to do with them.

    >>> settled_labels({"Ann": "17", "Bo": "42.5", "Cy": "70"}, edges=[18, 65])
    {'Ann': 'below 18', 'Bo': '[18, 65)', 'Cy': '65 and above'}
    """
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
        codes, names = (
            quantile_groups(numbers, bins) if edges is None else stated_bins(numbers, list(edges))
        )
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
