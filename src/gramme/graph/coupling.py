"""Edges between two layers: a power station of one network feeds a router of another.

A coupling joins node a in layer A to node b in layer B. Two layers over different nodes and the couplings between them
make an interdependent network. The models that know the supra graph attend over couplings there; for all others a
coupling is one more relation among the nodes (:func:`with_coupling_layers`).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from gramme.errors import DataError, did_you_mean

from .arrays import FloatArray, Frozen, IntArray, node_count, plain, same_values
from .edge_layer import EdgeLayer, edges_among
from .layer import Layer

if TYPE_CHECKING:
    import pandas as pd

    from .multilayer import MultilayerGraph

Pair = tuple[str, str]
#: Stands between the names of two layers where their coupling is shown or used as a layer.
BETWEEN = "~"


class Coupling(Frozen):
    """Edges from nodes in one layer to nodes in another, cleaned once when it is made.

    An edge between the copies of one node is dropped and counted: such pillars are there anyway. Repeated edges become
    one: their weights add, unweighted ones stay 1. In a directed coupling the source listens to the target; otherwise
    both listen to each other.

    Parameters
    ----------
    num_nodes : int
        Nodes of the whole graph.
    source, target : array of int, shape (edges,)
        Positions of the nodes: the sources in the first layer, the targets in the second.
    weight : array of float, shape (edges,), optional
        Positive finite weights.
    directed : bool, default=False
        Whether edges have a direction.

    Attributes
    ----------
    source, target : array of int
        The kept edges, sorted by source and then target; read-only.
    weight : array of float64 or None
    pillars_dropped, duplicates_merged : int
        What was left out of the input.

    Examples
    --------
    >>> Coupling(4, [0, 1, 1], [2, 3, 1])
    Coupling(2 edges)
    """

    num_nodes: int
    source: IntArray
    target: IntArray
    weight: FloatArray | None
    directed: bool
    pillars_dropped: int
    duplicates_merged: int

    def __init__(
        self,
        num_nodes: int,
        source: ArrayLike,
        target: ArrayLike,
        weight: ArrayLike | None = None,
        *,
        directed: bool = False,
    ) -> None:
        self.num_nodes = node_count(num_nodes)
        self.directed = bool(directed)
        # Directed edges keep their ends where they are, as a coupling's must stay in their layers
        edges = EdgeLayer(self.num_nodes, source, target, weight, directed=True)
        self.source, self.target, self.weight = edges.source, edges.target, edges.weight
        self.pillars_dropped = edges.self_loops_dropped
        self.duplicates_merged = edges.duplicates_merged

    @property
    def num_edges(self) -> int:
        """Edges kept; an undirected edge counts once."""
        return int(self.source.size)

    @property
    def weighted(self) -> bool:
        """Whether edges carry weights."""
        return self.weight is not None

    def to_scipy(self) -> sp.csr_array:
        """Entry (a, b) is the weight of the edge from a in the first layer to b in the second."""
        weights = np.ones(self.num_edges) if self.weight is None else self.weight
        shape = (self.num_nodes, self.num_nodes)
        return sp.csr_array((weights, (self.source, self.target)), shape=shape)

    def reversed(self) -> Coupling:
        """All edges seen from the second layer."""
        return Coupling(self.num_nodes, self.target, self.source, self.weight, directed=self.directed)

    def subset(self, nodes: NDArray[np.int64]) -> Coupling:
        """The edges whose both ends are among the given nodes, which are numbered anew."""
        renumbered, kept_edges = edges_among(self, nodes)
        new_ends = renumbered[self.source[kept_edges]], renumbered[self.target[kept_edges]]
        return Coupling(
            nodes.size, *new_ends, None if self.weight is None else self.weight[kept_edges], directed=self.directed
        )

    def to_layer(self) -> EdgeLayer:
        """All edges as a layer over the nodes they touch."""
        touched_nodes = np.unique(np.concatenate([self.source, self.target]).astype(np.int64))
        return EdgeLayer(
            self.num_nodes, self.source, self.target, self.weight, directed=self.directed, nodes=touched_nodes
        )

    def __eq__(self, other: object) -> bool:
        """Equal nodes, edges, weights and direction; what was dropped does not count."""
        return (
            isinstance(other, Coupling)
            and self.num_nodes == other.num_nodes
            and self.directed == other.directed
            and same_values(self.source, other.source)
            and same_values(self.target, other.target)
            and same_values(self.weight, other.weight)
        )

    __hash__ = None  # type: ignore[assignment]  # it holds arrays; compare with ==

    def __repr__(self) -> str:
        words = [f"{self.num_edges} edges"]
        words += ["directed"] if self.directed else []
        words += ["weighted"] if self.weighted else []
        return f"Coupling({', '.join(words)})"


def checked_couplings(
    couplings: Mapping[Any, Any] | None, layers: Mapping[str, Layer], nodes: pd.Index
) -> Mapping[Pair, Coupling]:
    """The couplings by pairs of layers that are there, the ends of undirected ones in the order of the layers."""
    if couplings is None:
        return MappingProxyType({})
    if not isinstance(couplings, Mapping):
        raise DataError(f"couplings must be a mapping of two layers to a coupling, not {couplings!r}")
    layer_position = {name: position for position, name in enumerate(layers)}
    checked_by_pair: dict[Pair, Coupling] = {}
    for key, given_coupling in couplings.items():
        first_layer, second_layer = _pair(key, layers)
        coupling = _made(given_coupling, first_layer, second_layer, len(nodes))
        for end_nodes, layer in ((coupling.source, first_layer), (coupling.target, second_layer)):
            absent_ends = np.flatnonzero(~layers[layer].present[end_nodes])
            if absent_ends.size:
                raise DataError(
                    f"the coupling of {first_layer!r} and {second_layer!r} touches the node "
                    f"{plain(nodes[int(end_nodes[absent_ends[0]])])!r}, which is not in the layer {layer!r}"
                )
        if not coupling.directed and layer_position[first_layer] > layer_position[second_layer]:
            first_layer, second_layer, coupling = second_layer, first_layer, coupling.reversed()
        earlier_coupling = checked_by_pair.get((first_layer, second_layer))
        if earlier_coupling is not None:
            coupling = _joined(earlier_coupling, coupling, first_layer, second_layer)
        checked_by_pair[first_layer, second_layer] = coupling
    ordered_pairs = sorted(checked_by_pair, key=lambda pair: (layer_position[pair[0]], layer_position[pair[1]]))
    return MappingProxyType({layer_pair: checked_by_pair[layer_pair] for layer_pair in ordered_pairs})


def with_coupling_layers(graph: MultilayerGraph) -> MultilayerGraph:
    """The graph with every coupling as a layer of its own, named ``A~B``, and no couplings; itself if it has none.

    For models that know layers over one set of nodes and nothing between them.
    """
    if not graph.couplings:
        return graph
    layers: dict[str, Layer] = dict(graph.layers)
    for (first_layer, second_layer), coupling in graph.couplings.items():
        layer_name = coupling_layer_name(first_layer, second_layer, coupling)
        if layer_name in layers:
            raise DataError(
                f"the coupling of {first_layer!r} and {second_layer!r} would be the layer "
                f"{layer_name!r}, but there is a layer of that "
                "name; rename it"
            )
        layers[layer_name] = coupling.to_layer()
    return graph.replace(layers=layers, couplings=None)


def coupling_layer_name(first: str, second: str, coupling: Coupling) -> str:
    """What a coupling is called as a layer: the same in whatever order the graph has the layers it joins."""
    layer_pair = (first, second) if coupling.directed else sorted((first, second))
    return BETWEEN.join(layer_pair)


def _pair(key: object, layers: Mapping[str, Layer]) -> Pair:
    if not isinstance(key, tuple) or len(key) != 2:
        raise DataError(f"a coupling is between two layers (A, B), not {key!r}")
    for layer_name in key:
        if layer_name not in layers:
            raise DataError(
                f"a coupling names the layer {layer_name!r}, which is not there; "
                f"{did_you_mean(str(layer_name), layers)}"
            )
    if key[0] == key[1]:
        raise DataError(
            f"a coupling joins two layers, but {key[0]!r} was named twice; its own edges belong in the layer"
        )
    return key


def _made(given: object, first: str, second: str, num_nodes: int) -> Coupling:
    try:
        if isinstance(given, (tuple, list)) and len(given) in (2, 3):
            given = Coupling(num_nodes, *given)
    except DataError as error:
        raise DataError(f"the coupling of {first!r} and {second!r}: {error}") from error
    if not isinstance(given, Coupling):
        raise DataError(
            f"the coupling of {first!r} and {second!r} must be a Coupling or arrays (source, target[, weight]), not "
            f"{given!r}"
        )
    if given.num_nodes != num_nodes:
        raise DataError(
            f"the coupling of {first!r} and {second!r} is over {given.num_nodes} nodes, the graph over {num_nodes}"
        )
    return given


def _joined(one: Coupling, other: Coupling, first: str, second: str) -> Coupling:
    if one.directed != other.directed or one.weighted != other.weighted:
        raise DataError(
            f"{first!r} and {second!r} are coupled twice, once directed or weighted and once not; state one of them"
        )
    joined_weight = None
    if one.weight is not None and other.weight is not None:
        joined_weight = np.concatenate([one.weight, other.weight])
    return Coupling(
        one.num_nodes,
        np.concatenate([one.source, other.source]),
        np.concatenate([one.target, other.target]),
        joined_weight,
        directed=one.directed,
    )
