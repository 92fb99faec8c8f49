"""Labels divided into folds, so that each can be predicted by a model that has not seen it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LARGE_ENTRIES = 2_000_000
"""Nodes, memberships and ends of edges over all layers, beyond which no more folds are tested than have ..."""
ENOUGH_LABELS = 1_000  # ... so many labels


def stratified_folds(codes: NDArray[np.int64], folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of each label, with every class spread evenly over the folds.

    Parameters
    ----------
    codes : array of int, shape (labels,)
        The class of each label.
    folds : int
        There are fewer folds if there are fewer labels.
    seed : int

    Examples
    --------
    >>> fold = stratified_folds(np.array([0, 0, 0, 0, 1, 1]), 2, seed=0)
    >>> np.bincount(fold[:4]).tolist(), np.bincount(fold[4:]).tolist()
    ([2, 2], [1, 1])
    """
    shuffled = np.random.default_rng(seed).permutation(codes.size)
    return dealt_in_turn(shuffled[np.argsort(codes[shuffled], kind="stable")], folds)


def dealt_in_turn(order: NDArray[np.int64], folds: int) -> NDArray[np.int64]:
    """The fold of each of some positions when they are dealt out in an order, like cards.

    >>> dealt_in_turn(np.array([2, 0, 1]), 2).tolist()
    [1, 0, 0]
    """
    fold = np.empty(order.size, dtype=np.int64)
    fold[order] = np.arange(order.size) % min(folds, max(order.size, 1))
    return fold


def is_large(entries: int) -> bool:
    """Whether so many nodes, memberships and ends of edges are enough to save time with every choice of settings."""
    return entries > LARGE_ENTRIES


def enough_folds(fold: NDArray[np.int64], entries: int) -> NDArray[np.int64]:
    """The fold of each label, -1 where the fold is not tested since the data are large and other folds are enough.

    >>> enough_folds(np.arange(6) % 3, entries=100)
    array([0, 1, 2, 0, 1, 2])
    >>> np.unique(enough_folds(np.arange(4000) % 5, entries=5_000_000))
    array([-1,  0,  1])
    """
    if not is_large(entries) or not fold.size:
        return fold
    enough = int(np.searchsorted(np.cumsum(np.bincount(fold)), ENOUGH_LABELS)) + 1
    return np.where(fold < enough, fold, -1)
