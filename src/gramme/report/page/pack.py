"""Columns of numbers as compact text: a hundred thousand nodes must not make a page of a hundred megabytes."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

Packed = dict[str, Any]

FULL_SHARE = 65535
"""The whole number that stands for a share of 1."""


def pack_integers(values: NDArray[Any]) -> Packed:
    """Whole numbers from 0 in the smallest type that holds them: ``{"type": ..., "data": base64}``.

    >>> pack_integers(np.array([1, 2, 300]))
    {'type': 'u16', 'data': 'AQACACwB'}
    """
    highest = int(values.max(initial=0))
    kind = "u8" if highest < 2**8 else "u16" if highest < 2**16 else "u32"
    numbers = np.ascontiguousarray(values, dtype={"u8": "<u1", "u16": "<u2", "u32": "<u4"}[kind])
    return {"type": kind, "data": base64.b64encode(numbers.tobytes()).decode()}


def pack_shares(values: NDArray[Any]) -> Packed:
    """Shares between 0 and 1, to four digits; what is missing counts as 0.

    >>> pack_shares(np.array([0.0, 1.0]))
    {'type': 'u16', 'data': 'AAD//w=='}
    """
    whole = np.rint(np.clip(np.nan_to_num(values.astype(np.float64)), 0, 1) * FULL_SHARE)
    numbers = whole.astype("<u2")
    return {"type": "u16", "data": base64.b64encode(numbers.tobytes()).decode()}


def pack_floats(values: NDArray[Any]) -> Packed:
    """Numbers in 32 bits."""
    numbers = np.ascontiguousarray(values, dtype="<f4")
    return {"type": "f32", "data": base64.b64encode(numbers.tobytes()).decode()}
