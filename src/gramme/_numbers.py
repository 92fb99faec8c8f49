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


def number_within(value: float, width: float) -> str:
    """A number with the decimals that matter where it is known up to ``width``: three digits of that.

    >>> number_within(132.365, 94.458), number_within(-0.01, 94.458), number_within(9876.5, 5000.0)
    ('132.4', '0.0', '9,876')
    """
    if not (math.isfinite(value) and 1e-4 <= width < 1e12):
        return rough_number(value)
    text = f"{value:,.{max(0, 2 - math.floor(math.log10(width)))}f}"
    return text if text.strip("-0.,") else text.lstrip("-")
