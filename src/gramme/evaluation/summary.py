"""From single runs to tables: means with intervals, every pair of methods compared, ranks over datasets."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from gramme.errors import DataError, did_you_mean

from .ledger import Ledger
from .run import Metric, metric_name
from .statistics import Ranking, Test, average_ranks, compared, corrected_t_test, mean_interval, paired_test, verdicts

_METHODS = ("deepwalk", "node2vec", "line", "pmne-r", "mne", "gramme-sg", "gramme-fusion")
# What the paper published: accuracies in percent, a row for 10, 20 and 30 % training nodes each, columns as _METHODS.
_TABLE: Mapping[str, tuple[tuple[float, ...], ...]] = {
    "vickers_chan": (
        (72.0, 51.07, 76.6, 50.87, 85.76, 98.94, 99.21),
        (83.55, 51.97, 87.06, 53.28, 88.37, 98.94, 99.21),
        (89.97, 52.88, 89.97, 53.88, 91.72, 98.94, 99.21),
    ),
    "congress_votes": (
        (98.96, 98.46, 97.03, 98.88, 95.62, 100.0, 100.0),
        (99.69, 99.5, 98.8, 99.75, 97.56, 100.0, 100.0),
        (99.99, 99.55, 99.7, 99.77, 98.37, 100.0, 100.0),
    ),
    "leskovec_ng": (
        (91.16, 81.76, 68.54, 85.58, 73.34, 91.56, 93.32),
        (96.35, 85.41, 77.39, 89.71, 85.79, 96.25, 97.62),
        (98.31, 86.99, 83.58, 91.35, 89.9, 98.3, 98.73),
    ),
    "reinnovation": (
        (72.02, 72.18, 51.98, 70.76, 72.51, 76.42, 75.28),
        (73.13, 74.04, 55.21, 73.45, 75.4, 80.72, 79.0),
        (76.02, 76.13, 60.13, 75.29, 74.72, 83.16, 80.95),
    ),
    "mammography": (
        (75.72, 76.38, 76.39, 76.48, 75.13, 82.27, 82.63),
        (73.99, 77.41, 75.4, 76.91, 76.72, 83.01, 83.28),
        (74.13, 77.82, 76.16, 75.51, 77.59, 83.06, 83.75),
    ),
    "ckm_social": (
        (97.31, 95.7, 90.88, 97.42, 92.86, 96.65, 98.66),
        (98.12, 97.92, 94.35, 98.2, 95.27, 99.14, 98.91),
        (99.08, 98.34, 96.32, 98.34, 96.83, 99.19, 99.68),
    ),
    "balance_scale": (
        (81.07, 80.58, 54.08, 81.85, 77.71, 77.67, 80.15),
        (86.15, 86.22, 58.95, 88.74, 80.31, 78.67, 86.58),
        (87.27, 88.61, 64.44, 89.87, 83.34, 79.1, 88.72),
    ),
}

PAPER_ACCURACY: Mapping[tuple[str, str, float], float] = MappingProxyType(
    {
        (dataset, method, float(percent)): accuracy
        for dataset, rows in _TABLE.items()
        for percent, row in zip((10, 20, 30), rows, strict=True)
        for method, accuracy in zip(_METHODS, row, strict=True)
    }
)
"""Accuracy in percent by dataset, method and training percentage."""


def paper_accuracy(dataset: str, method: str, percent: float) -> float | None:
    """The paper's accuracy in percent, or None if it has none.

    A method called "...-paper" is one with the paper's settings.

    >>> paper_accuracy("mammography", "gramme-fusion", 10)
    82.63
    >>> paper_accuracy("mammography", "majority", 10) is None
    True
    """
    return PAPER_ACCURACY.get((dataset, method.removesuffix("-paper"), float(percent)))


ONE_LABEL_METRICS = ("log_loss", "calibration_error")
LABEL_SET_METRICS = ("micro_f1", "ranking_loss")
METRICS = ("accuracy", "macro_f1", *ONE_LABEL_METRICS, *LABEL_SET_METRICS)
"""Metrics of runs: the first two of all, then those with one label per node or with several; others are callables."""
LOWER_IS_BETTER = (*ONE_LABEL_METRICS, "ranking_loss")


def check_metric(metric: str | Metric | None, *, several_labels: bool = False) -> str:
    """The name of a metric, or an error where there is none of that name for nodes with one label, or with several."""
    if metric is None:
        return "macro_f1" if several_labels else "accuracy"
    if not isinstance(metric, str):
        metric_label = metric_name(metric)
        if metric_label in METRICS:
            raise DataError(f"{metric_label!r} is a metric already; give yours another name")
        return metric_label
    if metric not in METRICS:
        raise DataError(f"there is no metric {metric!r}; {did_you_mean(metric, METRICS)}, or give a function in Python")
    if metric in (ONE_LABEL_METRICS if several_labels else LABEL_SET_METRICS):
        raise DataError(f"{metric} is for nodes with {'one label' if several_labels else 'several labels'}")
    return metric


def default_metric(runs: pd.DataFrame) -> str:
    """What decides the best where nothing else is asked for: macro F1 as soon as nodes have several labels."""
    return check_metric(None, several_labels=bool(runs["micro_f1"].notna().any()))


def _values(runs: pd.DataFrame, metric: str) -> pd.Series:
    """A metric of each run as the ledger has it; NaN where a run has none of that name."""
    return runs[metric] if metric in METRICS else runs["metric_value"].where(runs["metric"] == metric)


_PLACE = ["dataset", "dataset_checksum", "train_percent"]
_COMPETITOR = ["method", "changed", "settings_hash"]


def summarise(ledger: Ledger | pd.DataFrame, *, metric: str = "accuracy") -> pd.DataFrame:
    """One row per dataset, method and training percentage.

    Parameters
    ----------
    ledger : Ledger or DataFrame
        A ledger, or its :meth:`~gramme.evaluation.Ledger.runs` or a part of them.
    metric : str, default="accuracy"
        What decides which method is the best: ``accuracy``, ``macro_f1``, ``log_loss``, ``calibration_error``; of
        several labels per node also ``micro_f1`` and ``ranking_loss``; or the name of a function that
        :func:`benchmark` was given.

    Returns
    -------
    DataFrame
        Accuracies, macro F1 and calibration errors in percent, memory in MiB. Columns:

        dataset, method, settings, train_percent
            What was run; ``settings`` names the parameters that are not the defaults.
        repeats, failed, missed_class_repeats
            Realisations done, failed, and done with a training set that lacks a class.
        accuracy_mean, accuracy_std, accuracy_ci95
            Final test accuracy; the last is half the width of the mean's 95 % t interval. Where nodes have several
            labels, it is the share of nodes with all labels right.
        peak_mean
            Best test accuracy over the epochs, optimistic; NaN for methods without epochs.
        macro_f1_mean, log_loss_mean, calibration_error_mean, micro_f1_mean, ranking_loss_mean
            Other measures of the same predictions; the last two where nodes have several labels, in percent.
        cpu_seconds_mean, wall_seconds_mean, memory_mean
            What a run took.
        paper_accuracy
            The paper's figure, where it has one.
        metric
            What decides ``best``. If it is not the accuracy, there are columns with its name and ``_mean`` and
            ``_ci95``, in percent but for the log loss and metrics of one's own.
        best
            Whether the paired test finds this method better than every other one here, at the 5 % level.
        level_with_best
            Whether this is the highest mean or the paired test does not tell it from the highest mean.
        p_value
            Of the paired test against the method with the highest mean, Holm-corrected; NaN for that method itself.
    """
    all_runs = _runs(ledger)
    all_verdicts = _verdicts(all_runs, metric)
    summary_rows = [
        _row(row_key, row_runs, metric) | all_verdicts.get((row_key[:3], row_key[3:]), {})
        for row_key, row_runs in all_runs.groupby(_PLACE + _COMPETITOR, sort=True)
    ]
    empty_row = _row(("", "", np.nan, "", "", ""), all_runs.iloc[:0], metric)
    summary_table = pd.DataFrame(summary_rows, columns=list(empty_row))
    return summary_table.astype({"best": bool, "level_with_best": bool, "p_value": float, "paper_accuracy": float})


def _row(key: tuple[Any, ...], group: pd.DataFrame, metric: str) -> dict[str, Any]:
    """What :func:`summarise` says of the runs of a method at one place, before it is compared with others."""
    dataset, _, train_percent, method, changed, _ = key
    done_runs = group[group["status"] == "done"]
    mean_accuracy, accuracy_deviation, half_width = mean_interval(100 * done_runs["accuracy"])
    own_metric = {}
    if metric != "accuracy":
        own_mean, _, own_reach = mean_interval(_scale(metric) * _values(done_runs, metric).dropna())
        own_metric = {f"{metric}_mean": own_mean, f"{metric}_ci95": own_reach}
    summary_row = {
        "dataset": dataset,
        "method": method,
        "settings": changed,
        "train_percent": train_percent,
        "repeats": len(done_runs),
        "accuracy_mean": mean_accuracy,
        "accuracy_std": accuracy_deviation,
        "accuracy_ci95": half_width,
        "peak_mean": 100 * done_runs["peak_accuracy"].mean(),
        "macro_f1_mean": 100 * done_runs["macro_f1"].mean(),
        **own_metric,
        "cpu_seconds_mean": done_runs["cpu_seconds"].mean(),
        "paper_accuracy": paper_accuracy(dataset, method, train_percent),
        "log_loss_mean": done_runs["log_loss"].mean(),
        "calibration_error_mean": 100 * done_runs["calibration_error"].mean(),
        "micro_f1_mean": 100 * done_runs["micro_f1"].mean(),
        "ranking_loss_mean": 100 * done_runs["ranking_loss"].mean(),
        "wall_seconds_mean": done_runs["wall_seconds"].mean(),
        "memory_mean": done_runs["peak_memory"].astype(float).mean() / 2**20,
        "missed_class_repeats": int((done_runs["missed_classes"] > 0).sum()),
        "failed": len(group) - len(done_runs),
        "metric": metric,
        "best": False,
        "level_with_best": False,
        "p_value": np.nan,
    }
    return summary_row | own_metric  # where the metric is one of those above, its mean is of the runs that have it


def _scale(metric: str) -> float:
    """Points are shares of 1 times a hundred; log losses and metrics of one's own stay what they are."""
    return 100.0 if metric in METRICS and metric != "log_loss" else 1.0


def compare_pairs(ledger: Ledger | pd.DataFrame, *, metric: str = "accuracy") -> pd.DataFrame:
    """Every pair of methods on the same dataset and percentage, over the realisations both have done.

    Returns
    -------
    DataFrame
        ``dataset, train_percent, method, other, repeats``, the mean ``difference`` in points of the metric, the
        ``statistic`` and ``p_value`` of :func:`paired_test` (of :func:`corrected_t_test` for other metrics than the
        accuracy, whose variance over nodes is not known), and ``p_corrected``, Holm's over all pairs of
        that dataset and percentage. A method with other than default settings is named with them.
    """
    pair_rows = []
    difference_scale = -_scale(metric) if metric in LOWER_IS_BETTER else _scale(metric)
    for cell_key, cell_runs in _done(_runs(ledger)).groupby(_PLACE, sort=True):
        for test_row in compared(*_scores_and_test(cell_runs, metric), scale=difference_scale):
            first_name, second_name = (_name(*competitor[:2]) for competitor in test_row["keys"])
            pair_key = {
                "dataset": cell_key[0],
                "train_percent": cell_key[2],
                "method": first_name,
                "other": second_name,
            }
            pair_rows.append(pair_key | test_row)
    pair_columns = ["dataset", "train_percent", "method", "other", "repeats", "difference", "statistic"]
    pair_table = pd.DataFrame(pair_rows, columns=[*pair_columns, "p_value", "p_corrected", "keys"])
    return pair_table.drop(columns="keys")


def rank_methods(
    ledger: Ledger | pd.DataFrame, train_percent: float | None = None, *, metric: str = "accuracy"
) -> Ranking:
    """Average ranks over the datasets at one percentage, by the mean of a metric.

    Only datasets that all methods have been run on count; a method that has failed everywhere is left out.

    Parameters
    ----------
    ledger : Ledger or DataFrame
    train_percent : float, optional
        The smallest there is if not given.
    """
    done_runs = _done(_runs(ledger))
    if not len(done_runs):
        raise DataError("there are no finished runs to rank")
    chosen_percent = done_runs["train_percent"].min() if train_percent is None else train_percent
    percent_runs = done_runs[done_runs["train_percent"] == chosen_percent]
    competitor_names = [_name(*pair) for pair in zip(percent_runs["method"], percent_runs["changed"], strict=True)]
    signed_runs = percent_runs.assign(name=competitor_names, value=_higher_is_better(percent_runs, metric))
    score_table = signed_runs.pivot_table(index="dataset", columns="name", values="value", aggfunc="mean").dropna()
    if len(score_table) < 2 or score_table.shape[1] < 2:
        raise DataError(
            f"ranks need at least 2 methods on at least 2 datasets that all of them have been run on; at "
            f"{chosen_percent:g} % there are {score_table.shape[1]} methods and {len(score_table)} such datasets"
        )
    return average_ranks(score_table.to_numpy(), [str(name) for name in score_table.columns])


def _verdicts(runs: pd.DataFrame, metric: str) -> dict[tuple[Any, Any], dict[str, Any]]:
    """For each competitor whether it is the best of its place, or not told from it, and the p-value of that."""
    all_verdicts: dict[tuple[Any, Any], dict[str, Any]] = {}
    for cell_key, cell_runs in _done(runs).groupby(_PLACE, sort=True):
        score_table, test = _scores_and_test(cell_runs, metric)
        if len(score_table):
            for competitor, verdict in verdicts(score_table, test).items():
                all_verdicts[cell_key, competitor] = verdict
    return all_verdicts


def _scores_and_test(group: pd.DataFrame, metric: str) -> tuple[pd.DataFrame, Test]:
    """The scores of one dataset and percentage by realisation and competitor, and the test that compares them."""
    score_table = group.assign(value=_higher_is_better(group, metric)).pivot_table(
        index="realisation", columns=_COMPETITOR, values="value"
    )
    test_nodes, train_nodes = float(group["test_nodes"].mean()), float(group["train_nodes"].mean())
    if metric == "accuracy":
        return score_table, lambda one, other: paired_test(one, other, test_nodes)
    return score_table, lambda one, other: corrected_t_test(one - other, test_nodes / max(train_nodes, 1.0))


def _higher_is_better(runs: pd.DataFrame, metric: str) -> pd.Series:
    return -_values(runs, metric) if metric in LOWER_IS_BETTER else _values(runs, metric)


def _name(method: str, changed: str) -> str:
    return f"{method} ({changed})" if changed else method


def _runs(ledger: Ledger | pd.DataFrame) -> pd.DataFrame:
    return ledger.runs() if isinstance(ledger, Ledger) else ledger


def _done(runs: pd.DataFrame) -> pd.DataFrame:
    return runs[runs["status"] == "done"]
