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
    layer_number = list(graph.layers).index(layer)
    held_layer = edge_layer(graph, layer)
    known_edges = held_layer.to_scipy()
    held_out = rounds(graph, layer, np.random.default_rng([realisation, layer_number, 1]))
    for fold, edge_round in enumerate(held_out):
        random = np.random.default_rng([realisation, layer_number, 2, fold])
        matched_pairs = unlinked_pairs(
            known_edges,
            len(edge_round.linked),
            random,
            directed=held_layer.directed,
            degree_matched=True,
            present=held_layer.present,
        )
        yield LinkSplit(
            edge_round.graph, fold, edge_round.linked, {"uniform": edge_round.unlinked, "degree-matched": matched_pairs}
        )


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
        layer_key = proper_text(self.dataset), self.checksum, proper_text(self.layer)
        return (*layer_key, self.method.name, self.realisation, self.fold)

    def scored(self, graph: MultilayerGraph) -> list[dict[str, Any]]:
        """The scores on a split, against each kind of unlinked pairs."""
        split = next(islice(link_splits(graph, self.layer, self.realisation), self.fold, None))
        pair_lists = [split.linked, *(split.unlinked[kind] for kind in NEGATIVES)]
        start_seconds = time.process_time()
        pair_scores = self.method.score(split.graph, self.layer, np.concatenate(pair_lists), self.realisation)
        cpu_seconds = time.process_time() - start_seconds
        linked_scores, *unlinked_scores = np.split(
            pair_scores, np.cumsum([len(pair_list) for pair_list in pair_lists])[:-1]
        )
        score_rows = []
        for row_key, unlinked_part in zip(self.row_keys, unlinked_scores, strict=True):
            all_scores = np.concatenate([linked_scores, unlinked_part])
            is_linked = np.repeat([True, False], [len(linked_scores), len(unlinked_part)])
            score_row = row_key | {
                "roc_auc": roc_auc(is_linked, all_scores),
                "average_precision": float(average_precision_score(is_linked, all_scores)),
                "hits_at_20": hits_at(linked_scores, unlinked_part),
                "linked": len(linked_scores),
                "unlinked": len(unlinked_part),
                "cpu_seconds": cpu_seconds,
            }
            if self.method.probabilities and row_key["negatives"] == "uniform":
                score_row["calibration_bins"] = json.dumps(
                    np.round(calibration_bins(is_linked, all_scores), 6).tolist()
                )
            score_rows.append(score_row)
        return score_rows


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
    done_rows = rows[rows["status"] == "done"]
    key_columns = ["dataset", "negatives", "method", "layer"]
    grouped_rows = done_rows.groupby(key_columns, sort=False)
    layer_table = pd.DataFrame(
        {
            "splits": grouped_rows.size(),
            "roc_auc": 100 * grouped_rows["roc_auc"].mean(),
            "roc_auc_ci95": grouped_rows["roc_auc"].agg(lambda some: mean_interval(100 * some)[2]),
            "average_precision": 100 * grouped_rows["average_precision"].mean(),
            "hits_at_20": 100 * grouped_rows["hits_at_20"].mean(),
            "calibration_error": grouped_rows["calibration_bins"].agg(_pooled_error),
            "cpu_seconds": grouped_rows["cpu_seconds"].mean(),
        }
    ).reset_index()
    failed_counts = rows[rows["status"] != "done"].groupby(key_columns).size().rename("failed")
    layer_table = layer_table.merge(failed_counts.reset_index(), on=key_columns, how="outer").fillna(
        {"failed": 0, "splits": 0}
    )
    mean_rows = layer_table.groupby(key_columns[:3], sort=False).mean(numeric_only=True).reset_index()
    mean_rows["layer"], mean_rows["roc_auc_ci95"] = MEAN, np.nan
    all_rows = pd.concat([layer_table, mean_rows], ignore_index=True)
    judged_methods = _verdicts(done_rows, metric)
    no_verdict = {"best": False, "level_with_best": False, "p_value": np.nan}
    verdict_rows = [
        judged_methods.get(tuple(cell_key), no_verdict)
        for cell_key in all_rows[key_columns].itertuples(index=False, name=None)
    ]
    all_rows = all_rows.join(pd.DataFrame(verdict_rows, columns=list(no_verdict)))
    all_rows["is_mean"] = all_rows["layer"] == MEAN
    ordered_rows = all_rows.sort_values(
        ["dataset", "negatives", "is_mean", "layer", metric], ascending=[True, False, True, True, False], kind="stable"
    )
    return ordered_rows.drop(columns="is_mean").reset_index(drop=True)


def rank_link_methods(rows: pd.DataFrame, negatives: str) -> Ranking:
    """Average ranks over the layers of all datasets, by mean ROC-AUC against one kind of unlinked pairs."""
    done_rows = rows[(rows["status"] == "done") & (rows["negatives"] == negatives)]
    score_table = done_rows.pivot_table(index=["dataset", "layer"], columns="method", values="roc_auc").dropna()
    if len(score_table) < 2 or score_table.shape[1] < 2:
        raise DataError("ranks need at least 2 methods on at least 2 layers that all of them have been run on")
    return average_ranks(score_table.to_numpy(), [str(name) for name in score_table.columns])


def _verdicts(done: pd.DataFrame, metric: str) -> dict[tuple[str, ...], dict[str, Any]]:
    """By dataset, unlinked pairs, method and layer: whether it is the best there, or level with it."""

    def test(one: pd.Series, other: pd.Series) -> tuple[float, float]:
        return corrected_t_test(one - other, TEST_TO_TRAIN) if len(one) >= MIN_SPLITS else (math.nan, math.nan)

    all_verdicts: dict[tuple[str, ...], dict[str, Any]] = {}
    split_columns = ["realisation", "fold"]
    for (dataset, kind), cell_rows in done.groupby(["dataset", "negatives"], sort=False):
        by_layer = cell_rows.pivot_table(index=["layer", *split_columns], columns="method", values=metric)
        layer_scores = dict(iter(by_layer.groupby(level="layer")))
        # a split counts for the mean where all layers have it
        in_all_layers = by_layer.groupby(level=split_columns).size() == len(layer_scores)
        mean_scores = by_layer.groupby(level=split_columns).mean()[in_all_layers]
        for layer, method_scores in (layer_scores | {MEAN: mean_scores}).items():
            if len(method_scores) and method_scores.shape[1] > 1:
                for method, verdict in verdicts(method_scores, test).items():
                    all_verdicts[str(dataset), str(kind), str(method), str(layer)] = verdict
    return all_verdicts


def _pooled_error(texts: pd.Series) -> float:
    """The calibration error in percent over the pairs of all splits together; NaN for scores that are none."""
    bin_counts = [np.array(json.loads(text)) for text in texts.dropna()]
    return 100 * calibration_error(np.sum(bin_counts, axis=0)) if bin_counts else float("nan")


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
    chosen_methods = [link_method(name) for name in dict.fromkeys(methods)]
    check_repeats(repeats)
    if metric not in LINK_METRICS:
        raise DataError(f"there is no metric {metric!r} of links; {did_you_mean(metric, LINK_METRICS)}")
    run_specs = [
        LinkSpec(name, graph_checksum, layer, method, realisation, fold)
        for name, graph in datasets.items()
        for graph_checksum in [checksum(graph)]
        for layer in layers_with_links(graph)
        for realisation in range(repeats)
        for fold in range(num_rounds(graph, layer))
        for method in chosen_methods
    ]
    if not run_specs:
        raise DataError("no layer of the data has at least 2 edges, so no link can be held out")
    all_runs = recorded(run_specs, datasets, task="links", out=out, jobs=jobs, backend=backend, force=force, tell=tell)
    wanted_keys = {spec.key[:2] for spec in run_specs}
    is_wanted = [key in wanted_keys for key in zip(all_runs["dataset"], all_runs["checksum"], strict=True)]
    return summarise_links(all_runs[is_wanted], metric=metric)
