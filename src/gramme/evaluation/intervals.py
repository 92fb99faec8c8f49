"""Intervals for an accuracy measured on a limited number of nodes."""

from __future__ import annotations

import math

from scipy.stats import norm


def accuracy_interval(right: float, total: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval for a share of ``right`` out of ``total``.

    Stays within 0 .. 1 and is sensible for small numbers and for shares near 0 or 1, where the usual plus-minus fails.

    >>> low, high = accuracy_interval(90, 100)
    >>> round(low, 3), round(high, 3)
    (0.826, 0.945)
    """
    if total <= 0:
        return 0.0, 1.0
    z = float(norm.ppf(0.5 + level / 2))
    share = min(max(right / total, 0.0), 1.0)
    centre = share + z * z / (2 * total)
    spread = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    low, high = (centre - spread) / scale, (centre + spread) / scale
    # where all or none are right, the bound is exact but for rounding
    return (
        max(0.0, low) if share > 1e-12 else 0.0,
        min(1.0, high) if share < 1 - 1e-12 else 1.0,
    )
