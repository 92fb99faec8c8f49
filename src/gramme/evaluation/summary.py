"""From single runs to tables: means with intervals, every pair of methods compared, ranks over datasets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from gramme.errors import DataError
from gramme.evaluation.comparison import Test, compared, verdicts
from gramme.evaluation.ledger import Ledger
from gramme.evaluation.paper_results import paper_accuracy
from gramme.evaluation.statistics import (
    Ranking,
    average_ranks,
    mean_interval,
    paired_test,
)

_PLACE = ["dataset", "dataset_checksum", "train_percent"]
_COMPETITOR = ["method", "changed", "settings_hash"]


def summarise(ledger: Ledger | pd.DataFrame) -> pd.DataFrame:
    """One row per dataset, method and training percentage.

    Parameters
    ----------
    ledger : Ledger or DataFrame
        A ledger, or its :meth:`~gramme.evaluation.Ledger.runs` or a part of them.

    Returns
    -------
    DataFrame
        Accuracies, macro F1 and calibration errors in percent, memory in MiB. Columns:

        dataset, method, settings, train_percent
            What was run; ``settings`` names the parameters that are not the defaults.
        repeats, failed, missed_class_repeats
            Realisations done, failed, and done with a training set that lacks a class.
        accuracy_mean, accuracy_std, accuracy_ci95
            Final test accuracy; the last is half the width of the mean's 95 % t interval.
        peak_mean
            Best test accuracy over the epochs, optimistic; NaN for methods without epochs.
        macro_f1_mean, log_loss_mean, calibration_error_mean
            Other measures of the same predictions.
        cpu_seconds_mean, wall_seconds_mean, memory_mean
            What a run took.
        paper_accuracy
            The paper's figure, where it has one.
        best
            Whether the paired test finds this method better than every other one here, at the 5 % level.
        level_with_best
            Whether this is the highest mean or the paired test does not tell it from the highest mean.
        p_value
            Of the paired test against the method with the highest mean, Holm-corrected; NaN for that method itself.
    """
    runs = _runs(ledger)
    rows = []
    found = _verdicts(runs)
    for key, group in _groups(runs, _PLACE + _COMPETITOR):
        dataset, code, percent, method, changed, settings = key
        done = group[group["status"] == "done"]
        mean, spread, reach = mean_interval(100 * done["accuracy"])
        row = {
            "dataset": dataset,
            "method": method,
            "settings": changed,
            "train_percent": percent,
            "repeats": len(done),
            "accuracy_mean": mean,
            "accuracy_std": spread,
            "accuracy_ci95": reach,
            "peak_mean": 100 * done["peak_accuracy"].mean(),
            "macro_f1_mean": 100 * done["macro_f1"].mean(),
            "cpu_seconds_mean": done["cpu_seconds"].mean(),
            "paper_accuracy": _or_nan(paper_accuracy(dataset, method, percent)),
            "log_loss_mean": done["log_loss"].mean(),
            "calibration_error_mean": 100 * done["calibration_error"].mean(),
            "wall_seconds_mean": done["wall_seconds"].mean(),
            "memory_mean": done["peak_memory"].astype(float).mean() / 2**20,
            "missed_class_repeats": int((done["missed_classes"] > 0).sum()),
            "failed": len(group) - len(done),
        }
        where = (dataset, code, percent), (method, changed, settings)
        rows.append(row | found.get(where, {"best": False, "level_with_best": False}))
    columns = [*_COLUMNS_OF_SUMMARY, "best", "level_with_best", "p_value"]
    table = pd.DataFrame(rows, columns=columns)
    return table.astype({"best": bool, "level_with_best": bool, "p_value": float})


_COLUMNS_OF_SUMMARY = [
    "dataset",
    "method",
    "settings",
    "train_percent",
    "repeats",
    "accuracy_mean",
    "accuracy_std",
    "accuracy_ci95",
    "peak_mean",
    "macro_f1_mean",
    "cpu_seconds_mean",
    "paper_accuracy",
    "log_loss_mean",
    "calibration_error_mean",
    "wall_seconds_mean",
    "memory_mean",
    "missed_class_repeats",
    "failed",
]


def compare_pairs(ledger: Ledger | pd.DataFrame) -> pd.DataFrame:
    """Every pair of methods on the same dataset and percentage, over the realisations both have done.

    Returns
    -------
    DataFrame
        ``dataset, train_percent, method, other, repeats``, the mean ``difference`` in points of accuracy, the
        ``statistic`` and ``p_value`` of :func:`paired_test`, and ``p_corrected``, Holm's over all pairs of
        that dataset and percentage. A method with other than default settings is named with them.
    """
    found = []
    for key, group in _groups(_done(_runs(ledger)), _PLACE):
        for row in compared(*_scores_and_test(group)):
            one, other = (_name(*competitor[:2]) for competitor in row["keys"])
            where = {"dataset": key[0], "train_percent": key[2], "method": one, "other": other}
            found.append(where | row)
    columns = ["dataset", "train_percent", "method", "other", "repeats", "difference", "statistic"]
    table = pd.DataFrame(found, columns=[*columns, "p_value", "p_corrected", "keys"])
    return table.drop(columns="keys")


def rank_methods(ledger: Ledger | pd.DataFrame, train_percent: float | None = None) -> Ranking:
    """Average ranks over the datasets at one percentage, by mean accuracy.

    Only datasets that all methods have been run on count; a method that has failed everywhere is left out.

    Parameters
    ----------
    ledger : Ledger or DataFrame
    train_percent : float, optional
        The smallest there is if not given.
    """
    runs = _done(_runs(ledger))
    if not len(runs):
        raise DataError("there are no finished runs to rank")
    percent = runs["train_percent"].min() if train_percent is None else train_percent
    here = runs[runs["train_percent"] == percent]
    table = here.assign(name=_names(here)).pivot_table(
        index="dataset", columns="name", values="accuracy", aggfunc="mean"
    )
    table = table.dropna()
    if len(table) < 2 or table.shape[1] < 2:
        raise DataError(
            f"ranks need at least 2 methods on at least 2 datasets that all of them have been run on; at "
            f"{percent:g} % there are {table.shape[1]} methods and {len(table)} such datasets"
        )
    return average_ranks(table.to_numpy(), [str(name) for name in table.columns])


def _verdicts(runs: pd.DataFrame) -> dict[tuple[Any, Any], dict[str, Any]]:
    """For each competitor whether it is the best of its place, or not told from it, and the p-value of that."""
    found: dict[tuple[Any, Any], dict[str, Any]] = {}
    for place, group in _groups(_done(runs), _PLACE):
        for competitor, verdict in verdicts(*_scores_and_test(group)).items():
            found[place, competitor] = verdict
    return found


def _scores_and_test(group: pd.DataFrame) -> tuple[pd.DataFrame, Test]:
    """The accuracies of one dataset and percentage by realisation and competitor, and the test that compares them."""
    scores = group.pivot_table(index="realisation", columns=_COMPETITOR, values="accuracy")
    nodes = float(group["test_nodes"].mean())
    return scores, lambda one, other: paired_test(one, other, nodes)


def _name(method: str, changed: str) -> str:
    return f"{method} ({changed})" if changed else method


def _names(runs: pd.DataFrame) -> list[str]:
    return [_name(*pair) for pair in zip(runs["method"], runs["changed"], strict=True)]


def _runs(ledger: Ledger | pd.DataFrame) -> pd.DataFrame:
    return ledger.runs() if isinstance(ledger, Ledger) else ledger


def _done(runs: pd.DataFrame) -> pd.DataFrame:
    return runs[runs["status"] == "done"]


def _groups(runs: pd.DataFrame, by: list[str]) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    yield from runs.groupby(by, sort=True)


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value
