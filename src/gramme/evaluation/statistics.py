"""Statistics of repeated random splits: intervals, paired tests that know the splits overlap, ranks over datasets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats


def mean_interval(values: ArrayLike, level: float = 0.95) -> tuple[float, float, float]:
    """Mean, standard deviation and half the width of the t interval of the mean; NaN if there is only one value.

    >>> [round(number, 3) for number in mean_interval([80.0, 82.0, 84.0])]
    [82.0, 2.0, 4.968]
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.size < 2:
        return float(numbers.mean()) if numbers.size else math.nan, math.nan, math.nan
    spread = float(numbers.std(ddof=1))
    reach = float(stats.t.ppf(0.5 + level / 2, numbers.size - 1)) * spread / math.sqrt(numbers.size)
    return float(numbers.mean()), spread, reach


def corrected_t_test(differences: ArrayLike, test_to_train: float) -> tuple[float, float]:
    """The corrected resampled paired t-test: statistic and two-sided p-value.

    The training sets of random splits overlap, so the plain paired test finds differences that are not there. Its
    variance ``s² / n`` becomes ``s² (1 / n + test / train)``.

    Parameters
    ----------
    differences : array
        Difference of two methods' scores on each split.
    test_to_train : float
        Test nodes per training node; 0 gives the plain paired t-test.

    References
    ----------
    C. Nadeau, Y. Bengio: Inference for the generalization error. Machine Learning 52, 2003.

    Examples
    --------
    >>> statistic, p = corrected_t_test([1.0, 2.0, 3.0, 2.0], test_to_train=9.0)
    >>> round(statistic, 3), round(p, 3)
    (0.805, 0.48)
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.size < 2:
        return math.nan, math.nan
    variance = float(values.var(ddof=1)) * (1 / values.size + test_to_train)
    return _t_test(float(values.mean()), variance, values.size - 1)


def _t_test(mean: float, variance: float, freedom: float) -> tuple[float, float]:
    """Statistic and two-sided p-value of a mean difference with this variance."""
    # equal differences have a variance of rounding only
    if variance <= (1e-12 * max(1.0, abs(mean))) ** 2:
        return (0.0, 1.0) if mean == 0 else (math.copysign(math.inf, mean), 0.0)
    statistic = mean / math.sqrt(variance)
    return statistic, float(2 * stats.t.sf(abs(statistic), freedom))


MIN_SPLITS = 3
"""Fewer splits do not tell how much splits differ."""


def paired_test(one: ArrayLike, other: ArrayLike, test_nodes: float) -> tuple[float, float]:
    """Whether two methods differ, from accuracies on the same splits of a graph: statistic and two-sided p-value.

    Two things make a mean difference uncertain. Other splits would give another one: its variance is ``s² / n`` over n
    splits, which are drawn independently of each other. And the graph's nodes are a sample too, the same one in every
    split however many there are: with accuracies a and b the difference on N test nodes has a variance of at most
    ``(a (1 - a) + b (1 - b)) / N`` unless the methods tend to be right on different nodes. The t statistic has the sum
    of both in its denominator, with degrees of freedom between n - 1 and N - 1 by Welch and Satterthwaite.

    The corrected resampled test (:func:`corrected_t_test`) infers the second part from the first, which holds where
    splits differ by their test nodes above all. Here they differ by their few training nodes: with a tenth of the
    labels to learn from, its standard error is 13 times that of the splits, and hardly any difference is found.

    Parameters
    ----------
    one, other : array
        Accuracies, as shares of 1, on each split; NaN comes of fewer than three.
    test_nodes : float
        Test nodes of a split.

    Examples
    --------
    >>> statistic, p = paired_test([0.95, 0.93, 0.96], [0.80, 0.84, 0.79], test_nodes=400)
    >>> round(statistic, 2), round(p, 3)
    (4.14, 0.004)
    """
    left = np.asarray(one, dtype=np.float64)
    right = np.asarray(other, dtype=np.float64)
    differences = left - right
    if differences.size < MIN_SPLITS:
        return math.nan, math.nan
    a, b = float(left.mean()), float(right.mean())
    splits = float(differences.var(ddof=1)) / differences.size
    nodes = (a * (1 - a) + b * (1 - b)) / max(test_nodes, 1.0)
    uncertain = splits**2 / (differences.size - 1) + nodes**2 / max(test_nodes - 1, 1.0)
    freedom = (splits + nodes) ** 2 / uncertain if uncertain else math.inf
    return _t_test(float(differences.mean()), splits + nodes, freedom)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Holm's correction of several p-values; NaN stays NaN and is not counted.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=np.float64)
    corrected = np.full(values.shape, np.nan)
    there = np.flatnonzero(~np.isnan(values))
    order = there[np.argsort(values[there], kind="stable")]
    factors = np.arange(order.size, 0, -1)
    corrected[order] = np.minimum(1, np.maximum.accumulate(values[order] * factors))
    return corrected


@dataclass(frozen=True)
class Ranking:
    """Average ranks of methods over datasets, 1 the best.

    Attributes
    ----------
    methods : list of str
        In the order of their ranks.
    ranks : array
        Average ranks, ties shared.
    datasets : int
        How many datasets the averages are over.
    p_value : float
        Friedman's test that all methods are alike.
    critical_difference : float
        Nemenyi's: ranks that differ by less are not told apart at the 5 % level.
    """

    methods: list[str]
    ranks: NDArray[np.float64]
    datasets: int
    p_value: float
    critical_difference: float

    def groups(self) -> list[tuple[int, int]]:
        """Longest runs (first, last) of methods that are not told apart, of at least two."""
        found: list[tuple[int, int]] = []
        for first in range(len(self.methods)):
            reach = np.flatnonzero(self.ranks <= self.ranks[first] + self.critical_difference)
            last = int(reach[-1])
            if last > first and (not found or last > found[-1][1]):
                found.append((first, last))
        return found


def average_ranks(scores: ArrayLike, methods: Sequence[str], level: float = 0.95) -> Ranking:
    """Rank methods on every dataset by their scores, higher is better, and average.

    Parameters
    ----------
    scores : array, shape (datasets, methods)
    methods : sequence of str

    References
    ----------
    J. Demšar: Statistical comparisons of classifiers over multiple data sets. JMLR 7, 2006.

    Examples
    --------
    >>> ranking = average_ranks([[90, 80, 70], [95, 85, 85], [60, 61, 50]], ["x", "y", "z"])
    >>> ranking.methods, ranking.ranks.round(2).tolist(), round(ranking.critical_difference, 2)
    (['x', 'y', 'z'], [1.33, 1.83, 2.83], 1.91)
    """
    table = np.asarray(scores, dtype=np.float64)
    datasets, count = table.shape
    ranks = stats.rankdata(-table, axis=1).mean(axis=0)
    order = np.argsort(ranks, kind="stable")
    q = float(stats.studentized_range.ppf(level, count, np.inf)) / math.sqrt(2)
    return Ranking(
        methods=[methods[place] for place in order],
        ranks=ranks[order],
        datasets=datasets,
        p_value=_friedman(table),
        critical_difference=q * math.sqrt(count * (count + 1) / (6 * datasets)),
    )


def _friedman(table: NDArray[np.float64]) -> float:
    """Friedman's p-value, with its correction for ties; 1 where all are tied everywhere, NaN below 3 methods."""
    if table.shape[1] < 3 or table.shape[0] < 2:
        return math.nan
    if bool((table == table[:, :1]).all()):
        return 1.0
    result: Any = stats.friedmanchisquare(*table.T)
    return float(result.pvalue)


SIGNIFICANCE_LEVEL = 0.05
"""Below this corrected p-value two methods count as different."""

Test = Callable[[pd.Series, pd.Series], tuple[float, float]]


def compared(scores: pd.DataFrame, test: Test, scale: float = 100.0) -> list[dict[str, Any]]:
    """All pairs of columns over the rows that both have; a row is a split, a column a competitor.

    Of each pair ``keys`` (both competitors), ``repeats``, the mean ``difference`` in points, ``statistic`` and
    ``p_value`` of the test and, by Holm over all pairs, ``p_corrected``.
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
                "difference": scale * difference if len(both) else math.nan,
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
    found: dict[Hashable, dict[str, Any]] = {leader: {"best": sure, "level_with_best": True, "p_value": math.nan}}
    for other, p in against.items():
        level = not p < SIGNIFICANCE_LEVEL
        found[other] = {"best": False, "level_with_best": level, "p_value": p}
    return found
