"""The weight of an edge as text: a positive finite number, or an error that says why not."""

from __future__ import annotations

import math
import re

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")


def parse_number(text: str) -> float:
    """A finite number in plain notation; ValueError with the reason otherwise.

    >>> parse_number("-2.5e3")
    -2500.0
    """
    if not _NUMBER.match(text):
        raise ValueError(f"{text[:80]!r} is not a number")
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:80]!r} is larger than a number can be")
    return value


def parse_weight(text: str) -> float:
    """A positive number; ValueError with the reason otherwise.

    >>> parse_weight("-1")
    Traceback (most recent call last):
    ...
    ValueError: the weight is '-1'; weights must be positive numbers
    """
    try:
        value = parse_number(text)
    except ValueError as error:
        raise ValueError(f"the weight {error}") from None
    if value <= 0:
        raise ValueError(f"the weight is {text[:80]!r}; weights must be positive numbers")
    return value


def format_number(value: float) -> str:
    """The shortest text that reads back as the same number; whole numbers without a point.

    >>> format_number(2.0), format_number(0.1)
    ('2', '0.1')
    """
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
