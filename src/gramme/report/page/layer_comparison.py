"""What the data alone say about the layers: which ones are alike, and which ones go with which class.

Both come from the layers and the labels that were learned from, not from the model: they hold for every method.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme._types import Floats
from gramme.evaluation.metrics import accuracy_interval
from gramme.graph import MultilayerGraph
from gramme.graph.layer import Layer

from .html import for_templates

# Which layers are alike: the correlation of two layers over all pairs of nodes.

MAX_PRODUCTS = 3_000_000
"""Products of two memberships or edges that are taken; beyond them nodes are sampled."""


@dataclass(frozen=True)
class LayerSimilarity:
    """Correlations of layers (NaN for one that joins all pairs alike, or none), and how many nodes were looked at."""

    table: pd.DataFrame
    nodes: int


def layer_similarity(
    graph: MultilayerGraph, layers: Sequence[str] | None = None, *, random_state: int = 0
) -> LayerSimilarity:
    """The correlation of every two layers over the pairs of nodes; of a large graph, over a random sample of them.

    A node that a layer does not hold is joined to nobody there.

    >>> from gramme.graph import MembershipLayer
    >>> one, other = (MembershipLayer.from_codes([0, 0, 1, 1]), MembershipLayer.from_codes([0, 1, 0, 1]))
    >>> g = MultilayerGraph({"a": one, "b": one, "c": other})
    >>> layer_similarity(g).table.round(2).loc["a"].tolist()
    [1.0, 1.0, -0.5]
    """
    names = list(graph.layers if layers is None else layers)
    chosen = {name: graph.layer(name) for name in names}
    nodes = _looked_at(list(chosen.values()), graph.num_nodes, random_state)
    if nodes.size < graph.num_nodes:
        chosen = {name: layer.subset(nodes) for name, layer in chosen.items()}
    sums, products = _sums(list(chosen.values()), nodes.size)
    pairs = max(nodes.size * (nodes.size - 1), 1)
    covariance = products / pairs - np.outer(sums, sums) / pairs**2
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    # what rounding leaves of a layer that joins all pairs alike is not a deviation
    steady = deviation <= 1e-7 * np.sqrt(np.diag(products) / pairs)
    deviation[steady] = np.nan
    table = np.clip(covariance / np.outer(deviation, deviation), -1.0, 1.0)
    return LayerSimilarity(pd.DataFrame(table, index=names, columns=names), int(nodes.size))


def _looked_at(layers: list[Layer], count: int, random_state: int) -> NDArray[np.int64]:
    """All nodes, or a sample whose pairs are few enough to look at."""
    groups, edges = np.zeros(count), np.zeros(count)
    for layer in layers:
        inside = layer.incidence()
        if inside is None:
            edges += layer.degrees()
        else:
            groups += np.diff(inside.indptr)
    mean = float(groups.mean()) if count else 0.0
    work = float((groups**2).sum() + edges.sum() * (mean + len(layers)))
    if work <= MAX_PRODUCTS:
        return np.arange(count)
    kept = max(2, int(count * MAX_PRODUCTS / work))
    return np.sort(np.random.default_rng(random_state).choice(count, kept, replace=False))


def _sums(layers: list[Layer], count: int) -> tuple[Floats, Floats]:
    """The sum of each layer over all ordered pairs, and of the product of every two."""
    incidences = [layer.incidence() for layer in layers]
    group_layers = [place for place, matrix in enumerate(incidences) if matrix is not None]
    edge_matrices = {place: _unit(layer.to_scipy()) for place, layer in enumerate(layers) if incidences[place] is None}
    no_groups = sp.csr_array((count, 0))
    scaled_incidences = [_unit(matrix) for matrix in incidences if matrix is not None]
    all_groups = sp.csr_array(sp.hstack([no_groups, *scaled_incidences]))
    layer_of_group = np.repeat(group_layers, [part.shape[1] for part in scaled_incidences]).astype(np.int64)
    self_products = np.zeros((count, len(layers)))  # what a node shares with itself in each layer
    for place, part in zip(group_layers, scaled_incidences, strict=True):
        self_products[:, place] = part.multiply(part).sum(axis=1)

    layer_sums = np.zeros(len(layers))
    layer_products = np.zeros((len(layers), len(layers)))
    for place, part in zip(group_layers, scaled_incidences, strict=True):
        layer_sums[place] = (np.asarray(part.sum(axis=0)) ** 2).sum() - self_products[:, place].sum()
    group_overlaps = (all_groups.T @ all_groups).tocoo()
    pair_codes = layer_of_group[group_overlaps.row] * len(layers) + layer_of_group[group_overlaps.col]
    layer_products += np.bincount(pair_codes, group_overlaps.data**2, minlength=layer_products.size).reshape(
        layer_products.shape
    )
    layer_products -= self_products.T @ self_products
    for place, matrix in edge_matrices.items():
        layer_sums[place] = matrix.sum()
        edge_overlaps = (matrix @ all_groups).multiply(all_groups).tocoo()
        overlap_sums = np.bincount(layer_of_group[edge_overlaps.col], edge_overlaps.data, minlength=len(layers))
        for other, second in edge_matrices.items():
            overlap_sums[other] = matrix.multiply(second).sum()
        layer_products[place] += overlap_sums
        layer_products[group_layers, place] += overlap_sums[group_layers]
    return layer_sums, layer_products


def _unit(matrix: sp.csr_array) -> sp.csr_array:
    """Divided by the largest weight: a correlation does not change, and squares of extreme weights stay finite."""
    return sp.csr_array(matrix / matrix.data.max(initial=1e-300))


MAX_COMPARED_LAYERS = 16
"""Layers in the table of similarities, the most important ones."""
_MAX_CLASSES = 12  # classes with a row, the most frequent ones
_MIN_NODES = 3  # labelled nodes with labelled neighbours, below which nothing is said about a class and a layer

Codes = NDArray[np.int64]


def layer_comparison(
    graph: MultilayerGraph, order: Sequence[str], codes: Codes, classes: Sequence[str]
) -> dict[str, Any]:
    """Similarities of the layers, the most important first, and how much each speaks for each class.

    ``codes`` are the classes that were learned, counted from 1; 0 where there was none.
    """
    compared_layers = list(order)[:MAX_COMPARED_LAYERS]
    layer_similarities = layer_similarity(graph, compared_layers)
    known_nodes = np.flatnonzero(codes)
    class_sizes = np.bincount(codes[known_nodes], minlength=len(classes) + 1)[1:]
    shown_classes = np.argsort(-class_sizes, kind="stable")[:_MAX_CLASSES]
    class_shares_by_layer = [
        class_shares(graph.layers[layer], codes, len(classes)) for layer in compared_layers if graph.num_nodes
    ]
    return {
        "layers": compared_layers,
        "total_layers": graph.num_layers,
        "nodes": layer_similarities.nodes,
        "all_nodes": graph.num_nodes,
        "similarity": [[_number(value) for value in row] for row in layer_similarities.table.to_numpy()],
        "classes": [
            {
                "class": classes[place],
                "labelled": int(class_sizes[place]),
                "chance": (class_sizes[place] - 1) / (known_nodes.size - 1),
                "layers": [
                    {"layer": layer, "share": share[place], "nodes": int(heard[place])}
                    for layer, (share, heard) in zip(compared_layers, class_shares_by_layer, strict=True)
                    if heard[place]
                ],
            }
            for place in np.sort(shown_classes).tolist()
            if class_sizes[place] and known_nodes.size > 1
        ],
        "total_classes": int((class_sizes > 0).sum()),
    }


def class_shares(layer: Layer, codes: Codes, classes: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """For each class: of the labelled neighbours of its labelled nodes, the share that is of the class too.

    The mean over the nodes that have labelled neighbours, and how many these are.
    """
    known_nodes = np.flatnonzero(codes)
    label_indicator = np.zeros((layer.num_nodes, classes))
    label_indicator[known_nodes, codes[known_nodes] - 1] = 1.0
    layer_incidence = layer.incidence()
    if layer_incidence is None:
        neighbour_labels = layer.to_scipy() @ label_indicator
    else:
        neighbour_labels = (
            layer_incidence @ (layer_incidence.T @ label_indicator)
            - layer_incidence.multiply(layer_incidence).sum(axis=1)[:, None] * label_indicator
        )
    neighbour_totals = neighbour_labels.sum(axis=1)
    informed_nodes = known_nodes[neighbour_totals[known_nodes] > 1e-9 * neighbour_totals.max(initial=0.0)]
    own_codes = codes[informed_nodes] - 1
    same_class_share = np.clip(neighbour_labels[informed_nodes, own_codes] / neighbour_totals[informed_nodes], 0.0, 1.0)
    nodes_per_class = np.bincount(own_codes, minlength=classes)
    return np.bincount(own_codes, same_class_share, minlength=classes) / np.maximum(nodes_per_class, 1), nodes_per_class


def _number(value: float) -> float | None:
    return None if value != value else round(float(value), 4)


@for_templates
def alike_pairs(layers: Sequence[str], table: Sequence[Sequence[float | None]]) -> list[dict[str, Any]]:
    """Every two layers that can be compared, those most alike first."""
    layer_pairs = [
        {"first": layers[one], "second": layers[other], "value": table[one][other]}
        for one in range(len(layers))
        for other in range(one + 1, len(layers))
        if table[one][other] is not None
    ]
    return sorted(layer_pairs, key=lambda pair: -pair["value"])


@for_templates
def speaking_layers(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The layers that speak for a class: the share lies above chance by more than its 95 % interval."""
    telling_layers = [
        layer
        for layer in row["layers"]
        if layer["nodes"] >= _MIN_NODES
        and accuracy_interval(layer["share"] * layer["nodes"], layer["nodes"])[0] > row["chance"]
    ]
    return sorted(telling_layers, key=lambda layer: -layer["share"])
