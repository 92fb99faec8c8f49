"""Synthetic coupled pair: two networks over different nodes, joined by couplings alone.

Where labels are known in the first network alone, the classes of the second can be learned only through the couplings,
whether or not its own edges follow them.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    signal: float | Sequence[float] = 0.9,
    coupling_signal: float = 1.0,
    random_state: int | None = 0,
) -> MultilayerGraph:
    """Half of the nodes in each network; time and memory grow with nodes x (degree + couplings)."""
    nodes = positive_int(nodes, "nodes", least=2)
    classes = positive_int(classes, "classes")
    degree = positive_int(degree, "degree")
    couplings = positive_int(couplings, "couplings", least=0)
    of_first, of_second = layer_signals(signal, 2)
    layer_signals([coupling_signal], 1)
    half = nodes // 2
    if classes > half:
        raise DataError(f"{half} nodes in a network cannot hold {classes} classes")
    one, two, inside, outside, between = streams(random_state, 5)
    labels = np.concatenate(
        [shuffled_classes(half, classes, one), shuffled_classes(nodes - half, classes, two)]
    )
    first, second = np.arange(half), np.arange(half, nodes)
    source, from_second = (np.repeat(network, max(1, degree // 2)) for network in (first, second))
    target = _partners(labels[source], first, labels, of_first, inside)
    to_second = _partners(labels[from_second], second, labels, of_second, outside)
    coupled = np.repeat(second, couplings)
    partner = _partners(labels[coupled], first, labels, coupling_signal, between)
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
    wanted: NDArray[np.int64],
    network: NDArray[np.int64],
    labels: NDArray[np.int64],
    strength: float,
    random: np.random.Generator,
) -> NDArray[np.int64]:
    """For each wanted class a node of a network: of that class with the given probability, else any."""
    chosen = network[random.integers(network.size, size=wanted.size)]
    tied = random.random(wanted.size) < strength
    for label in np.unique(wanted):
        own = network[labels[network] == label]
        rows = np.flatnonzero(tied & (wanted == label))
        chosen[rows] = own[random.integers(own.size, size=rows.size)]
    return chosen


INFO = DatasetInfo(
    name="synthetic_coupled",
    title="Synthetic coupled pair of networks",
    description="two random networks over different nodes, joined by couplings",
    nodes=1000,
    layers=2,
    classes=3,
    recipe="an edge of a node goes to its own class with probability signal, else to anybody in its "
    "network. A node of the second network is coupled to nodes of the first, of its own class with "
    "probability coupling_signal. Label: the class",
    citation="none: defined here",
    licence="none needed: generated",
    caveat="A made-up graph: it shows whether a method uses couplings, no more.",
    embedded=True,
    options={
        "nodes": "number of nodes, half of them in each network (default: 1000)",
        "classes": "number of classes, equally large (default: 3)",
        "degree": "average number of neighbours within a network (default: 10)",
        "couplings": "couplings of each node of the second network (default: 3)",
        "signal": "from 0 to 1, how far the networks follow the classes: one number, or one for "
        "each (default: 0.9)",
        "coupling_signal": "from 0 to 1, how far couplings do (default: 1.0)",
        "random_state": "seed (default: 0)",
    },
)
DATASET = Dataset(INFO, build)
