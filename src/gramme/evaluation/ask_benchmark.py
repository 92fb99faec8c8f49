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
        where = proper_text(self.dataset), self.checksum
        return (*where, self.strategy, self.predictor, self.per_class, self.realisation)

    def scored(self, graph: MultilayerGraph) -> list[dict[str, Any]]:
        """Choose, learn and test."""
        truth = all_labels(graph)
        codes = np.full(graph.num_nodes, -1)
        codes[truth.nodes] = truth.codes
        classes, seed = len(truth.classes), self.realisation
        if self.split is None:
            order = np.random.default_rng(seed).permutation(truth.nodes)
            pool, test = np.sort(order[: order.size // 2]), order[order.size // 2 :]
        else:
            pool, test = self.split.train, self.split.test
        count = self.per_class * classes
        if count > pool.size:
            raise DataError(f"{count} labels are to be chosen from {pool.size} nodes with a label")
        bare = graph.replace(labels=None)
        began = time.process_time()
        random = np.random.default_rng([seed, 1])
        request = LabelRequest(bare, pool, count, classes, lambda nodes: codes[nodes], random, seed)
        chosen = ask_strategy(self.strategy).choose(request)
        asked = time.process_time() - began
        predicted = predictions(bare, chosen, codes[chosen], self)
        return [
            {
                "labels": count,
                "accuracy": float((predicted[test] == codes[test]).mean()),
                "macro_f1": float(f1_score(codes[test], predicted[test], average="macro", zero_division=0)),
                "classes_seen": int(np.unique(codes[chosen]).size),
                "classes": classes,
                "ask_seconds": asked,
                "cpu_seconds": time.process_time() - began,
            }
        ]


def predictions(graph: MultilayerGraph, chosen: Ints, codes: Ints, spec: AskSpec) -> Ints:
    """The class of every node, learned from the chosen ones; the only class where they have but one."""
    if spec.predictor == WEIGHTED:
        weights: Any = learned_layer_weights(graph).to_dict()
        model: Any = LabelPropagation(layer_weights=weights, random_state=spec.realisation)
    else:
        model = method(spec.predictor).create(random_state=spec.realisation)
    return predicted_codes(graph, chosen, codes, model)


def all_labels(graph: MultilayerGraph) -> KnownLabels:
    """All labels of a graph as class numbers, for choosing and for the test."""
    values = aligned_labels(graph)
    nodes = np.array([i for i, value in enumerate(values) if value is not None], dtype=np.int64)
    number = {label: place for place, label in enumerate(graph.classes)}
    codes = np.array([number[values[i]] for i in nodes], dtype=np.int64)
    return KnownLabels(nodes, codes, np.array(graph.classes, dtype=object))


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
    chosen = [ask_strategy(name).name for name in dict.fromkeys(strategies)]
    judges = list(dict.fromkeys(predictors))
    for name in judges:
        if name != WEIGHTED:
            method(name)
    budgets = list(dict.fromkeys(per_class))
    if not budgets or any(one < 1 for one in budgets):
        raise DataError(f"labels per class must be whole numbers from 1, not {budgets}")
    check_repeats(repeats)
    if metric not in ASK_METRICS:
        raise DataError(f"there is no metric {metric!r} of asking; {did_you_mean(metric, ASK_METRICS)}")
    for name, graph in datasets.items():
        if len(graph.classes) < 2:
            raise DataError(f"{name} has labels of fewer than two classes, so nothing can be asked")
    given = splits_by_dataset(datasets, splits)
    specs = [
        AskSpec(name, code, strategy, predictor, budget, realisation, split)
        for name, graph in datasets.items()
        for code in [dataset_checksum(graph, given[name] if given else ())]
        for predictor in judges
        for budget in budgets
        for realisation, split in enumerate(given[name] if given else [None] * repeats)
        for strategy in chosen
    ]
    table = recorded(specs, datasets, task="ask", out=out, jobs=jobs, backend=backend, force=force, tell=tell)
    wanted = {spec.key for spec in specs}
    key = list(LEDGER_KINDS["ask"].run_key)
    mine = [key in wanted for key in table[key].itertuples(index=False, name=None)]
    return summarise_asking(table[mine], metric=metric)


def summarise_asking(rows: pd.DataFrame, *, metric: str = "accuracy") -> pd.DataFrame:
    """A row per dataset, predictor, number of labels and strategy, the best strategy first.

    Columns: ``dataset, predictor, per_class, labels, strategy, repeats, failed, accuracy`` in percent with
    ``accuracy_ci95``, ``against_random`` (mean difference on the same halves, in points) with
    ``against_random_ci95``, ``classes_seen`` (share of the classes that have a label), ``ask_seconds`` and
    ``cpu_seconds``.
    """
    keys = ["dataset", "predictor", "per_class"]
    found = []
    for place, group in rows.groupby(keys, sort=False):
        done = group[group["status"] == "done"]
        scores = 100 * done.pivot_table(index="realisation", columns="strategy", values=metric)
        for strategy, mine in group.groupby("strategy", sort=False):
            good = mine[mine["status"] == "done"]
            mean, _, reach = mean_interval(100 * good[metric])
            row = dict(zip(keys, place, strict=True)) | {
                "labels": good["labels"].max(),
                "strategy": strategy,
                "repeats": len(good),
                "failed": len(mine) - len(good),
                metric: mean,
                f"{metric}_ci95": reach,
            }
            if "random" in scores and strategy in scores:
                mean, _, reach = mean_interval((scores[strategy] - scores["random"]).dropna())
                row |= {"against_random": mean, "against_random_ci95": reach}
            row["classes_seen"] = (good["classes_seen"] / good["classes"]).mean()
            found.append(row | {name: good[name].mean() for name in ("ask_seconds", "cpu_seconds")})
    table = pd.DataFrame(found)
    if not len(table):
        return table
    return table.sort_values([*keys, metric], ascending=[True] * 3 + [False], kind="stable", ignore_index=True)


def strategy_ranks(summary: pd.DataFrame, *, metric: str = "accuracy") -> pd.DataFrame:
    """By predictor, number of labels and strategy: mean of the metric, mean gain over random, worst gain, mean rank.

    Only datasets that every strategy was run on count.
    """
    found = []
    for (predictor, budget), group in summary.groupby(["predictor", "per_class"], sort=False):
        scores = group.pivot_table(index="dataset", columns="strategy", values=metric).dropna()
        ranks = scores.rank(axis=1, ascending=False)
        gains = scores.sub(scores["random"], axis=0) if "random" in scores else scores * np.nan
        for strategy in scores:
            found.append(
                {
                    "predictor": predictor,
                    "per_class": budget,
                    "strategy": strategy,
                    "datasets": len(scores),
                    metric: scores[strategy].mean(),
                    "against_random": gains[strategy].mean(),
                    "worst_against_random": gains[strategy].min(),
                    "mean_rank": ranks[strategy].mean(),
                }
            )
    table = pd.DataFrame(found)
    return table.sort_values(["predictor", "per_class", "mean_rank"], ignore_index=True)
