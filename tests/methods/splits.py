"""Accuracy over uniform random splits, seeded by the realisation, for the tests of quality."""

from collections.abc import Callable
from typing import Any

import numpy as np

from gramme import MultilayerGraph
from gramme.methods import NodeClassifier


def mean_accuracy(
    make: Callable[..., NodeClassifier], graph: MultilayerGraph, percent: float, repeats: int = 5, **settings: Any
) -> float:
    """Mean accuracy on the nodes that were not trained on."""
    assert graph.labels is not None
    found = []
    for seed in range(repeats):
        order = np.random.default_rng(seed).permutation(graph.num_nodes)
        size = max(1, round(graph.num_nodes * percent / 100))
        y = np.full(graph.num_nodes, None, dtype=object)
        y[order[:size]] = graph.labels[order[:size]]
        predicted = make(**settings, random_state=seed).fit(graph, y).predict()
        found.append((predicted == graph.labels)[order[size:]].mean())
    return float(np.mean(found))
