"""Compiled functions: numba with the options every kernel of this room uses, in a form type checkers understand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])

ZERO: Any = np.int64(0)
"""The number 0 for a compiled function to pass on: a plain 0 is a type of its own, for which others compile again."""


def compiled(function: Function) -> Function:
    """Compile a function when it is first called, keep the machine code on disk, run without the interpreter's lock."""
    return cast(Function, numba.njit(cache=True, nogil=True)(function))


def compiled_sums(function: Function) -> Function:
    """The same for sums of floats, whose terms may be added in any order; one machine always adds in the same one."""
    made = numba.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")(function)
    return cast(Function, made)


def compiled_careful_sums(function: Function) -> Function:
    """The same for sums that may contain NaN, which must not get lost."""
    order = {"contract", "reassoc", "nsz", "arcp"}
    made = numba.njit(cache=True, nogil=True, fastmath=order, error_model="numpy")(function)
    return cast(Function, made)


@compiled
def logistic(score: float) -> float:
    """1 / (1 + exp(-score)), also for scores that exp could not hold."""
    return 1.0 / (1.0 + math.exp(-min(max(score, -30.0), 30.0)))
