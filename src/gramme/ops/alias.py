"""Alias tables: draw from any distribution over n things with one random number, whatever n.

One table holds many distributions, one per segment of an array: the weights of each node's edges, say. Each place k of
a segment keeps its own share ``accept[k]`` of a cell and gives the rest to ``alias[k]``.

References
----------
A. J. Walker, "An efficient method for generating discrete random variables with general distributions", ACM
Transactions on Mathematical Software 3 (1977).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gramme.ops.compiled import compiled
from gramme.ops.counter_random import Stream, uniform

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@compiled
def alias_tables(indptr: Ints, weights: Floats) -> tuple[Floats, Ints]:
    """Tables of all segments ``indptr[i] .. indptr[i + 1]`` of the weights; ``alias`` holds places in the array."""
    accept = np.ones(weights.size, np.float64)
    alias = np.arange(weights.size)
    stack = np.empty(weights.size, np.int64)
    for segment in range(indptr.size - 1):
        low, high = indptr[segment], indptr[segment + 1]
        count = high - low
        total, heaviest = 0.0, low
        for k in range(low, high):
            total += weights[k]
            if weights[k] > weights[heaviest]:
                heaviest = k
        if total <= 0:
            continue
        # Small cells are stacked from the bottom of the segment's part of the stack, large ones from its top
        small, large = low, high
        for k in range(low, high):
            accept[k] = weights[k] * count / total
            if accept[k] < 1:
                stack[small] = k
                small += 1
            else:
                large -= 1
                stack[large] = k
        while small > low and large < high:
            lesser = stack[small - 1]
            greater = stack[large]
            alias[lesser] = greater
            accept[greater] -= 1 - accept[lesser]
            if accept[greater] < 1:
                large += 1
                stack[small - 1] = greater
            else:
                small -= 1
        # What is left differs from a whole cell by rounding alone, but nothing without weight may be drawn
        for place in range(low, small):
            k = stack[place]
            accept[k] = 1.0 if weights[k] > 0 else 0.0
            alias[k] = heaviest
        for place in range(large, high):
            accept[stack[place]] = 1.0
    return accept, alias


@compiled
def drawn(accept: Floats, alias: Ints, low: int, high: int, stream: Stream) -> int:
    """A place of the segment ``low .. high``, in proportion to its weight; tables of length 0 mean equal weights."""
    cell = uniform(stream) * (high - low)
    place = low + int(cell)
    if accept.size and cell - int(cell) >= accept[place]:
        return int(alias[place])
    return place
