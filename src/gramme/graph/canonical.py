"""A checksum of a graph's structure, to know again what was computed for it: the same graph, the same checksum."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .edge_layer import EdgeLayer
from .layer import Layer
from .membership_layer import MembershipLayer
from .multilayer import MultilayerGraph

# A graph in the order of its names, so that what is learned of it does not depend on the order of a file.
Places = NDArray[np.int64]


@dataclass(frozen=True)
class NameOrder:
    """A graph with its nodes, layers and groups sorted by name, and the way back."""

    graph: MultilayerGraph  # the given graph itself where it is in order; else a sorted one, without labels
    places: Places | None = None  # where its nodes stand in the given graph; None where both have the same order

    def to_sorted(self, places: Places) -> Places:
        """Positions in the given graph as positions in the ordered one."""
        if self.places is None:
            return places
        rank = np.empty(self.places.size, dtype=np.int64)
        rank[self.places] = np.arange(self.places.size)
        sorted_positions: Places = rank[places]
        return sorted_positions

    def to_given(self, rows: NDArray[Any]) -> NDArray[Any]:
        """An array with a row for each node of the ordered graph, in the order of the given one."""
        if self.places is None:
            return rows
        given_rows = np.empty_like(rows)
        given_rows[self.places] = rows
        return given_rows


def in_name_order(graph: MultilayerGraph) -> NameOrder:
    """The graph in the order of its names; remembered with the graph where that is another one.

    Cost: one more copy of the edges, memberships and features where the nodes are not in order.
    """
    known_order: NameOrder | None = vars(graph).get("_name_order")
    if known_order is not None:
        return known_order
    sorted_positions = sorted_places(graph.nodes)
    layer_names = sorted(graph.layers)
    ordered_layers = {
        layer_name: _ordered_layer(graph.layers[layer_name], sorted_positions) for layer_name in layer_names
    }
    if (
        sorted_positions is None
        and list(graph.layers) == layer_names
        and all(ordered_layers[layer_name] is graph.layers[layer_name] for layer_name in layer_names)
    ):
        return NameOrder(graph)
    row_order = slice(None) if sorted_positions is None else sorted_positions
    couplings = graph.couplings
    if sorted_positions is not None:
        couplings = {layer_pair: each.subset(sorted_positions) for layer_pair, each in couplings.items()}
    ordered_graph = MultilayerGraph(
        ordered_layers,
        nodes=graph.nodes[row_order],
        features=None if graph.features is None else graph.features[row_order],
        couplings=couplings,
        layer_features={
            layer_name: graph.layer_features[layer_name][row_order]
            for layer_name in layer_names
            if layer_name in graph.layer_features
        },
        feature_names=graph.feature_names,
        name=graph.name,
    )
    name_order = NameOrder(ordered_graph, sorted_positions)
    vars(graph)["_name_order"] = name_order  # left behind by pickling
    return name_order


def sorted_places(names: pd.Index) -> Places | None:
    """Where the names stand when they are sorted; None if they are."""
    if pd.api.types.is_integer_dtype(names.dtype) or pd.api.types.infer_dtype(names) == "string":
        return None if names.is_monotonic_increasing else names.argsort().astype(np.int64)
    sort_keys = [(type(name).__name__, str(name)) for name in names]
    sorted_positions = sorted(range(len(sort_keys)), key=sort_keys.__getitem__)
    in_order = all(place == position for position, place in enumerate(sorted_positions))
    return None if in_order else np.array(sorted_positions, dtype=np.int64)


def _ordered_layer(layer: Layer, places: Places | None) -> Layer:
    if isinstance(layer, MembershipLayer):
        group_order = sorted_places(layer.group_names)
        return layer if places is None and group_order is None else layer.reordered(places, group_order)
    return layer.subset(places) if isinstance(layer, EdgeLayer) and places is not None else layer


def checksum(graph: MultilayerGraph) -> str:
    """The sha256 over node names, layers in order, edges or memberships, weights and couplings.

    Labels, features and the names of groups do not count. It is the same in every process and on every machine.
    """
    digest = hashlib.sha256(b"gramme graph 1")
    _add_text(digest, "nodes", str(graph.num_nodes))
    if graph.nodes.dtype == object:
        for name in graph.nodes:
            _add_text(digest, type(name).__name__, repr(name))
    elif graph.num_nodes:
        _add(digest, graph.nodes.to_numpy())
    for name, layer in graph.layers.items():
        _add_text(digest, "layer", name, type(layer).__name__, "directed" if layer.directed else "undirected")
        _add(digest, None if layer.holds_all_nodes else layer.present)
        layer_arrays: list[Any] = []
        if isinstance(layer, MembershipLayer):
            # without weights nothing is added, so that older checksums stay true
            layer_arrays = [layer.groups_per_node, layer.group, *([] if layer.weight is None else [layer.weight])]
        elif isinstance(layer, EdgeLayer):
            layer_arrays = [layer.source, layer.target, layer.weight]
        for layer_array in layer_arrays:
            _add(digest, layer_array)
        if layer.features is not None and layer.feature_names is not None:
            _add_text(digest, "features", *layer.feature_names)
            _add(digest, layer.features)
    for layer_pair, coupling in graph.couplings.items():
        _add_text(digest, "coupling", *layer_pair, "directed" if coupling.directed else "undirected")
        for ends in (coupling.source, coupling.target, coupling.weight):
            _add(digest, ends)
    return digest.hexdigest()


def _add_text(digest: Any, *words: str) -> None:
    for word in words:
        word_bytes = word.encode("utf-8", "surrogatepass")
        digest.update(len(word_bytes).to_bytes(8, "little"))
        digest.update(word_bytes)


def _add(digest: Any, array: NDArray[Any] | None) -> None:
    """Numbers by value: neither the integer type nor the machine's byte order counts."""
    if array is None:
        _add_text(digest, "none")
        return
    number_type = "<f8" if array.dtype.kind == "f" else "<i8"
    _add_text(digest, number_type, str(array.size))
    digest.update(np.ascontiguousarray(array, dtype=number_type).tobytes())
