"""Checks of estimator parameters: each says what was given and what would be right."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np

from gramme.errors import DataError, did_you_mean


def whole(name: str, value: Any, least: int = 1) -> int:
    """A whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise DataError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return int(value)


def number(name: str, value: Any, low: float, high: float = np.inf, *, open_low: bool = False) -> float:
    """A finite number between two bounds; the upper one is not included."""
    fits = isinstance(value, (numbers.Real, np.number)) and not isinstance(value, bool)
    if fits:
        real = float(value)
        fits = np.isfinite(real) and real < high and (low < real if open_low else low <= real)
    if not fits:
        sign = "more than" if open_low else "at least"
        bound = "" if high == np.inf else f" and less than {high:g}"
        raise DataError(f"{name} must be a number of {sign} {low:g}{bound}, not {value!r}")
    return float(value)


def choice(name: str, value: Any, known: Iterable[Any]) -> Any:
    """One of the known values."""
    known = list(known)
    if value not in known:
        hint = did_you_mean(str(value), [str(one) for one in known])
        raise DataError(f"{name} cannot be {value!r}; {hint}")
    return value


def seed_of(random_state: Any) -> int:
    """A seed from an int, None (a fresh one), or a numpy random generator."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint32)[0])
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return whole("random_state", random_state, 0)
