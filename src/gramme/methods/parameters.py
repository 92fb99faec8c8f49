"""Checks of estimator parameters: each says what was given and what would be right."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from gramme.errors import DataError, did_you_mean


def whole(name: str, value: Any, least: int = 1) -> int:
    """A whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise DataError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return int(value)


def number(
    name: str, value: Any, low: float, high: float = np.inf, *, open_low: bool = False
) -> float:
    """A finite number between two bounds; the upper one is not included."""
    try:
        real = float(value) if isinstance(value, numbers.Real) else np.nan
    except OverflowError:
        real = np.nan
    inside = real < high and (low < real if open_low else low <= real)
    if isinstance(value, bool) or not inside:
        sign = "more than" if open_low else "at least"
        bound = "" if high == np.inf else f" and less than {high:g}"
        raise DataError(f"{name} must be a number of {sign} {low:g}{bound}, not {value!r}")
    return real


def choice(name: str, value: Any, known: Iterable[str | None]) -> Any:
    """One of the known words, or None where that is among them."""
    known = list(known)
    if not isinstance(value, (str, type(None))) or value not in known:
        hint = did_you_mean(str(value), [str(one) for one in known])
        raise DataError(f"{name} cannot be {value!r}; {hint}")
    return value


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise DataError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def device_of(name: Any) -> torch.device:
    """A device that is there: "auto" takes a GPU if there is one."""
    if isinstance(name, str) and name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    problem = "is not known to torch"
    if isinstance(name, (str, torch.device)):
        try:
            device = torch.device(name)
            torch.empty(1, device=device).cpu()
            return device
        except (RuntimeError, AssertionError, NotImplementedError) as error:
            if "cuda" in str(name) and not torch.cuda.is_available():
                problem = "is not there: torch finds no GPU on this machine"
            else:
                problem = f"cannot be used ({str(error).splitlines()[0][:100]})"
    raise DataError(f"device {name!r} {problem}; use auto, cpu or cuda")


def seed_of(random_state: Any) -> int:
    """A seed from an int, None (a fresh one), or a numpy random generator."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint32)[0])
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    try:
        return whole("random_state", random_state, 0)
    except DataError as error:
        raise DataError(f"{error}; None and numpy's generators do as well") from None
