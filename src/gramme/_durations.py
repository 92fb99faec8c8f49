"""Times in words."""

from __future__ import annotations

import re


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


def seconds_of(text: str) -> float:
    """The seconds that a time like 90s, 10m, 1.5h or 1h30m is; a plain number is seconds.

    >>> seconds_of("90"), seconds_of("10m"), seconds_of("1h30m")
    (90.0, 600.0, 5400.0)
    """
    found = re.fullmatch(
        r"\s*(?:([0-9.]+)\s*h)?\s*(?:([0-9.]+)\s*m(?:in)?)?\s*(?:([0-9.]+)\s*s?)?\s*", text.lower()
    )
    try:
        parts = [float(one or 0) for one in found.groups()] if found else []
    except ValueError:
        parts = []
    if not any(parts):
        raise ValueError(f"{text!r} is not a time; write it as 90s, 10m or 1h30m")
    return sum(part * unit for part, unit in zip(parts, (3600, 60, 1), strict=True))


def rough_duration(seconds: float) -> str:
    """A time that is only guessed, in one unit.

    >>> rough_duration(0.2), rough_duration(130), rough_duration(7300)
    ('1 s', '2 min', '2.0 h')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
