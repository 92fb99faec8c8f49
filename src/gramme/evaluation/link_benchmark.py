"""The benchmark of links: every layer of every dataset, the same edges held out for all methods, into a ledger."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from gramme._types import Ints
from gramme.errors import DataError, did_you_mean
from gramme.graph import MultilayerGraph
from gramme.graph.canonical import checksum
from gramme.io.values import proper_text
from gramme.links.explain import calibration_bins, calibration_error, roc_auc
from gramme.links.sampling import edge_layer, num_rounds, rounds, unlinked_pairs

from .benchmark import TaskSpec, check_repeats, recorded
from .link_methods import DEFAULT_LINK_METHODS, LinkMethod, link_method
from .statistics import MIN_SPLITS, Ranking, average_ranks, corrected_t_test, mean_interval, verdicts

NEGATIVES = ("uniform", "degree-matched")
PROTOCOL = "edges of one layer held out, other layers visible"


@dataclass(frozen=True)
class LinkSplit:
    """A graph without some edges of a layer, those pairs, and unlinked ones of both kinds."""

    graph: MultilayerGraph
    fold: int
    linked: Ints
    unlinked: dict[str, Ints]


def link_splits(graph: MultilayerGraph, layer: str, realisation: int) -> Iterator[LinkSplit]:
    """The splits of a layer; the same for the same realisation, whatever is asked of them."""
    number = list(graph.layers).index(layer)
    edges = edge_layer(graph, layer)
    known = edges.to_scipy()
    held_out = rounds(graph, layer, np.random.default_rng([realisation, number, 1]))
    for fold, one in enumerate(held_out):
        random = np.random.default_rng([realisation, number, 2, fold])
        matched = unlinked_pairs(
            known, len(one.linked), random, directed=edges.directed, degree_matched=True, present=edges.present
        )
        yield LinkSplit(one.graph, fold, one.linked, {"uniform": one.unlinked, "degree-matched": matched})


def layers_with_links(graph: MultilayerGraph) -> list[str]:
    """The layers of edges that have enough of them to hold some out."""
    return [name for name, layer in graph.layers.items() if layer.made_of == "edges" and layer.num_edges >= 2]


@dataclass(frozen=True)
class LinkSpec(TaskSpec):
    """All that decides a run: the method, and which part of which division of a layer's edges is held out."""

    task = "links"
    row_keys = tuple({"negatives": kind, "protocol": PROTOCOL} for kind in NEGATIVES)

    dataset: str
    checksum: str
    layer: str
    method: LinkMethod
    realisation: int
    fold: int

    @property
    def key(self) -> tuple[Any, ...]:
        where = proper_text(self.dataset), self.checksum, proper_text(self.layer)
        return (*where, self.method.name, self.realisation, self.fold)

    def scored(self, graph: MultilayerGraph) -> list[dict[str, Any]]:
        """The scores on a split, against each kind of unlinked pairs."""
        split = next(islice(link_splits(graph, self.layer, self.realisation), self.fold, None))
        parts = [split.linked, *(split.unlinked[kind] for kind in NEGATIVES)]
        began = time.process_time()
        scores = self.method.score(split.graph, self.layer, np.concatenate(parts), self.realisation)
        seconds = time.process_time() - began
        linked, *others = np.split(scores, np.cumsum([len(part) for part in parts])[:-1])
        found = []
        for where, unlinked in zip(self.row_keys, others, strict=True):
            both = np.concatenate([linked, unlinked])
            truth = np.repeat([True, False], [len(linked), len(unlinked)])
            row = where | {
                "roc_auc": roc_auc(truth, both),
                "average_precision": float(average_precision_score(truth, both)),
                "hits_at_20": hits_at(linked, unlinked),
                "linked": len(linked),
                "unlinked": len(unlinked),
                "cpu_seconds": seconds,
            }
            if self.method.probabilities and where["negatives"] == "uniform":
                row["calibration_bins"] = json.dumps(np.round(calibration_bins(truth, both), 6).tolist())
            found.append(row)
        return found


def hits_at(linked: NDArray[np.float64], unlinked: NDArray[np.float64], count: int = 20) -> float:
    """The share of linked pairs that score above the 20th best unlinked one; 1 where there are fewer.

    >>> hits_at(np.array([3.0, 1.0]), np.array([2.0, 0.0]), count=1)
    0.5
    """
    if len(unlinked) < count:
        return 1.0
    return float((linked > np.sort(unlinked)[-count]).mean())


MEAN = "mean"
"""What stands for the layer in the rows of means over the layers."""
TEST_TO_TRAIN = 0.25
"""Edges held out per edge that stays: a fifth against four fifths; of large layers it is less."""
LINK_METRICS = ("roc_auc", "average_precision", "hits_at_20")


def summarise_links(rows: pd.DataFrame, *, metric: str = "roc_auc") -> pd.DataFrame:
    """A row per dataset, layer, method and kind of unlinked pairs, and one per dataset for the mean over its layers.

    Of the ledger's rows for the task ``links``. The layer of the mean is ``mean``; ``splits`` are done and ``failed``
    ended with an error; ``roc_auc`` with half the width of its mean's 95 % interval (``roc_auc_ci95``),
    ``average_precision`` and ``hits_at_20`` are means over the splits in percent, ``calibration_error`` that of the
    pairs of all splits together, NaN for scores that are not probabilities. ``best``, ``level_with_best`` and
    ``p_value`` come from the corrected resampled t-test of ``metric`` on the same splits, with Holm's correction:
    better than every other method; not told from the highest mean; p-value against that.
    """
    done = rows[rows["status"] == "done"]
    keys = ["dataset", "negatives", "method", "layer"]
    grouped = done.groupby(keys, sort=False)
    table = pd.DataFrame(
        {
            "splits": grouped.size(),
            "roc_auc": 100 * grouped["roc_auc"].mean(),
            "roc_auc_ci95": grouped["roc_auc"].agg(lambda some: mean_interval(100 * some)[2]),
            "average_precision": 100 * grouped["average_precision"].mean(),
            "hits_at_20": 100 * grouped["hits_at_20"].mean(),
            "calibration_error": grouped["calibration_bins"].agg(_pooled_error),
            "cpu_seconds": grouped["cpu_seconds"].mean(),
        }
    ).reset_index()
    failed = rows[rows["status"] != "done"].groupby(keys).size().rename("failed")
    table = table.merge(failed.reset_index(), on=keys, how="outer").fillna({"failed": 0, "splits": 0})
    means = table.groupby(keys[:3], sort=False).mean(numeric_only=True).reset_index()
    means["layer"], means["roc_auc_ci95"] = MEAN, np.nan
    both = pd.concat([table, means], ignore_index=True)
    judged_methods = _verdicts(done, metric)
    unknown = {"best": False, "level_with_best": False, "p_value": np.nan}
    judged = [judged_methods.get(tuple(place), unknown) for place in both[keys].itertuples(index=False, name=None)]
    both = both.join(pd.DataFrame(judged, columns=list(unknown)))
    both["is_mean"] = both["layer"] == MEAN
    ordered = both.sort_values(
        ["dataset", "negatives", "is_mean", "layer", metric], ascending=[True, False, True, True, False], kind="stable"
    )
    return ordered.drop(columns="is_mean").reset_index(drop=True)


def rank_link_methods(rows: pd.DataFrame, negatives: str) -> Ranking:
    """Average ranks over the layers of all datasets, by mean ROC-AUC against one kind of unlinked pairs."""
    done = rows[(rows["status"] == "done") & (rows["negatives"] == negatives)]
    table = done.pivot_table(index=["dataset", "layer"], columns="method", values="roc_auc").dropna()
    if len(table) < 2 or table.shape[1] < 2:
        raise DataError("ranks need at least 2 methods on at least 2 layers that all of them have been run on")
    return average_ranks(table.to_numpy(), [str(name) for name in table.columns])


def _verdicts(done: pd.DataFrame, metric: str) -> dict[tuple[str, ...], dict[str, Any]]:
    """By dataset, unlinked pairs, method and layer: whether it is the best there, or level with it."""

    def test(one: pd.Series, other: pd.Series) -> tuple[float, float]:
        return corrected_t_test(one - other, TEST_TO_TRAIN) if len(one) >= MIN_SPLITS else (math.nan, math.nan)

    found: dict[tuple[str, ...], dict[str, Any]] = {}
    split = ["realisation", "fold"]
    for (dataset, kind), group in done.groupby(["dataset", "negatives"], sort=False):
        by_layer = group.pivot_table(index=["layer", *split], columns="method", values=metric)
        places = dict(iter(by_layer.groupby(level="layer")))
        # a split counts for the mean where all layers have it
        in_all_layers = by_layer.groupby(level=split).size() == len(places)
        means = by_layer.groupby(level=split).mean()[in_all_layers]
        for layer, scores in (places | {MEAN: means}).items():
            if len(scores) and scores.shape[1] > 1:
                for method, verdict in verdicts(scores, test).items():
                    found[str(dataset), str(kind), str(method), str(layer)] = verdict
    return found


def _pooled_error(texts: pd.Series) -> float:
    """The calibration error in percent over the pairs of all splits together; NaN for scores that are none."""
    bins = [np.array(json.loads(text)) for text in texts.dropna()]
    return 100 * calibration_error(np.sum(bins, axis=0)) if bins else float("nan")


def link_benchmark(
    datasets: Mapping[str, MultilayerGraph],
    methods: Iterable[str] = DEFAULT_LINK_METHODS,
    *,
    out: Any,
    repeats: int = 1,
    metric: str = "roc_auc",
    jobs: int | None = 1,
    backend: str = "loky",
    force: bool = False,
    tell: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Compare methods that predict links, resuming where an earlier call ended.

    Each run is written when it ends; calling again does only what is missing or has failed. Results do not depend on
    jobs, backend or order.

    Parameters
    ----------
    datasets : mapping of str to MultilayerGraph
    methods : sequence of str
        See :data:`gramme.evaluation.link_methods.LINK_METHODS`.
    out : path-like
        The ledger, a sqlite file.
    repeats : int, default=1
        How often the edges are divided anew.
    metric : {"roc_auc", "average_precision", "hits_at_20"}, default="roc_auc"
        What decides which method is the best.
    jobs, backend, force
        As for :func:`gramme.evaluation.benchmark`.
    tell : callable, optional
        Called with the number of runs done and in all.

    Returns
    -------
    DataFrame
        The summary, see :func:`gramme.evaluation.link_benchmark.summarise_links`.
    """
    chosen = [link_method(name) for name in dict.fromkeys(methods)]
    check_repeats(repeats)
    if metric not in LINK_METRICS:
        raise DataError(f"there is no metric {metric!r} of links; {did_you_mean(metric, LINK_METRICS)}")
    specs = [
        LinkSpec(name, code, layer, method, realisation, fold)
        for name, graph in datasets.items()
        for code in [checksum(graph)]
        for layer in layers_with_links(graph)
        for realisation in range(repeats)
        for fold in range(num_rounds(graph, layer))
        for method in chosen
    ]
    if not specs:
        raise DataError("no layer of the data has at least 2 edges, so no link can be held out")
    table = recorded(specs, datasets, task="links", out=out, jobs=jobs, backend=backend, force=force, tell=tell)
    wanted = {spec.key[:2] for spec in specs}
    mine = [key in wanted for key in zip(table["dataset"], table["checksum"], strict=True)]
    return summarise_links(table[mine], metric=metric)
