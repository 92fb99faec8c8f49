"""The tables that ``gramme results`` can show of a ledger's runs."""

from __future__ import annotations

import pandas as pd

from gramme.evaluation import compare_pairs, rank_methods, summarise

_FAILURE = ["dataset", "method", "changed", "train_percent", "realisation", "error"]


def results_table(runs: pd.DataFrame, shown: str) -> pd.DataFrame:
    """A table of some runs of a ledger.

    Parameters
    ----------
    runs : DataFrame
        From :meth:`gramme.evaluation.Ledger.runs`.
    shown : {"summary", "pairs", "ranks", "runs", "failures"}
    """
    if shown == "summary":
        return summarise(runs)
    if shown == "pairs":
        return compare_pairs(runs)
    if shown == "runs":
        return runs
    if shown == "failures":
        failed: pd.DataFrame = runs.loc[runs["status"] == "failed", _FAILURE]
        return failed.rename(columns={"changed": "settings"})
    ranking = rank_methods(runs)
    return pd.DataFrame(
        {
            "method": ranking.methods,
            "average_rank": ranking.ranks,
            "train_percent": runs["train_percent"].min(),
            "datasets": ranking.datasets,
            "critical_difference": ranking.critical_difference,
            "friedman_p": ranking.p_value,
        }
    )
