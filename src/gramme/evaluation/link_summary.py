"""From runs of a benchmark of links to tables: means with intervals, paired tests, ranks over datasets."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd

from gramme.errors import DataError
from gramme.evaluation.comparison import verdicts
from gramme.evaluation.statistics import MIN_SPLITS, Ranking, average_ranks, corrected_t_test
from gramme.evaluation.statistics import mean_interval as interval
from gramme.links.reasons import calibration_error

MEAN = "mean"
"""What stands for the layer in the rows of means over the layers."""
TEST_TO_TRAIN = 0.25
"""Edges held out per edge that stays: a fifth against four fifths; of large layers it is less."""


def summarise_links(rows: pd.DataFrame) -> pd.DataFrame:
    """A row per dataset, layer, method and kind of unlinked pairs, and one per dataset for the mean over its layers.

    Parameters
    ----------
    rows : DataFrame
        Of :meth:`gramme.evaluation.link_ledger.LinkLedger.rows`, or a part of them.

    Returns
    -------
    DataFrame
        Means over the splits in percent. Columns:

        dataset, negatives, method, layer
            What was run; the layer is ``mean`` for the mean over all layers.
        splits, failed
            Splits done, and those that ended with an error.
        roc_auc, roc_auc_ci95
            Area under the ROC curve, and half the width of its mean's 95 % interval.
        average_precision, hits_at_20
        calibration_error
            Of the pairs of all splits together; NaN for scores that are not probabilities.
        cpu_seconds
        best, level_with_best, p_value
            By the corrected resampled t-test of the ROC-AUC on the same splits, with Holm's correction: better than
            every other method; not told from the highest mean; p-value against that.
    """
    done = rows[rows["status"] == "done"]
    keys = ["dataset", "negatives", "method", "layer"]
    grouped = done.groupby(keys, sort=False)
    table = pd.DataFrame(
        {
            "splits": grouped.size(),
            "roc_auc": 100 * grouped["roc_auc"].mean(),
            "roc_auc_ci95": grouped["roc_auc"].agg(lambda some: interval(100 * some)[2]),
            "average_precision": 100 * grouped["average_precision"].mean(),
            "hits_at_20": 100 * grouped["hits_at_20"].mean(),
            "calibration_error": grouped["calibration_bins"].agg(_pooled_error),
            "cpu_seconds": grouped["cpu_seconds"].mean(),
        }
    ).reset_index()
    failed = rows[rows["status"] != "done"].groupby(keys).size().rename("failed")
    table = table.merge(failed.reset_index(), on=keys, how="outer").fillna(
        {"failed": 0, "splits": 0}
    )
    means = table.groupby(keys[:3], sort=False).mean(numeric_only=True).reset_index()
    means["layer"], means["roc_auc_ci95"] = MEAN, np.nan
    both = pd.concat([table, means], ignore_index=True)
    told = _verdicts(done)
    unknown = {"best": False, "level_with_best": False, "p_value": np.nan}
    judged = [
        told.get(tuple(place), unknown) for place in both[keys].itertuples(index=False, name=None)
    ]
    both = both.join(pd.DataFrame(judged, columns=list(unknown)))
    both["is_mean"] = both["layer"] == MEAN
    ordered = both.sort_values(
        ["dataset", "negatives", "is_mean", "layer", "roc_auc"],
        ascending=[True, False, True, True, False],
        kind="stable",
    )
    return ordered.drop(columns="is_mean").reset_index(drop=True)


def rank_link_methods(rows: pd.DataFrame, negatives: str) -> Ranking:
    """Average ranks over the layers of all datasets, by mean ROC-AUC against one kind of unlinked pairs."""
    done = rows[(rows["status"] == "done") & (rows["negatives"] == negatives)]
    table = done.pivot_table(
        index=["dataset", "layer"], columns="method", values="roc_auc"
    ).dropna()
    if len(table) < 2 or table.shape[1] < 2:
        raise DataError(
            "ranks need at least 2 methods on at least 2 layers that all of them have been run on"
        )
    return average_ranks(table.to_numpy(), [str(name) for name in table.columns])


def _verdicts(done: pd.DataFrame) -> dict[tuple[str, ...], dict[str, Any]]:
    """By dataset, unlinked pairs, method and layer: whether it is the best there, or level with it."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    split = ["realisation", "fold"]
    for (dataset, kind), group in done.groupby(["dataset", "negatives"], sort=False):
        by_layer = group.pivot_table(index=["layer", *split], columns="method", values="roc_auc")
        places = dict(iter(by_layer.groupby(level="layer")))
        # a split counts for the mean where all layers have it
        layers = by_layer.groupby(level=split).size() == len(places)
        means = by_layer.groupby(level=split).mean()[layers]
        for layer, scores in (places | {MEAN: means}).items():
            if len(scores) and scores.shape[1] > 1:
                for method, verdict in verdicts(scores, _test).items():
                    found[str(dataset), str(kind), str(method), str(layer)] = verdict
    return found


def _test(one: pd.Series, other: pd.Series) -> tuple[float, float]:
    if len(one) < MIN_SPLITS:
        return math.nan, math.nan
    return corrected_t_test(one - other, TEST_TO_TRAIN)


def _pooled_error(texts: pd.Series) -> float:
    """The calibration error in percent over the pairs of all splits together; NaN for scores that are none."""
    bins = [np.array(json.loads(text)) for text in texts.dropna()]
    return 100 * calibration_error(np.sum(bins, axis=0)) if bins else float("nan")
