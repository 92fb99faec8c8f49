"""Pairs of competitors by hand, and the verdict on them."""

import math

import numpy as np
import pandas as pd
from scipy import stats

from gramme.evaluation.comparison import compared, verdicts

SCORES = pd.DataFrame({"x": [0.9, 0.92, 0.91], "y": [0.5, 0.53, 0.52], "z": [0.9, 0.91, np.nan]})


def plain(one, other):
    result = stats.ttest_rel(one, other)
    return float(result.statistic), float(result.pvalue)


def test_every_pair_on_the_splits_both_have():
    rows = compared(SCORES, plain)
    assert [row["keys"] for row in rows] == [("x", "y"), ("x", "z"), ("y", "z")]
    assert [row["repeats"] for row in rows] == [3, 2, 2]
    assert math.isclose(rows[0]["difference"], 100 * (SCORES["x"] - SCORES["y"]).mean())
    assert rows[0]["p_corrected"] >= rows[0]["p_value"]


def test_the_leader_is_best_only_if_told_from_all():
    found = verdicts(SCORES, plain)
    assert not found["x"]["best"]
    assert found["z"]["level_with_best"]
    assert not found["y"]["level_with_best"]
    assert verdicts(SCORES[["x", "y"]], plain)["x"]["best"]
