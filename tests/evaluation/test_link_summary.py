"""The summary of a benchmark of links: who is best by a paired test, and ranks over layers."""

import numpy as np
import pandas as pd
import pytest

from gramme.errors import DataError
from gramme.evaluation.link_summary import TEST_TO_TRAIN, rank_link_methods, summarise_links
from gramme.evaluation.statistics import corrected_t_test


def rows(scores: dict[tuple[str, str], list[float]]) -> pd.DataFrame:
    """A row per split from the scores of each layer and method."""
    found = [
        {
            "dataset": "d",
            "negatives": "uniform",
            "layer": layer,
            "method": method,
            "realisation": 0,
            "fold": fold,
            "status": "done",
            "roc_auc": score,
            "average_precision": score,
            "hits_at_20": score,
            "calibration_bins": None,
            "cpu_seconds": 1.0,
        }
        for (layer, method), values in scores.items()
        for fold, score in enumerate(values)
    ]
    return pd.DataFrame(found)


GOOD, FAIR = [0.95, 0.94, 0.96, 0.95, 0.94], [0.85, 0.86, 0.84, 0.86, 0.85]
NEAR = [0.94, 0.95, 0.95, 0.96, 0.93]


def verdict(table: pd.DataFrame, layer: str, method: str) -> pd.Series:
    return table[(table["layer"] == layer) & (table["method"] == method)].iloc[0]


def test_the_best_is_told_from_every_other_by_the_corrected_test():
    table = summarise_links(rows({("a", "x"): GOOD, ("a", "y"): FAIR}))
    assert verdict(table, "a", "x")["best"]
    assert verdict(table, "mean", "x")["best"]
    p = verdict(table, "a", "y")["p_value"]
    assert p == pytest.approx(corrected_t_test(np.subtract(GOOD, FAIR), TEST_TO_TRAIN)[1])


def test_no_method_is_best_where_two_are_not_told_apart_or_splits_are_few():
    table = summarise_links(rows({("a", "x"): GOOD, ("a", "y"): NEAR}))
    assert not table["best"].any()
    assert table["level_with_best"].all()
    few = summarise_links(rows({("a", "x"): GOOD[:2], ("a", "y"): FAIR[:2]}))
    assert not few["best"].any()


def test_the_mean_is_compared_on_splits_that_all_layers_have():
    """A large layer has one split, so the means of both have one, which tells nothing."""
    table = summarise_links(
        rows({("a", "x"): GOOD, ("a", "y"): FAIR, ("b", "x"): GOOD[:1], ("b", "y"): FAIR[:1]})
    )
    assert verdict(table, "a", "x")["best"]
    assert not verdict(table, "mean", "x")["best"]


def test_ranks_over_layers_need_two_of_them():
    runs = rows({("a", "x"): GOOD, ("a", "y"): FAIR, ("b", "x"): GOOD, ("b", "y"): FAIR})
    ranking = rank_link_methods(runs, "uniform")
    assert ranking.methods == ["x", "y"]
    assert ranking.datasets == 2
    with pytest.raises(DataError, match="at least 2 layers"):
        rank_link_methods(runs[runs["layer"] == "a"], "uniform")
