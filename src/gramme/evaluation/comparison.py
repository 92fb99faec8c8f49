"""Every pair of competitors on the same splits, and who of them is the best: shared by labels and links."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable
from typing import Any

import pandas as pd

from gramme.evaluation.statistics import holm

SIGNIFICANCE_LEVEL = 0.05
"""Below this corrected p-value two methods count as different."""

Test = Callable[[pd.Series, pd.Series], tuple[float, float]]


def compared(scores: pd.DataFrame, test: Test) -> list[dict[str, Any]]:
    """All pairs of columns over the rows that both have.

    Parameters
    ----------
    scores : DataFrame
        A row per split, a column per competitor, shares of 1.
    test : callable
        Gives statistic and p-value of two columns.

    Returns
    -------
    list of dict
        ``keys`` (both competitors), ``repeats``, the mean ``difference`` in points, ``statistic``, ``p_value`` and, by
        Holm over all pairs, ``p_corrected``.
    """
    rows: list[dict[str, Any]] = []
    for one, other in itertools.combinations(scores.columns, 2):
        both = scores[[one, other]].dropna()
        statistic, p = test(both[one], both[other])
        difference = float((both[one] - both[other]).mean())
        rows.append(
            {
                "keys": (one, other),
                "repeats": len(both),
                "difference": 100 * difference if len(both) else math.nan,
                "statistic": statistic,
                "p_value": p,
            }
        )
    for row, p in zip(rows, holm([row["p_value"] for row in rows]), strict=True):
        row["p_corrected"] = float(p)
    return rows


def verdicts(scores: pd.DataFrame, test: Test) -> dict[Hashable, dict[str, Any]]:
    """For each competitor whether it is the best, or not told from the highest mean, and the p-value of that.

    ``best`` is true for the highest mean alone, and only where the test tells it from every other.
    """
    leader = scores.mean().idxmax()
    against = {}
    for row in compared(scores, test):
        if leader in row["keys"]:
            other = next(key for key in row["keys"] if key != leader)
            against[other] = row["p_corrected"]
    sure = bool(against) and all(p < SIGNIFICANCE_LEVEL for p in against.values())
    found: dict[Hashable, dict[str, Any]] = {
        leader: {"best": sure, "level_with_best": True, "p_value": math.nan}
    }
    for other, p in against.items():
        level = not p < SIGNIFICANCE_LEVEL
        found[other] = {"best": False, "level_with_best": level, "p_value": p}
    return found
