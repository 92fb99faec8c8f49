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
    score_values = np.asarray(values, dtype=np.float64)
    if score_values.size < 2:
        return float(score_values.mean()) if score_values.size else math.nan, math.nan, math.nan
    standard_deviation = float(score_values.std(ddof=1))
    half_width = (
        float(stats.t.ppf(0.5 + level / 2, score_values.size - 1)) * standard_deviation / math.sqrt(score_values.size)
    )
    return float(score_values.mean()), standard_deviation, half_width


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
    score_differences = np.asarray(differences, dtype=np.float64)
    if score_differences.size < 2:
        return math.nan, math.nan
    variance = float(score_differences.var(ddof=1)) * (1 / score_differences.size + test_to_train)
    return _t_test(float(score_differences.mean()), variance, score_differences.size - 1)


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
    first_scores = np.asarray(one, dtype=np.float64)
    second_scores = np.asarray(other, dtype=np.float64)
    score_differences = first_scores - second_scores
    if score_differences.size < MIN_SPLITS:
        return math.nan, math.nan
    a, b = float(first_scores.mean()), float(second_scores.mean())
    split_variance = float(score_differences.var(ddof=1)) / score_differences.size
    node_variance = (a * (1 - a) + b * (1 - b)) / max(test_nodes, 1.0)
    variance_of_variance = split_variance**2 / (score_differences.size - 1) + node_variance**2 / max(
        test_nodes - 1, 1.0
    )
    degrees_of_freedom = (
        (split_variance + node_variance) ** 2 / variance_of_variance if variance_of_variance else math.inf
    )
    return _t_test(float(score_differences.mean()), split_variance + node_variance, degrees_of_freedom)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Holm's correction of several p-values; NaN stays NaN and is not counted.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    raw_p_values = np.asarray(p_values, dtype=np.float64)
    corrected_p_values = np.full(raw_p_values.shape, np.nan)
    known_positions = np.flatnonzero(~np.isnan(raw_p_values))
    ascending_positions = known_positions[np.argsort(raw_p_values[known_positions], kind="stable")]
    holm_factors = np.arange(ascending_positions.size, 0, -1)
    corrected_p_values[ascending_positions] = np.minimum(
        1, np.maximum.accumulate(raw_p_values[ascending_positions] * holm_factors)
    )
    return corrected_p_values


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
        method_groups: list[tuple[int, int]] = []
        for first_method in range(len(self.methods)):
            methods_in_reach = np.flatnonzero(self.ranks <= self.ranks[first_method] + self.critical_difference)
            last_method = int(methods_in_reach[-1])
            if last_method > first_method and (not method_groups or last_method > method_groups[-1][1]):
                method_groups.append((first_method, last_method))
        return method_groups


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
    score_table = np.asarray(scores, dtype=np.float64)
    num_datasets, num_methods = score_table.shape
    mean_ranks = stats.rankdata(-score_table, axis=1).mean(axis=0)
    rank_order = np.argsort(mean_ranks, kind="stable")
    q = float(stats.studentized_range.ppf(level, num_methods, np.inf)) / math.sqrt(2)
    return Ranking(
        methods=[methods[method_number] for method_number in rank_order],
        ranks=mean_ranks[rank_order],
        datasets=num_datasets,
        p_value=_friedman(score_table),
        critical_difference=q * math.sqrt(num_methods * (num_methods + 1) / (6 * num_datasets)),
    )


def _friedman(table: NDArray[np.float64]) -> float:
    """Friedman's p-value, with its correction for ties; 1 where all are tied everywhere, NaN below 3 methods."""
    if table.shape[1] < 3 or table.shape[0] < 2:
        return math.nan
    if bool((table == table[:, :1]).all()):
        return 1.0
    test_result: Any = stats.friedmanchisquare(*table.T)
    return float(test_result.pvalue)


SIGNIFICANCE_LEVEL = 0.05
"""Below this corrected p-value two methods count as different."""

Test = Callable[[pd.Series, pd.Series], tuple[float, float]]


def compared(scores: pd.DataFrame, test: Test, scale: float = 100.0) -> list[dict[str, Any]]:
    """All pairs of columns over the rows that both have; a row is a split, a column a competitor.

    Of each pair ``keys`` (both competitors), ``repeats``, the mean ``difference`` in points, ``statistic`` and
    ``p_value`` of the test and, by Holm over all pairs, ``p_corrected``.
    """
    pair_rows: list[dict[str, Any]] = []
    for first_method, second_method in itertools.combinations(scores.columns, 2):
        shared_scores = scores[[first_method, second_method]].dropna()
        statistic, p = test(shared_scores[first_method], shared_scores[second_method])
        mean_difference = float((shared_scores[first_method] - shared_scores[second_method]).mean())
        pair_rows.append(
            {
                "keys": (first_method, second_method),
                "repeats": len(shared_scores),
                "difference": scale * mean_difference if len(shared_scores) else math.nan,
                "statistic": statistic,
                "p_value": p,
            }
        )
    for row, p in zip(pair_rows, holm([row["p_value"] for row in pair_rows]), strict=True):
        row["p_corrected"] = float(p)
    return pair_rows


def verdicts(scores: pd.DataFrame, test: Test) -> dict[Hashable, dict[str, Any]]:
    """For each competitor whether it is the best, or not told from the highest mean, and the p-value of that.

    ``best`` is true for the highest mean alone, and only where the test tells it from every other.
    """
    leading_method = scores.mean().idxmax()
    p_values = {}
    for pair_row in compared(scores, test):
        if leading_method in pair_row["keys"]:
            other_method = next(key for key in pair_row["keys"] if key != leading_method)
            p_values[other_method] = pair_row["p_corrected"]
    is_best = bool(p_values) and all(p < SIGNIFICANCE_LEVEL for p in p_values.values())
    method_verdicts: dict[Hashable, dict[str, Any]] = {
        leading_method: {"best": is_best, "level_with_best": True, "p_value": math.nan}
    }
    for other_method, p in p_values.items():
        is_level = not p < SIGNIFICANCE_LEVEL
        method_verdicts[other_method] = {"best": False, "level_with_best": is_level, "p_value": p}
    return method_verdicts
