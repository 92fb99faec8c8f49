"""Synthetic table: the membership twin of the synthetic edges, one categorical column per layer.

In a column of signal s a node's group is, with probability s, one of those that belong to its class, else any group.
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
from gramme.graph import Layer, MembershipLayer, MultilayerGraph


def build(
    paths: Paths,
    *,
    nodes: int = 1000,
    classes: int = 3,
    layers: int | None = None,
    groups: int = 6,
    signal: float | Sequence[float] | None = None,
    random_state: int | None = 0,
) -> MultilayerGraph:
    """Time and memory grow with nodes x layers; the implied edges are never made."""
    nodes = positive_int(nodes, "nodes")
    classes = positive_int(classes, "classes")
    groups = positive_int(groups, "groups")
    if classes > nodes:
        raise DataError(f"{nodes} nodes cannot hold {classes} classes")
    if groups < classes:
        raise DataError(
            f"{groups} groups are too few for {classes} classes: each class needs one of its own"
        )
    signals = layer_signals(signal, layers)
    first, *rest = streams(random_state, 1 + len(signals))
    labels = shuffled_classes(nodes, classes, first)
    made: dict[str, Layer] = {
        f"column {number}": MembershipLayer.from_codes(
            tied_groups(labels, classes, groups, strength, random), range(groups)
        )
        for number, (strength, random) in enumerate(zip(signals, rest, strict=True), start=1)
    }
    return MultilayerGraph(made, labels=labels, name=INFO.name)


def tied_groups(
    labels: NDArray[np.int64],
    classes: int,
    groups: int,
    strength: float,
    random: np.random.Generator,
) -> NDArray[np.int64]:
    """A group per label: one of its class's with the given probability, else any.

    Group g belongs to the class g mod classes, so a class has groups / classes of them or one more.
    """
    chosen = random.integers(groups, size=labels.size)
    tied = random.random(labels.size) < strength
    own = labels[tied]
    choices = (groups - own + classes - 1) // classes
    chosen[tied] = own + classes * random.integers(choices)
    return chosen


INFO = DatasetInfo(
    name="synthetic_table",
    title="Synthetic table of categories",
    description="a random table of any size, each categorical column a layer with a chosen signal",
    nodes=1000,
    layers=3,
    classes=3,
    recipe="per column a node takes one of its class's groups with probability signal, else any "
    "group; equal groups are joined. Label: the class",
    citation="none: defined here",
    licence="none needed: generated",
    caveat="A made-up graph: good for tests of speed and for seeing whether a method finds the "
    "layers with signal, no evidence of how it does on real data.",
    embedded=True,
    options={
        "nodes": "number of nodes (default: 1000)",
        "classes": "number of classes, equally large (default: 3)",
        "layers": "number of layers (default: one per signal)",
        "groups": "values a column can take, at least one per class (default: 6)",
        "signal": "one number from 0 (noise) to 1 (the group tells the class), or one per layer "
        "(default: 0.8, 0.5, 0.0 in turn)",
        "random_state": "seed (default: 0)",
    },
)
DATASET = Dataset(INFO, build)
