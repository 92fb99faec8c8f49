"""A graph in the order of its names, so that what is learned of it does not depend on the order of a file.

Random numbers, ties and the rounding of sums all follow the order of nodes, layers and groups. A method that works on
the ordered graph and hands its results back in the order of the given one says the same of every node, however the
nodes and layers were listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from gramme.graph.edge_layer import EdgeLayer
from gramme.graph.layer import Layer
from gramme.graph.membership_layer import MembershipLayer
from gramme.graph.multilayer import MultilayerGraph

if TYPE_CHECKING:
    from collections.abc import Mapping

Places = NDArray[np.int64]


@dataclass(frozen=True)
class NameOrder:
    """A graph with its nodes, layers and groups sorted by name, and the way back.

    Attributes
    ----------
    graph : MultilayerGraph
        The given graph itself where it is in order; else a sorted one, without labels.
    places : array of int or None
        Where its nodes stand in the given graph; None where both have them in the same order.
    """

    graph: MultilayerGraph
    places: Places | None = None

    def there(self, places: Places) -> Places:
        """Positions in the given graph as positions in the ordered one."""
        if self.places is None:
            return places
        rank = np.empty(self.places.size, dtype=np.int64)
        rank[self.places] = np.arange(self.places.size)
        found: Places = rank[places]
        return found

    def back(self, rows: NDArray[Any]) -> NDArray[Any]:
        """An array with a row for each node of the ordered graph, in the order of the given one."""
        if self.places is None:
            return rows
        given = np.empty_like(rows)
        given[self.places] = rows
        return given


def in_name_order(graph: MultilayerGraph) -> NameOrder:
    """The graph in the order of its names; remembered with the graph where that is another one.

    Cost: one more copy of the edges, memberships and features where the nodes are not in order.

    Examples
    --------
    >>> layers = {"work": EdgeLayer(3, [0], [1]), "advice": EdgeLayer(3, [1], [2])}
    >>> order = in_name_order(MultilayerGraph(layers, nodes=["Cy", "Ann", "Bo"]))
    >>> order.graph.nodes.tolist(), list(order.graph.layers)
    (['Ann', 'Bo', 'Cy'], ['advice', 'work'])
    >>> order.back(np.array([1, 2, 3])).tolist()  # numbers of Ann, Bo and Cy
    [3, 1, 2]
    """
    known: NameOrder | None = vars(graph).get("_name_order")
    if known is not None:
        return known
    places = sorted_places(graph.nodes)
    names = sorted(graph.layers)
    layers = {name: _ordered_layer(graph.layers[name], places) for name in names}
    if places is None and _same(layers, graph.layers):
        return NameOrder(graph)
    features, layer_features = (
        graph.features,
        {name: graph.layer_features[name] for name in names if name in graph.layer_features},
    )
    couplings = dict(graph.couplings)
    if places is not None:
        features = None if features is None else features[places]
        layer_features = {name: matrix[places] for name, matrix in layer_features.items()}
        couplings = {pair: each.subset(places) for pair, each in couplings.items()}
    ordered = MultilayerGraph(
        layers,
        nodes=graph.nodes if places is None else graph.nodes[places],
        features=features,
        couplings=couplings,
        layer_features=layer_features,
        feature_names=graph.feature_names,
        name=graph.name,
    )
    found = NameOrder(ordered, places)
    vars(graph)["_name_order"] = found  # left behind by pickling
    return found


def sorted_places(names: pd.Index) -> Places | None:
    """Where the names stand when they are sorted; None if they are.

    >>> sorted_places(pd.Index(["b", "a"])).tolist()
    [1, 0]
    >>> sorted_places(pd.Index([3, "b", 1], dtype=object)).tolist()  # by kind, then as text
    [2, 0, 1]
    """
    if pd.api.types.is_integer_dtype(names.dtype) or pd.api.types.infer_dtype(names) == "string":
        return None if names.is_monotonic_increasing else names.argsort().astype(np.int64)
    keys = [(type(name).__name__, str(name)) for name in names]
    places = sorted(range(len(keys)), key=keys.__getitem__)
    in_order = all(place == position for position, place in enumerate(places))
    return None if in_order else np.array(places, dtype=np.int64)


def _ordered_layer(layer: Layer, places: Places | None) -> Layer:
    if isinstance(layer, MembershipLayer):
        groups = sorted_places(layer.group_names)
        if places is None and groups is None:
            return layer
        return layer.reordered(places, groups)
    if isinstance(layer, EdgeLayer) and places is not None:
        return layer.subset(places)
    return layer


def _same(layers: Mapping[str, Layer], given: Mapping[str, Layer]) -> bool:
    """Whether these are the given layers, in their order."""
    return list(layers) == list(given) and all(
        layer is given[name] for name, layer in layers.items()
    )
