"""Synthetic edges: a multiplex of random graphs over the same classes, each layer with its own signal.

In a layer of signal s an edge starts at a random node and ends, with probability s, at a random node of the same
class, else at any node. Its homophily is therefore s + (1 - s) / classes, and s = 0 is pure noise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.datasets.readers import layer_signals, positive_int, shuffled_classes, streams
from gramme.datasets.record import Paths
from gramme.errors import DataError
from gramme.graph import Coupling, EdgeLayer, Layer, MembershipLayer, MultilayerGraph


# Synthetic table: the membership twin of the synthetic edges, one categorical column per layer.
def build_synthetic_table(
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
    groups = positive_int(groups, "groups")
    node_labels, of_layers = _classes(nodes, classes, signal, layers, random_state)
    if groups < classes:
        raise DataError(f"{groups} groups are too few for {classes} classes: each class needs one of its own")
    generated_layers: dict[str, Layer] = {
        f"column {layer_number}": MembershipLayer.from_codes(
            tied_groups(node_labels, classes, groups, strength, random), range(groups)
        )
        for layer_number, (strength, random) in enumerate(of_layers, start=1)
    }
    return MultilayerGraph(generated_layers, labels=node_labels, name="synthetic_table")


def _classes(
    nodes: int, classes: int, signal: float | Sequence[float] | None, layers: int | None, random_state: int | None
) -> tuple[NDArray[np.int64], list[tuple[float, np.random.Generator]]]:
    """The class of each node, and the signal and random numbers of each layer."""
    nodes, classes = positive_int(nodes, "nodes"), positive_int(classes, "classes")
    if classes > nodes:
        raise DataError(f"{nodes} nodes cannot hold {classes} classes")
    signals = layer_signals(signal, layers)
    first, *rest = streams(random_state, 1 + len(signals))
    return shuffled_classes(nodes, classes, first), list(zip(signals, rest, strict=True))


def tied_groups(
    labels: NDArray[np.int64], classes: int, groups: int, strength: float, random: np.random.Generator
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


def build_synthetic(
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
    node_labels, of_layers = _classes(nodes, classes, signal, layers, random_state)
    if not 0 <= degree < nodes:
        raise DataError(f"degree must be between 0 and nodes - 1 = {nodes - 1}, not {degree}")
    edges = round(nodes * degree / 2)
    generated_layers: dict[str, Layer] = {
        f"layer {layer_number}": EdgeLayer(nodes, *_edges(node_labels, classes, edges, strength, random))
        for layer_number, (strength, random) in enumerate(of_layers, start=1)
    }
    return MultilayerGraph(generated_layers, labels=node_labels, name="synthetic")


def _edges(
    labels: NDArray[np.int64], classes: int, edges: int, strength: float, random: np.random.Generator
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


# Synthetic coupled pair: two networks over different nodes, joined by couplings alone.
def build_synthetic_coupled(
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
    node_labels = np.concatenate([shuffled_classes(half, classes, one), shuffled_classes(nodes - half, classes, two)])
    first, second = np.arange(half), np.arange(half, nodes)
    source, from_second = (np.repeat(network, max(1, degree // 2)) for network in (first, second))
    target = _partners(node_labels[source], first, node_labels, of_first, inside)
    to_second = _partners(node_labels[from_second], second, node_labels, of_second, outside)
    coupled = np.repeat(second, couplings)
    partner = _partners(node_labels[coupled], first, node_labels, coupling_signal, between)
    return MultilayerGraph(
        {
            "first": EdgeLayer(nodes, source, target, nodes=first),
            "second": EdgeLayer(nodes, from_second, to_second, nodes=second),
        },
        couplings={("first", "second"): Coupling(nodes, partner, coupled)},
        labels=node_labels,
        name="synthetic_coupled",
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
    for node_label in np.unique(wanted):
        own = network[labels[network] == node_label]
        table_rows = np.flatnonzero(tied & (wanted == node_label))
        chosen[table_rows] = own[random.integers(own.size, size=table_rows.size)]
    return chosen


# Synthetic heterogeneous graph: papers with authors and venues, of any size up to ten million nodes and more.
def build_synthetic_kinds(
    paths: Paths,
    *,
    nodes: int = 1000,
    classes: int = 3,
    authors: int | None = None,
    venues: int = 30,
    authorships: int | None = None,
    signal: float = 0.8,
    random_state: int | None = 0,
) -> MultilayerGraph:
    """The papers are the nodes; time and memory grow with the authorships."""
    nodes = positive_int(nodes, "nodes")
    classes = positive_int(classes, "classes")
    authors = 3 * nodes if authors is None else positive_int(authors, "authors")
    venues = positive_int(venues, "venues")
    authorships = 10 * nodes if authorships is None else positive_int(authorships, "authorships")
    layer_signals([signal], 1)
    for count, what in ((nodes, "nodes"), (authors, "authors"), (venues, "venues")):
        if classes > count:
            raise DataError(f"{count} {what} cannot hold {classes} classes")
    first, second, third = streams(random_state, 3)
    node_labels = shuffled_classes(nodes, classes, first)
    paper = second.integers(nodes, size=authorships)
    author = tied_groups(node_labels[paper], classes, authors, signal, second)
    venue = tied_groups(node_labels, classes, venues, signal, third)
    return MultilayerGraph.from_relations(
        {
            ("paper", "author"): pd.DataFrame({"source": paper, "target": author}),
            ("paper", "venue"): pd.DataFrame({"source": np.arange(nodes), "target": venue}),
        },
        target="paper",
        nodes={"paper": pd.RangeIndex(nodes), "author": pd.RangeIndex(authors), "venue": pd.RangeIndex(venues)},
        labels=node_labels,
        name="synthetic_kinds",
    )
