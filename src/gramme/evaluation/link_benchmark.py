"""The benchmark of links: every layer of every dataset, the same edges held out for all methods, into a ledger."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from gramme.errors import DataError
from gramme.evaluation.link_ledger import LinkLedger
from gramme.evaluation.link_methods import DEFAULT_LINK_METHODS, LinkMethod, link_method
from gramme.evaluation.link_splits import PROTOCOL, LinkSplit, layers_with_links, link_splits
from gramme.graph import MultilayerGraph
from gramme.graph.checksum import checksum
from gramme.links.reasons import calibration_bins, calibration_error, roc_auc

HITS = 20


def link_benchmark(
    datasets: Mapping[str, MultilayerGraph],
    methods: Iterable[str] = DEFAULT_LINK_METHODS,
    *,
    out: Any,
    repeats: int = 1,
    force: bool = False,
    tell: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Compare ways to predict links, resuming where an earlier call ended.

    Parameters
    ----------
    datasets : mapping of str to MultilayerGraph
    methods : sequence of str
        See :data:`gramme.evaluation.link_methods.LINK_METHODS`.
    out : path-like
        The ledger, a sqlite file.
    repeats : int, default=1
        How often the edges are divided anew.
    force : bool, default=False
        Do everything again.
    tell : callable, optional
        Called with the number of runs done and in all.

    Returns
    -------
    DataFrame
        The summary, see :func:`summarise_links`.
    """
    chosen = [link_method(name) for name in dict.fromkeys(methods)]
    if repeats < 1:
        raise DataError(f"at least one repeat is needed, not {repeats}")
    units = [
        (name, layer, realisation)
        for name, graph in datasets.items()
        for layer in layers_with_links(graph)
        for realisation in range(repeats)
    ]
    if not units:
        raise DataError("no layer of the data has at least 2 edges, so no link can be held out")
    with LinkLedger(out) as ledger:
        done = set() if force else ledger.done()
        for number, (name, layer, realisation) in enumerate(units, start=1):
            graph = datasets[name]
            code = checksum(graph)
            for split in link_splits(graph, layer, realisation):
                for method in chosen:
                    key = (name, code, layer, method.name, realisation, split.fold)
                    if key not in done:
                        rows = scored(split, layer, method, seed=realisation)
                        ledger.record([dict(zip(_KEYS, key, strict=True)) | row for row in rows])
            if tell is not None:
                tell(number, len(units))
        table = ledger.rows()
    return summarise_links(table[table["dataset"].isin(list(datasets))])


_KEYS = ("dataset", "checksum", "layer", "method", "realisation", "fold")


def scored(split: LinkSplit, layer: str, method: LinkMethod, *, seed: int) -> list[dict[str, Any]]:
    """The scores of a method on a split, against each kind of unlinked pairs."""
    began = time.process_time()
    kinds = list(split.unlinked)
    parts = [split.linked, *(split.unlinked[kind] for kind in kinds)]
    scores = method.score(split.graph, layer, np.concatenate(parts), seed)
    seconds = time.process_time() - began
    ends = np.cumsum([len(part) for part in parts])
    linked = scores[: ends[0]]
    found = []
    for place, kind in enumerate(kinds):
        unlinked = scores[ends[place] : ends[place + 1]]
        both = np.concatenate([linked, unlinked])
        truth = np.repeat([True, False], [len(linked), len(unlinked)])
        judged = method.probabilities and kind == "uniform"
        found.append(
            {
                "negatives": kind,
                "roc_auc": roc_auc(truth, both),
                "average_precision": float(average_precision_score(truth, both)),
                "hits_at_20": hits_at(linked, unlinked),
                "calibration_bins": _as_text(calibration_bins(truth, both)) if judged else None,
                "linked": len(linked),
                "unlinked": len(unlinked),
                "cpu_seconds": seconds,
                "protocol": PROTOCOL,
            }
        )
    return found


def hits_at(linked: NDArray[np.float64], unlinked: NDArray[np.float64], count: int = HITS) -> float:
    """The share of linked pairs that score above the 20th best unlinked one; 1 where there are fewer.

    >>> hits_at(np.array([3.0, 1.0]), np.array([2.0, 0.0]), count=1)
    0.5
    """
    if len(unlinked) < count:
        return 1.0
    return float((linked > np.sort(unlinked)[-count]).mean())


def _as_text(bins: NDArray[np.float64]) -> str:
    return json.dumps(np.round(bins, 6).tolist())


def _pooled_error(texts: pd.Series) -> float:
    """The calibration error in percent over the pairs of all splits together; NaN for scores that are none."""
    bins = [np.array(json.loads(text)) for text in texts.dropna()]
    return 100 * calibration_error(np.sum(bins, axis=0)) if bins else float("nan")


def summarise_links(rows: pd.DataFrame) -> pd.DataFrame:
    """A row per dataset, layer, method and kind of unlinked pairs, and one per dataset for the mean over its layers.

    Columns: the means over splits in percent, half the 95 % interval of the ROC-AUC, and the number of splits. The
    calibration error is that of the pairs of all splits together.
    """
    keys = ["dataset", "negatives", "method", "layer"]
    grouped = rows.groupby(keys, sort=False)
    table = pd.DataFrame(
        {
            "splits": grouped.size(),
            "roc_auc": 100 * grouped["roc_auc"].mean(),
            "roc_auc_ci95": 196 * grouped["roc_auc"].std(ddof=1) / np.sqrt(grouped.size()),
            "average_precision": 100 * grouped["average_precision"].mean(),
            "hits_at_20": 100 * grouped["hits_at_20"].mean(),
            "calibration_error": grouped["calibration_bins"].agg(_pooled_error),
            "cpu_seconds": grouped["cpu_seconds"].mean(),
        }
    ).reset_index()
    means = table.groupby(keys[:3], sort=False).mean(numeric_only=True).reset_index()
    means["layer"], means["roc_auc_ci95"] = "mean", np.nan
    both = pd.concat([table, means], ignore_index=True)
    both["is_mean"] = both["layer"] == "mean"
    ordered = both.sort_values(
        ["dataset", "negatives", "is_mean", "layer", "roc_auc"],
        ascending=[True, False, True, True, False],
        kind="stable",
    )
    return ordered.drop(columns="is_mean").reset_index(drop=True)
