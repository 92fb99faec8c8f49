"""Numbers as people write them."""

from __future__ import annotations

import math

DIGITS = 4


def rough_number(value: float) -> str:
    """A number to four digits, with separators and, unless it is tiny or enormous, without an exponent.

    >>> rough_number(152133.7), rough_number(0.012345), rough_number(2.0), rough_number(-98765)
    ('152,100', '0.01235', '2', '-98,760')
    """
    if not math.isfinite(value) or value == 0 or not 1e-4 <= abs(value) < 1e12:
        return f"{value:.{DIGITS}g}"
    behind = DIGITS - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, behind)
    text = f"{rounded:,.{max(behind, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
