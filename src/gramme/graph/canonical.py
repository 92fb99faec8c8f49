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
        found: Places = rank[places]
        return found

    def to_given(self, rows: NDArray[Any]) -> NDArray[Any]:
        """An array with a row for each node of the ordered graph, in the order of the given one."""
        if self.places is None:
            return rows
        given = np.empty_like(rows)
        given[self.places] = rows
        return given


def in_name_order(graph: MultilayerGraph) -> NameOrder:
    """The graph in the order of its names; remembered with the graph where that is another one.

    Cost: one more copy of the edges, memberships and features where the nodes are not in order.
    """
    known: NameOrder | None = vars(graph).get("_name_order")
    if known is not None:
        return known
    places = sorted_places(graph.nodes)
    names = sorted(graph.layers)
    layers = {name: _ordered_layer(graph.layers[name], places) for name in names}
    if places is None and list(graph.layers) == names and all(layers[name] is graph.layers[name] for name in names):
        return NameOrder(graph)
    rows = slice(None) if places is None else places
    couplings = graph.couplings
    if places is not None:
        couplings = {pair: each.subset(places) for pair, each in couplings.items()}
    ordered = MultilayerGraph(
        layers,
        nodes=graph.nodes[rows],
        features=None if graph.features is None else graph.features[rows],
        couplings=couplings,
        layer_features={name: graph.layer_features[name][rows] for name in names if name in graph.layer_features},
        feature_names=graph.feature_names,
        name=graph.name,
    )
    found = NameOrder(ordered, places)
    vars(graph)["_name_order"] = found  # left behind by pickling
    return found


def sorted_places(names: pd.Index) -> Places | None:
    """Where the names stand when they are sorted; None if they are."""
    if pd.api.types.is_integer_dtype(names.dtype) or pd.api.types.infer_dtype(names) == "string":
        return None if names.is_monotonic_increasing else names.argsort().astype(np.int64)
    keys = [(type(name).__name__, str(name)) for name in names]
    places = sorted(range(len(keys)), key=keys.__getitem__)
    in_order = all(place == position for position, place in enumerate(places))
    return None if in_order else np.array(places, dtype=np.int64)


def _ordered_layer(layer: Layer, places: Places | None) -> Layer:
    if isinstance(layer, MembershipLayer):
        groups = sorted_places(layer.group_names)
        return layer if places is None and groups is None else layer.reordered(places, groups)
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
        parts: list[Any] = []
        if isinstance(layer, MembershipLayer):
            # without weights nothing is added, so that older checksums stay true
            parts = [layer.groups_per_node, layer.group, *([] if layer.weight is None else [layer.weight])]
        elif isinstance(layer, EdgeLayer):
            parts = [layer.source, layer.target, layer.weight]
        for part in parts:
            _add(digest, part)
        if layer.features is not None and layer.feature_names is not None:
            _add_text(digest, "features", *layer.feature_names)
            _add(digest, layer.features)
    for pair, coupling in graph.couplings.items():
        _add_text(digest, "coupling", *pair, "directed" if coupling.directed else "undirected")
        for ends in (coupling.source, coupling.target, coupling.weight):
            _add(digest, ends)
    return digest.hexdigest()


def _add_text(digest: Any, *words: str) -> None:
    for word in words:
        raw = word.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "little"))
        digest.update(raw)


def _add(digest: Any, array: NDArray[Any] | None) -> None:
    """Numbers by value: neither the integer type nor the machine's byte order counts."""
    if array is None:
        _add_text(digest, "none")
        return
    kind = "<f8" if array.dtype.kind == "f" else "<i8"
    _add_text(digest, kind, str(array.size))
    digest.update(np.ascontiguousarray(array, dtype=kind).tobytes())
