"""Random features that belong to a node's name, not to its place in a graph.

The value in column c for a node depends only on (seed, name, c): a hash of the three, mapped to a uniform number of
mean 0 and variance 1. A node has the same features in any graph, process or machine, and nothing needs to be stored.
Names count by their text, so that node 7 keeps its features when a file makes it "7". Uniform rather than normal
numbers because they are exact to the bit everywhere; after a projection over many columns the two cannot be told
apart.
"""

from __future__ import annotations

import weakref

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_BLOCK = 1 << 22  # numbers made at a time, which bounds the memory for scratch


def random_features(
    names: pd.Index, dim: int, seed: int, *, copy: int = 0, out: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """Uniform features of mean 0 and variance 1, shape (names, dim).

    Parameters
    ----------
    names : pandas.Index
        Names of the nodes.
    dim : int
        Columns.
    seed : int
    copy : int, default=0
        A further key, for several sets of features of the same nodes (the copies of a node in the supra graph).
    out : array of float32, shape (names, dim), optional
        Where to write.

    Examples
    --------
    >>> some = random_features(pd.Index(["Ann", "Bo"]), 3, seed=0)
    >>> more = random_features(pd.Index(["Cy", "Bo"]), 3, seed=0)
    >>> bool((some[1] == more[1]).all()), bool((some[0] == more[0]).any())
    (True, False)
    """
    result = np.empty((len(names), dim), dtype=np.float32) if out is None else out
    key = _mix(np.array([(seed + copy * int(_MIX_1)) % 2**64], dtype=np.uint64))
    row_keys = _mix(name_hashes(names) ^ key)
    columns = (np.arange(1, dim + 1, dtype=np.uint64)) * _STEP
    rows = max(1, _BLOCK // max(dim, 1))
    for start in range(0, len(names), rows):
        bits = _mix(row_keys[start : start + rows, None] + columns)
        uniform = (bits >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)
        result[start : start + rows] = (uniform - np.float32(0.5)) * np.float32(12**0.5)
    return result


def name_hashes(names: pd.Index) -> NDArray[np.uint64]:
    """A 64-bit hash of each name's text, the same on every machine.

    The latest are remembered as long as the names live: every member of an ensemble asks for them.

    >>> bool(name_hashes(pd.Index([7]))[0] == name_hashes(pd.Index(["7"]))[0])
    True
    """
    global _latest
    if len(names) == 0:
        return np.zeros(0, dtype=np.uint64)
    known = _latest
    if known is not None and known[0]() is names:
        return known[1]
    # half of a surrogate pair, as a broken file may hold, has no bytes in UTF-8: its escape stands in for it
    texts = np.array(
        [str(name).encode("utf-8", "backslashreplace").decode() for name in names], dtype=object
    )
    hashes: NDArray[np.uint64] = pd.util.hash_array(texts, categorize=False)
    hashes.flags.writeable = False
    _latest = (weakref.ref(names, _forget), hashes)
    return hashes


_latest: tuple[weakref.ref[pd.Index], NDArray[np.uint64]] | None = None


def _forget(_: object) -> None:
    global _latest
    _latest = None


def _mix(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64: every input bit reaches every output bit."""
    with np.errstate(over="ignore"):
        bits = (bits ^ (bits >> np.uint64(30))) * _MIX_1
        bits = (bits ^ (bits >> np.uint64(27))) * _MIX_2
        return bits ^ (bits >> np.uint64(31))
