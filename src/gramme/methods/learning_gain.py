"""How much less often a model misses a label than models that learned from fewer labels do.

Labels are tested by models that have not seen them, and these learned from a part of the labels only. The model itself
learned from all, so it misses fewer. How many fewer is told by models of half of the labels: where these miss many
more, every label still teaches something. We take the misses of a model of n labels to be a + b / n, and go on from
half of the labels over the part that the folds had to all of them.
"""

from __future__ import annotations

CAUTION_MISSES = 2.0
"""Misses added to those of the folds, so that a handful does not tell of a steep curve. This and the bounds were chosen
on random splits and synthetic graphs that no benchmark uses; docs/sets.md."""
LEAST_RATIO, MOST_RATIO = 0.6, 1.2
"""Bounds of the ratio, which holds little else than chance beyond them."""


def miss_ratio(misses: int, half_misses: int, folds: int) -> float:
    """What share of the misses of its folds a model of all labels makes itself.

    Parameters
    ----------
    misses : int
        Labels that were missed by models of all folds but one.
    half_misses : int
        Of the same labels, those that were missed by models of half of the labels.
    folds : int
        Parts of the labels; 1 without the gain of more labels, and for two parts, which tell nothing further.

    Examples
    --------
    >>> miss_ratio(10, 10, folds=5), miss_ratio(10, 19, folds=5)
    (1.0, 0.75)
    >>> miss_ratio(10, 100, folds=5)  # never below
    0.6
    """
    if folds <= 2:
        return 1.0
    # 1 / n of the models of the folds, where that of the model is 1 and of a half 2
    tested = folds / (folds - 1)
    gain = (half_misses - misses) * (tested - 1) / (2 - tested)
    ratio = 1 - gain / (misses + CAUTION_MISSES)
    return min(max(ratio, LEAST_RATIO), MOST_RATIO)
