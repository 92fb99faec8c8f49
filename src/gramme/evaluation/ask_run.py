"""One run of the benchmark of asking: choose nodes of one half, learn their labels, test on the other half.

The test half is fixed before anything is chosen. Scoring on "all nodes without a label" instead would flatter
strategies that label the hardest nodes: these then no longer count.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gramme.errors import DataError
from gramme.evaluation.ask_strategies import LabelRequest, ask_strategy
from gramme.evaluation.run import told
from gramme.graph import MultilayerGraph
from gramme.grouping.communities import learned_layer_weights
from gramme.io.values import proper_text
from gramme.methods import LabelPropagation
from gramme.methods.labels import KnownLabels, aligned_labels
from gramme.methods.registry import method

Ints = NDArray[np.int64]

WEIGHTED = "weighted-propagation"
"""Label propagation with layer weights learned without labels: what few labels cannot tell about layers, the layers
do."""
DEFAULT_PREDICTORS = (WEIGHTED, "label-propagation")
DEFAULT_BUDGETS = (1, 2, 4)
"""Labels per class: times the number of classes they are what is asked for."""


@dataclass(frozen=True)
class AskSpec:
    """All that decides a run.

    Attributes
    ----------
    dataset, checksum : str
    strategy, predictor : str
    per_class : int
        Labels asked for, per class.
    realisation : int
        Which half is the test, and the seed of everything random.
    """

    dataset: str
    checksum: str
    strategy: str
    predictor: str
    per_class: int
    realisation: int

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells this run from all others."""
        where = proper_text(self.dataset), self.checksum
        return (*where, self.strategy, self.predictor, self.per_class, self.realisation)

    def run(self, graph: MultilayerGraph) -> AskResult:
        """Do it; whatever goes wrong in a strategy or a model is its result and no error here."""
        try:
            return AskResult(self, scored(graph, self))
        except Exception as error:
            return self.failed(told(error))

    def failed(self, error: str) -> AskResult:
        """The result of a run that could not end."""
        return AskResult(self, {"status": "failed", "error": error})


@dataclass(frozen=True)
class AskResult:
    """The result of a run as a row of a ledger."""

    spec: AskSpec
    scores: dict[str, Any]

    @property
    def row(self) -> dict[str, Any]:
        """The row as a ledger has it."""
        names = ("dataset", "checksum", "strategy", "predictor", "per_class", "realisation")
        return dict(zip(names, self.spec.key, strict=True)) | self.scores


def scored(graph: MultilayerGraph, spec: AskSpec) -> dict[str, Any]:
    """Choose, learn and test."""
    truth = all_labels(graph)
    codes = np.full(graph.num_nodes, -1)
    codes[truth.nodes] = truth.codes
    random = np.random.default_rng(spec.realisation)
    order = random.permutation(truth.nodes)
    pool, test = np.sort(order[: order.size // 2]), order[order.size // 2 :]
    count = spec.per_class * len(truth.classes)
    if count > pool.size:
        raise DataError(
            f"{count} labels are to be chosen from {pool.size} nodes, half of those with a label"
        )
    bare = graph.replace(labels=None)
    began = time.process_time()
    request = LabelRequest(
        bare,
        pool,
        count,
        len(truth.classes),
        lambda nodes: codes[nodes],
        np.random.default_rng([spec.realisation, 1]),
        spec.realisation,
    )
    chosen = ask_strategy(spec.strategy).choose(request)
    asked = time.process_time() - began
    predicted = predictions(bare, chosen, codes[chosen], spec)
    return {
        "status": "done",
        "labels": count,
        "accuracy": float((predicted[test] == codes[test]).mean()),
        "classes_seen": int(np.unique(codes[chosen]).size),
        "classes": len(truth.classes),
        "ask_seconds": asked,
        "cpu_seconds": time.process_time() - began,
    }


def predictions(graph: MultilayerGraph, chosen: Ints, codes: Ints, spec: AskSpec) -> Ints:
    """The class of every node, learned from the chosen ones; the only class where they have but one."""
    if np.unique(codes).size == 1:
        return np.full(graph.num_nodes, codes[0])
    known = np.full(graph.num_nodes, -1)
    known[chosen] = codes
    if spec.predictor == WEIGHTED:
        learned = learned_layer_weights(graph)
        weights = {str(layer): float(weight) for layer, weight in learned.items()}
        model: Any = LabelPropagation(layer_weights=weights, random_state=spec.realisation)
    else:
        model = method(spec.predictor).estimator(random_state=spec.realisation)
    return np.asarray(model.fit(graph, known.tolist()).predict()).astype(np.int64)


def all_labels(graph: MultilayerGraph) -> KnownLabels:
    """All labels of a graph as class numbers, for choosing and for the test."""
    values = aligned_labels(graph)
    nodes = np.array([i for i, value in enumerate(values) if value is not None], dtype=np.int64)
    classes = np.array(graph.classes, dtype=object)
    number = {label: place for place, label in enumerate(classes.tolist())}
    return KnownLabels(nodes, np.array([number[values[i]] for i in nodes], dtype=np.int64), classes)
