"""Work on large arrays block by block, so that temporary arrays stay in the processor's cache."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

BLOCK = 1 << 17
"""Numbers per block and thread; a block and what is computed from it fit a core's second-level cache."""


def blocks(values: Tensor) -> Iterator[slice]:
    """Slices of the rows; a single one on devices without such a cache.

    >>> list(blocks(torch.zeros(3, 2)))
    [slice(0, 3, None)]
    """
    rows = values.shape[0]
    size = max(rows, 1)
    if values.device.type == "cpu" and rows:
        size = max(1, BLOCK * torch.get_num_threads() * rows // max(1, values.numel()))
    for start in range(0, rows, size):
        yield slice(start, min(start + size, rows))
