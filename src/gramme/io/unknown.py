"""Which text means "not known": the same marks in labels, in tables and in attributes of nodes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

#: Cells that mean "not known", besides empty ones: what R, SPSS, SAS, Excel, pandas, SQL and UCI write for it.
UNKNOWN = (
    "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "Null", "null", "?", ".",
)  # fmt: skip


def unknown_marks(missing: str | Iterable[str] = (), *, keep_na: bool = False) -> frozenset[str]:
    """The marks that mean "not known": the usual ones unless they are to be kept, and those that were named.

    >>> sorted(unknown_marks(["99"], keep_na=True))
    ['99']
    """
    named = [missing] if isinstance(missing, str) else list(missing)
    return frozenset((*(() if keep_na else UNKNOWN), *map(str, named)))


def is_unknown(value: Any, marks: frozenset[str]) -> bool:
    """Whether a value means "not known": nothing, blank text, NaN, or one of the marks.

    >>> [
    ...     is_unknown(value, unknown_marks())
    ...     for value in ("NA", " ", "Nadia", None, 0, float("nan"))
    ... ]
    [True, True, False, True, False, True]
    """
    if isinstance(value, str):
        text = value.strip()
        return not text or text in marks
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    return str(value) in marks


def known_labels(
    labels: Mapping[str, Any], marks: frozenset[str]
) -> tuple[dict[str, Any], str | None]:
    """The labels without those that mean "not known", and a sentence about the marks that were met.

    >>> known_labels({"Ann": "red", "Bo": "NA", "Cy": ""}, unknown_marks())
    ({'Ann': 'red'}, '1 label read as unknown: NA')
    """
    known: dict[str, Any] = {}
    met: Counter[str] = Counter()
    for node, label in labels.items():
        if not is_unknown(label, marks):
            known[node] = label
        elif label is not None and str(label).strip():
            met[str(label).strip()] += 1
    return known, _sentence(met)


def labels_told(cells: Mapping[Any, int], marks: frozenset[str]) -> str | None:
    """A sentence about the marks among the labels of a table, from how often each cell stands there.

    >>> labels_told({"red": 3, "NA": 2, " ": 1}, unknown_marks())
    '2 labels read as unknown: NA'
    """
    met: Counter[str] = Counter()
    for cell, count in cells.items():
        if is_unknown(cell, marks) and cell is not None and str(cell).strip():
            met[str(cell).strip()] += int(count)
    return _sentence(met)


def _sentence(met: Counter[str]) -> str | None:
    if not met:
        return None
    count = sum(met.values())
    named = ", ".join(mark for mark, _ in met.most_common(5)) + (", ..." if len(met) > 5 else "")
    return f"{count:,} label{'s' if count > 1 else ''} read as unknown: {named}"
