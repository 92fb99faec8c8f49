"""The layers of a graph in which links can be learned, and pairs by the names of their nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme._wording import setting
from gramme.errors import DataError
from gramme.graph import Layer, MembershipLayer, MultilayerGraph
from gramme.graph.coupling import with_coupling_layers
from gramme.links.examples import edge_layer
from gramme.methods.number_range import check_number_range

MAX_IMPLIED_EDGES = 2_000_000
"""Edges up to which a layer of groups is asked about, as the edges that it implies."""
MAX_LAYERS_LEARNED = 200
"""Layers whose links are learned at once: each is learned from all layers, so that the time is the square of them."""


def named_pairs(graph: MultilayerGraph, pairs: Any) -> NDArray[np.int64]:
    """Pairs of node names as positions, shape (pairs, 2)."""
    listed = pairs.to_numpy().tolist() if isinstance(pairs, pd.DataFrame) else list(pairs)
    if any(len(pair) != 2 for pair in listed):
        raise DataError("a pair must be two node names, source and target")
    first = graph.positions([pair[0] for pair in listed])
    second = graph.positions([pair[1] for pair in listed])
    return np.column_stack([first, second]).reshape(-1, 2)


def checked(graph: Any) -> MultilayerGraph:
    """The graph with its couplings as layers; refused if it is none, has no layers, or numbers beyond all bounds."""
    if not isinstance(graph, MultilayerGraph):
        raise DataError(f"a MultilayerGraph is needed, not {type(graph).__name__}")
    if not graph.num_layers:
        raise DataError("the graph has no layers, so there are no links to learn from")
    flat: MultilayerGraph = with_coupling_layers(graph)
    check_number_range(flat)
    return flat


def with_edges(graph: MultilayerGraph) -> MultilayerGraph:
    """A graph of groups alone with those layers as edges that imply few enough, so that there is something to ask."""
    if any(layer.made_of == "edges" and layer.num_edges > 1 for layer in graph.layers.values()):
        return graph
    layers: dict[str, Layer] = {
        name: layer.to_edges() if layer.num_edges <= MAX_IMPLIED_EDGES else layer
        for name, layer in graph.layers.items()
    }
    return graph.replace(layers=layers)


def groups_asked_about(graph: MultilayerGraph, layers: Iterable[str]) -> dict[str, MembershipLayer]:
    """Those of the layers that are made of groups, which are asked about as the edges that these imply."""
    found = {name: graph.layers[name].as_groups() for name in layers}
    return {name: groups for name, groups in found.items() if groups is not None}


def columns(groups: Mapping[str, MembershipLayer]) -> list[str]:
    """Layers in which no node is in more than one group, like the columns of a table."""
    return [name for name, layer in groups.items() if layer.single]


def layers_to_learn(graph: MultilayerGraph, layers: Iterable[str] | None) -> list[str]:
    """The layers named, which must have edges; all that have some where none are named."""
    if layers is not None:
        named = [layers] if isinstance(layers, str) else list(layers)
        for name in named:
            edge_layer(graph, name)
        return _few_enough(named)
    found = [
        name
        for name, layer in graph.layers.items()
        if layer.made_of == "edges" and layer.num_edges > 1
    ]
    if not found:
        groups = any(layer.made_of != "edges" for layer in graph.layers.values())
        large = f", or groups that imply at most {MAX_IMPLIED_EDGES:,}" if groups else ""
        raise DataError(
            f"no layer has at least 2 edges{large}, so there are no links to learn from"
        )
    return _few_enough(found)


def _few_enough(layers: list[str]) -> list[str]:
    if len(layers) > MAX_LAYERS_LEARNED:
        raise DataError(
            f"the links of each layer are learned from all layers, which takes too long for {len(layers):,} of them; "
            f"name at most {MAX_LAYERS_LEARNED} with {setting('layers', option='layer')}"
        )
    return layers
