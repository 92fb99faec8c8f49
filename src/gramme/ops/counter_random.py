"""Random numbers for compiled loops: a counter, mixed; any stream can be started anywhere at no cost.

A stream is one 64-bit number in an array of length 1. Starting it from (seed, numbers) makes every walk independent of
the order, the thread and the process in which walks are made. The mixing is splitmix64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gramme.ops.compiled import compiled

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 1.0 / (1 << 53)

Stream = NDArray[np.uint64]


def derived_seed(seed: int, *numbers: int) -> np.uint64:
    """A 64-bit seed of its own for each purpose, from a seed of any size.

    >>> len({int(derived_seed(*numbers)) for numbers in ((0, 1), (0, 2), (10**30,), (10**30,))})
    3
    """
    return np.uint64(np.random.SeedSequence([seed, *numbers]).generate_state(1, np.uint64)[0])


@compiled
def _mixed(number: np.uint64) -> np.uint64:
    number = (number ^ (number >> _30)) * _FIRST
    number = (number ^ (number >> _27)) * _SECOND
    return number ^ (number >> _31)


@compiled
def start(stream: Stream, seed: np.uint64, first: int, second: int) -> None:
    """Set a stream to the beginning of the one that belongs to (seed, first, second)."""
    begun = _mixed(seed + _GOLDEN)
    begun = _mixed(begun ^ (np.uint64(first) + _GOLDEN))
    stream[0] = _mixed(begun ^ (np.uint64(second) * _SECOND + _GOLDEN))


@compiled
def uniform(stream: Stream) -> float:
    """A number from [0, 1) with 53 random bits."""
    stream[0] += _GOLDEN
    return float(_mixed(stream[0]) >> _11) * _UNIT


@compiled
def below(stream: Stream, bound: int) -> int:
    """A whole number from 0 .. bound - 1."""
    return int(uniform(stream) * bound)
