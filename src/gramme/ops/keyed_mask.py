"""Dropout that belongs to a node, not to its place among the rows of one process.

Whether a number is kept depends on (seed, call, node, column) alone: the same nodes are dropped however the graph is
divided between processes. A hash of the four, by the mixing of splitmix64, is compared with the probability.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gramme.ops.compiled import compiled
from gramme.ops.counter_random import derived_seed

_STEP = 0x9E3779B97F4A7C15
_FIRST = 0xBF58476D1CE4E5B9
_SECOND = 0x94D049BB133111EB


def keyed_mask(
    keys: Tensor | None, rows: int, columns: int, seed: int, call: int, keep: float, like: Tensor
) -> Tensor:
    """Zeros and 1 / keep, shape (rows, columns), with the type and device of ``like``.

    Parameters
    ----------
    keys : tensor of int64, shape (rows,), optional
        What each row is known by; its number if not given.
    rows, columns : int
    seed, call : int
        Of a member, and the number of the mask among those it has drawn.
    keep : float
        Probability to be kept.
    like : tensor

    Examples
    --------
    >>> whole = keyed_mask(None, 6, 3, 0, 0, 0.5, torch.zeros(1))
    >>> part = keyed_mask(torch.tensor([1, 4]), 2, 3, 0, 0, 0.5, torch.zeros(1))
    >>> bool((whole[[1, 4]] == part).all())
    True
    """
    start = int(derived_seed(seed, call))
    below = int(keep * 2**53)
    if like.device.type != "cpu":
        return _on_device(keys, rows, columns, start, below, like) / keep
    names = torch.arange(rows) if keys is None else keys.cpu()
    kept = np.empty((rows, columns), dtype=np.float32)
    _fill(names.numpy(), np.uint64(start), np.uint64(below), np.float32(1), kept)
    return torch.from_numpy(kept).to(like.dtype).div_(keep)


@compiled
def _fill(
    keys: NDArray[np.int64],
    start: np.uint64,
    below: np.uint64,
    one: np.float32,
    out: NDArray[np.float32],
) -> None:
    for row in range(out.shape[0]):
        number = np.uint64(keys[row]) * np.uint64(_STEP) + start
        number = (number ^ (number >> np.uint64(30))) * np.uint64(_FIRST)
        number = (number ^ (number >> np.uint64(27))) * np.uint64(_SECOND)
        base = number ^ (number >> np.uint64(31))
        for column in range(out.shape[1]):
            bits = base + np.uint64(column + 1) * np.uint64(_STEP)
            bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(_FIRST)
            bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(_SECOND)
            bits = (bits ^ (bits >> np.uint64(31))) >> np.uint64(11)
            out[row, column] = one if bits < below else np.float32(0)


def _on_device(
    keys: Tensor | None, rows: int, columns: int, start: int, below: int, like: Tensor
) -> Tensor:
    """The same in torch's own operations, whose 64-bit numbers have a sign but wrap around all the same."""
    names = torch.arange(rows, device=like.device) if keys is None else keys.to(like.device)
    base = _mixed(names * _signed(_STEP) + _signed(start))
    steps = torch.arange(1, columns + 1, device=like.device) * _signed(_STEP)
    bits = _shifted(_mixed(base[:, None] + steps), 11)
    return (bits < below).to(like.dtype)


def _mixed(bits: Tensor) -> Tensor:
    bits = (bits ^ _shifted(bits, 30)) * _signed(_FIRST)
    bits = (bits ^ _shifted(bits, 27)) * _signed(_SECOND)
    return bits ^ _shifted(bits, 31)


def _shifted(bits: Tensor, places: int) -> Tensor:
    """A shift to the right that fills up with zeros."""
    return (bits >> places) & ((1 << (64 - places)) - 1)


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number
