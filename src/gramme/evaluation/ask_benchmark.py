"""The benchmark of asking: choose nodes of one half, learn their labels, test on the other half.

The test half is fixed before anything is chosen. Scoring on "all nodes without a label" instead would flatter
strategies that label the hardest nodes: these then no longer count.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import f1_score

from gramme._types import Ints
from gramme.errors import DataError, did_you_mean
from gramme.graph import MultilayerGraph
from gramme.grouping.communities import learned_layer_weights
from gramme.io.values import proper_text
from gramme.methods import LabelPropagation
from gramme.methods.labels import KnownLabels, aligned_labels
from gramme.methods.registry import method

from .ask_strategies import ASK_STRATEGIES, LabelRequest, ask_strategy
from .benchmark import TaskSpec, check_repeats, dataset_checksum, recorded, splits_by_dataset
from .learning_curve import predicted_codes
from .ledger import LEDGER_KINDS
from .splits import GivenSplit
from .statistics import mean_interval

WEIGHTED = "weighted-propagation"
"""Label propagation with layer weights learned without labels: what few labels cannot tell about layers, the layers
do."""
DEFAULT_PREDICTORS = (WEIGHTED, "label-propagation")
ASK_METRICS = ("accuracy", "macro_f1")
DEFAULT_BUDGETS = (1, 2, 4)
"""Labels per class: times the number of classes they are what is asked for."""


@dataclass(frozen=True)
class AskSpec(TaskSpec):
    """All that decides a run: how many labels per class are asked for, and which half is the test.

    The realisation is also the seed of everything random; a split has the nodes to choose from and to test on, in place
    of random halves.
    """

    task = "ask"

    dataset: str
    checksum: str
    strategy: str
    predictor: str
    per_class: int
    realisation: int
    split: GivenSplit | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        dataset_key = proper_text(self.dataset), self.checksum
        return (*dataset_key, self.strategy, self.predictor, self.per_class, self.realisation)

    def scored(self, graph: MultilayerGraph) -> list[dict[str, Any]]:
        """Choose, learn and test."""
        true_labels = all_labels(graph)
        label_codes = np.full(graph.num_nodes, -1)
        label_codes[true_labels.nodes] = true_labels.codes
        classes, seed = len(true_labels.classes), self.realisation
        if self.split is None:
            shuffled_nodes = np.random.default_rng(seed).permutation(true_labels.nodes)
            pool_nodes, test_nodes = (
                np.sort(shuffled_nodes[: shuffled_nodes.size // 2]),
                shuffled_nodes[shuffled_nodes.size // 2 :],
            )
        else:
            pool_nodes, test_nodes = self.split.train, self.split.test
        num_asked = self.per_class * classes
        if num_asked > pool_nodes.size:
            raise DataError(f"{num_asked} labels are to be chosen from {pool_nodes.size} nodes with a label")
        unlabelled_graph = graph.replace(labels=None)
        start_seconds = time.process_time()
        random = np.random.default_rng([seed, 1])
        request = LabelRequest(
            unlabelled_graph, pool_nodes, num_asked, classes, lambda nodes: label_codes[nodes], random, seed
        )
        chosen_nodes = ask_strategy(self.strategy).choose(request)
        ask_seconds = time.process_time() - start_seconds
        predicted_codes = predictions(unlabelled_graph, chosen_nodes, label_codes[chosen_nodes], self)
        return [
            {
                "labels": num_asked,
                "accuracy": float((predicted_codes[test_nodes] == label_codes[test_nodes]).mean()),
                "macro_f1": float(
                    f1_score(label_codes[test_nodes], predicted_codes[test_nodes], average="macro", zero_division=0)
                ),
                "classes_seen": int(np.unique(label_codes[chosen_nodes]).size),
                "classes": classes,
                "ask_seconds": ask_seconds,
                "cpu_seconds": time.process_time() - start_seconds,
            }
        ]


def predictions(graph: MultilayerGraph, chosen: Ints, codes: Ints, spec: AskSpec) -> Ints:
    """The class of every node, learned from the chosen ones; the only class where they have but one."""
    if spec.predictor == WEIGHTED:
        layer_weights: Any = learned_layer_weights(graph).to_dict()
        model: Any = LabelPropagation(layer_weights=layer_weights, random_state=spec.realisation)
    else:
        model = method(spec.predictor).create(random_state=spec.realisation)
    return predicted_codes(graph, chosen, codes, model)


def all_labels(graph: MultilayerGraph) -> KnownLabels:
    """All labels of a graph as class numbers, for choosing and for the test."""
    node_labels = aligned_labels(graph)
    labelled_nodes = np.array([i for i, node_label in enumerate(node_labels) if node_label is not None], dtype=np.int64)
    class_codes = {label: class_code for class_code, label in enumerate(graph.classes)}
    label_codes = np.array([class_codes[node_labels[i]] for i in labelled_nodes], dtype=np.int64)
    return KnownLabels(labelled_nodes, label_codes, np.array(graph.classes, dtype=object))


def ask_benchmark(
    datasets: Mapping[str, MultilayerGraph],
    strategies: Iterable[str] = tuple(ASK_STRATEGIES),
    *,
    out: Any,
    predictors: Iterable[str] = DEFAULT_PREDICTORS,
    per_class: Iterable[int] = DEFAULT_BUDGETS,
    repeats: int = 20,
    splits: Any = None,
    metric: str = "accuracy",
    jobs: int | None = 1,
    backend: str = "loky",
    force: bool = False,
    tell: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Compare ways to choose whom to label, resuming where an earlier call ended.

    Parameters
    ----------
    datasets : mapping of str to MultilayerGraph
        With the labels of all or most nodes.
    strategies : sequence of str
        See ``gramme.evaluation.ask_strategies.ASK_STRATEGIES``.
    out : path-like
        The ledger, a sqlite file.
    predictors : sequence of str
        Methods that learn from the chosen nodes, by name, or ``weighted-propagation``: label propagation with layer
        weights that are learned without labels.
    per_class : sequence of int
        How many labels to ask for, as multiples of the number of classes.
    repeats : int, default=20
        Random halves.
    splits : sequence of (pool, test), or mapping of dataset to such a sequence, optional
        Nodes to choose from and to test on in place of random halves, as for :func:`gramme.evaluation.benchmark`.
    metric : {"accuracy", "macro_f1"}, default="accuracy"
        What strategies are compared by.
    jobs, backend, force, tell
        As for ``link_benchmark``.

    Returns
    -------
    DataFrame
        The summary, see ``summarise_asking``.
    """
    strategy_names = [ask_strategy(name).name for name in dict.fromkeys(strategies)]
    predictor_names = list(dict.fromkeys(predictors))
    for dataset_name in predictor_names:
        if dataset_name != WEIGHTED:
            method(dataset_name)
    budgets = list(dict.fromkeys(per_class))
    if not budgets or any(labels_per_class < 1 for labels_per_class in budgets):
        raise DataError(f"labels per class must be whole numbers from 1, not {budgets}")
    check_repeats(repeats)
    if metric not in ASK_METRICS:
        raise DataError(f"there is no metric {metric!r} of asking; {did_you_mean(metric, ASK_METRICS)}")
    for dataset_name, graph in datasets.items():
        if len(graph.classes) < 2:
            raise DataError(f"{dataset_name} has labels of fewer than two classes, so nothing can be asked")
    given_splits = splits_by_dataset(datasets, splits)
    specs = [
        AskSpec(name, data_checksum, strategy, predictor, budget, realisation, split)
        for name, graph in datasets.items()
        for data_checksum in [dataset_checksum(graph, given_splits[name] if given_splits else ())]
        for predictor in predictor_names
        for budget in budgets
        for realisation, split in enumerate(given_splits[name] if given_splits else [None] * repeats)
        for strategy in strategy_names
    ]
    all_runs = recorded(specs, datasets, task="ask", out=out, jobs=jobs, backend=backend, force=force, tell=tell)
    run_keys = {spec.key for spec in specs}
    key_columns = list(LEDGER_KINDS["ask"].run_key)
    is_wanted = [key in run_keys for key in all_runs[key_columns].itertuples(index=False, name=None)]
    return summarise_asking(all_runs[is_wanted], metric=metric)


def summarise_asking(rows: pd.DataFrame, *, metric: str = "accuracy") -> pd.DataFrame:
    """A row per dataset, predictor, number of labels and strategy, the best strategy first.

    Columns: ``dataset, predictor, per_class, labels, strategy, repeats, failed, accuracy`` in percent with
    ``accuracy_ci95``, ``against_random`` (mean difference on the same halves, in points) with
    ``against_random_ci95``, ``classes_seen`` (share of the classes that have a label), ``ask_seconds`` and
    ``cpu_seconds``.
    """
    key_columns = ["dataset", "predictor", "per_class"]
    summary_rows = []
    for cell_key, cell_runs in rows.groupby(key_columns, sort=False):
        done_runs = cell_runs[cell_runs["status"] == "done"]
        score_table = 100 * done_runs.pivot_table(index="realisation", columns="strategy", values=metric)
        for strategy, strategy_runs in cell_runs.groupby("strategy", sort=False):
            scored_runs = strategy_runs[strategy_runs["status"] == "done"]
            mean_score, _, interval_width = mean_interval(100 * scored_runs[metric])
            summary_row = dict(zip(key_columns, cell_key, strict=True)) | {
                "labels": scored_runs["labels"].max(),
                "strategy": strategy,
                "repeats": len(scored_runs),
                "failed": len(strategy_runs) - len(scored_runs),
                metric: mean_score,
                f"{metric}_ci95": interval_width,
            }
            if "random" in score_table and strategy in score_table:
                mean_score, _, interval_width = mean_interval((score_table[strategy] - score_table["random"]).dropna())
                summary_row |= {"against_random": mean_score, "against_random_ci95": interval_width}
            summary_row["classes_seen"] = (scored_runs["classes_seen"] / scored_runs["classes"]).mean()
            summary_rows.append(
                summary_row | {cost_name: scored_runs[cost_name].mean() for cost_name in ("ask_seconds", "cpu_seconds")}
            )
    summary_table = pd.DataFrame(summary_rows)
    if not len(summary_table):
        return summary_table
    return summary_table.sort_values(
        [*key_columns, metric], ascending=[True] * 3 + [False], kind="stable", ignore_index=True
    )


def strategy_ranks(summary: pd.DataFrame, *, metric: str = "accuracy") -> pd.DataFrame:
    """By predictor, number of labels and strategy: mean of the metric, mean gain over random, worst gain, mean rank.

    Only datasets that every strategy was run on count.
    """
    rank_rows = []
    for (predictor, budget), cell_summary in summary.groupby(["predictor", "per_class"], sort=False):
        score_table = cell_summary.pivot_table(index="dataset", columns="strategy", values=metric).dropna()
        rank_table = score_table.rank(axis=1, ascending=False)
        gain_table = score_table.sub(score_table["random"], axis=0) if "random" in score_table else score_table * np.nan
        for strategy in score_table:
            rank_rows.append(
                {
                    "predictor": predictor,
                    "per_class": budget,
                    "strategy": strategy,
                    "datasets": len(score_table),
                    metric: score_table[strategy].mean(),
                    "against_random": gain_table[strategy].mean(),
                    "worst_against_random": gain_table[strategy].min(),
                    "mean_rank": rank_table[strategy].mean(),
                }
            )
    ranked_table = pd.DataFrame(rank_rows)
    return ranked_table.sort_values(["predictor", "per_class", "mean_rank"], ignore_index=True)
