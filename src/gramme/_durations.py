"""Times in words."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """A time in words, to the second where it is short.

    >>> duration(42), duration(130), duration(7300)
    ('42 s', '2 min 10 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def rough_duration(seconds: float) -> str:
    """A time that is only guessed, in one unit.

    >>> rough_duration(0.2), rough_duration(130), rough_duration(7300)
    ('1 s', '2 min', '2.0 h')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
