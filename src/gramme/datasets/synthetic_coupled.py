"""Synthetic coupled pair: two networks over different nodes, joined by couplings alone.

The edges of the first network follow the classes, those of the second do not: what class a node of the second has can
be learned only through its couplings to the first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gramme.datasets.options import layer_signals, positive_int, shuffled_classes, streams
from gramme.datasets.record import Dataset, DatasetInfo, Paths
from gramme.errors import DataError
from gramme.graph import Coupling, EdgeLayer, MultilayerGraph


def build(
    paths: Paths,
    *,
    nodes: int = 1000,
    classes: int = 3,
    degree: int = 10,
    couplings: int = 3,
    signal: float = 0.9,
    coupling_signal: float = 1.0,
    random_state: int | None = 0,
) -> MultilayerGraph:
    """Half of the nodes in each network; time and memory grow with nodes x (degree + couplings)."""
    nodes = positive_int(nodes, "nodes", least=2)
    classes = positive_int(classes, "classes")
    degree = positive_int(degree, "degree")
    couplings = positive_int(couplings, "couplings", least=0)
    layer_signals([signal, coupling_signal], 2)
    half = nodes // 2
    if classes > half:
        raise DataError(f"{half} nodes in a network cannot hold {classes} classes")
    one, two, inside, outside, between = streams(random_state, 5)
    labels = np.concatenate(
        [shuffled_classes(half, classes, one), shuffled_classes(nodes - half, classes, two)]
    )
    first, second = np.arange(half), np.arange(half, nodes)
    members = [np.flatnonzero(labels[:half] == label) for label in range(classes)]
    source = np.repeat(first, max(1, degree // 2))
    target = _partners(labels[source], members, half, signal, inside)
    from_second = np.repeat(second, max(1, degree // 2))
    to_second = outside.integers(half, nodes, size=from_second.size)
    coupled = np.repeat(second, couplings)
    partner = _partners(labels[coupled], members, half, coupling_signal, between)
    return MultilayerGraph(
        {
            "first": EdgeLayer(nodes, source, target, nodes=first),
            "second": EdgeLayer(nodes, from_second, to_second, nodes=second),
        },
        couplings={("first", "second"): Coupling(nodes, partner, coupled)},
        labels=labels,
        name=INFO.name,
    )


def _partners(
    labels: NDArray[np.int64],
    members: list[NDArray[np.int64]],
    size: int,
    strength: float,
    random: np.random.Generator,
) -> NDArray[np.int64]:
    """For each label a node of the first network: of that class with the given probability, else any."""
    chosen = random.integers(size, size=labels.size)
    tied = random.random(labels.size) < strength
    for label, own in enumerate(members):
        rows = np.flatnonzero(tied & (labels == label))
        chosen[rows] = own[random.integers(own.size, size=rows.size)]
    return chosen


INFO = DatasetInfo(
    name="synthetic_coupled",
    title="Synthetic coupled pair of networks",
    description="two random networks over different nodes; only couplings tell the second's classes",
    nodes=1000,
    layers=2,
    classes=3,
    recipe="in the first network half of a node's edges go to its own class with probability "
    "signal, else to anybody; in the second all go to anybody. A node of the second is coupled to "
    "nodes of the first, of its own class with probability coupling_signal. Label: the class",
    citation="none: defined here",
    licence="none needed: generated",
    caveat="A made-up graph: it shows whether a method uses couplings, no more.",
    embedded=True,
    options={
        "nodes": "number of nodes, half of them in each network (default: 1000)",
        "classes": "number of classes, equally large (default: 3)",
        "degree": "average number of neighbours within a network (default: 10)",
        "couplings": "couplings of each node of the second network (default: 3)",
        "signal": "from 0 to 1, how far the first network follows the classes (default: 0.9)",
        "coupling_signal": "from 0 to 1, how far couplings do (default: 1.0)",
        "random_state": "seed (default: 0)",
    },
)
DATASET = Dataset(INFO, build)
