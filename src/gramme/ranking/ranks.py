"""Values become ranks: 1 is best."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata


def ranks_of(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rank 1 for the largest value; equal values (but for rounding) share the better rank.

    >>> ranks_of(np.array([0.2, 0.5, 0.2, 0.1])).tolist()
    [2, 1, 2, 4]
    """
    largest = np.abs(values).max(initial=0.0)
    rounded = np.round(values / largest, 9) if largest > 0 else values
    return rankdata(-rounded, method="min").astype(np.int64)
