"""Synthetic edges: a multiplex of random graphs over the same classes, each layer with its own signal.

In a layer of signal s an edge starts at a random node and ends, with probability s, at a random node of the same
class, else at any node. Its homophily is therefore s + (1 - s) / classes, and s = 0 is pure noise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gramme.datasets.options import (
    layer_signals,
    positive_int,
    shuffled_classes,
    streams,
)
from gramme.datasets.record import Dataset, DatasetInfo, Paths
from gramme.errors import DataError
from gramme.graph import EdgeLayer, Layer, MultilayerGraph


def build(
    paths: Paths,
    *,
    nodes: int = 1000,
    classes: int = 3,
    layers: int | None = None,
    degree: float = 10,
    signal: float | Sequence[float] | None = None,
    random_state: int | None = 0,
) -> MultilayerGraph:
    """Time and memory grow with the edges, nodes x degree / 2 per layer, never with nodes squared."""
    nodes = positive_int(nodes, "nodes", least=2)
    classes = positive_int(classes, "classes")
    if classes > nodes:
        raise DataError(f"{nodes} nodes cannot hold {classes} classes")
    if not 0 <= degree < nodes:
        raise DataError(f"degree must be between 0 and nodes - 1 = {nodes - 1}, not {degree}")
    signals = layer_signals(signal, layers)
    first, *rest = streams(random_state, 1 + len(signals))
    labels = shuffled_classes(nodes, classes, first)
    edges = round(nodes * degree / 2)
    made: dict[str, Layer] = {
        f"layer {number}": EdgeLayer(nodes, *_edges(labels, classes, edges, strength, random))
        for number, (strength, random) in enumerate(zip(signals, rest, strict=True), start=1)
    }
    return MultilayerGraph(made, labels=labels, name=INFO.name)


def _edges(
    labels: NDArray[np.int64],
    classes: int,
    edges: int,
    strength: float,
    random: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    source = random.integers(labels.size, size=edges)
    target = random.integers(labels.size, size=edges)
    inside = random.random(edges) < strength
    by_class = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels, minlength=classes)
    starts = np.cumsum(sizes) - sizes
    own = labels[source[inside]]
    target[inside] = by_class[starts[own] + random.integers(sizes[own])]
    return source, target


INFO = DatasetInfo(
    name="synthetic",
    title="Synthetic multiplex of edges",
    description="random graphs of any size over the same classes, each layer with a chosen signal",
    nodes=1000,
    layers=3,
    classes=3,
    recipe="per layer nodes x degree / 2 edges from a random node to one of its class with "
    "probability signal, else to any node; self loops and repeats are dropped. Label: the class",
    citation="P. W. Holland, K. B. Laskey and S. Leinhardt, Stochastic blockmodels: First steps, "
    "Social Networks 5 (1983)",
    licence="none needed: generated",
    caveat="A made-up graph: good for tests of speed and for seeing whether a method finds the "
    "layers with signal, no evidence of how it does on real data.",
    embedded=True,
    options={
        "nodes": "number of nodes (default: 1000)",
        "classes": "number of classes, equally large (default: 3)",
        "layers": "number of layers (default: one per signal)",
        "degree": "mean number of neighbours in a layer (default: 10)",
        "signal": "one number from 0 (noise) to 1 (edges stay inside classes), or one per layer "
        "(default: 0.8, 0.5, 0.0 in turn)",
        "random_state": "seed (default: 0)",
    },
)
DATASET = Dataset(INFO, build)
