"""Every layer of a graph as ties: symmetric weighted pairs, few enough to go through many times.

Edges are taken as they are; where they have a direction, a tie counts whichever way it points. A group of s members
implies s (s - 1) / 2 pairs. They are never built for large groups: members stand in a ring in random order, ``RINGS``
times, and neighbours in a ring are tied. Every member then has the same number of ties, as it has in the full set of
pairs, and a random regular graph divides where the full set divides (it is an expander). A membership counts as one
unit however large its group is, as in a mean over neighbours: the ties of a member in a group of s weigh 1 / (s - 1)
each in the full set, and 1 / (2 RINGS) here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gramme._types import Floats, Ints
from gramme.errors import DataError
from gramme.graph import Layer, MembershipLayer, MultilayerGraph, checked_graph

RINGS = 8
"""Random rings per large group: 16 ties per membership. Groups of up to 17 members have no more pairs and are taken
whole."""


@dataclass(frozen=True)
class LayerTies:
    """The ties of one layer, each pair once."""

    num_nodes: int
    source: Ints
    target: Ints
    weight: Floats
    """Mean 1 for edges; for memberships such that those of a member add up to about 1 in each of its groups."""
    from_groups: bool
    """Whether they come from memberships: a node's one value in a column is then all that the layer says about it."""

    def matrix(self, factors: Floats | None = None) -> sp.csr_array:
        """The ties as a symmetric matrix, each perhaps times a factor."""
        weight = self.weight if factors is None else self.weight * factors
        shape = (self.num_nodes, self.num_nodes)
        half = sp.csr_array((weight, (self.source, self.target)), shape=shape)
        return sp.csr_array(half + half.T)

    def shuffled(self, random: np.random.Generator) -> LayerTies:
        """Ties between other nodes: degrees stay and partners are random, or whole columns change their owners."""
        if self.from_groups:
            held = np.unique(np.concatenate([self.source, self.target]))
            owner = np.arange(self.num_nodes)
            owner[held] = random.permutation(held)
            source, target = owner[self.source], owner[self.target]
        else:
            source, target = _random_partners(self.source, self.target, self.num_nodes, random)
        apart = source != target
        return LayerTies(self.num_nodes, source[apart], target[apart], self.weight[apart], self.from_groups)


def _random_partners(source: Ints, target: Ints, num_nodes: int, random: np.random.Generator) -> tuple[Ints, Ints]:
    """Ties of the same degrees between random nodes.

    A tie of a node with itself or one that is there already changes its end with a tie drawn at random, as long as
    that helps: without it half of a star's ties would join leaves, which no graph with its degrees has.
    """

    def impossible(target: Ints) -> NDArray[np.bool_]:
        pair = np.minimum(source, target) * num_nodes + np.maximum(source, target)
        repeated = np.ones(pair.size, dtype=bool)
        repeated[np.unique(pair, return_index=True)[1]] = False
        repeated |= source == target
        return repeated

    ends = random.permutation(np.concatenate([source, target]))
    source, target = ends[: source.size], ends[source.size :]
    for _ in range(50):
        wrong = impossible(target)
        if not wrong.any():
            break
        other = random.permutation(np.flatnonzero(~wrong))
        place = random.permutation(np.flatnonzero(wrong))[: other.size]
        other = other[: place.size]
        tried = target.copy()
        tried[place], tried[other] = target[other], target[place]
        still = impossible(tried)
        helps = ~(still[place] | still[other])
        target = target.copy()
        target[place[helps]], target[other[helps]] = tried[place[helps]], tried[other[helps]]
    return source, target


def ties_of(graph: MultilayerGraph, random: np.random.Generator) -> list[LayerTies]:
    """The ties of every layer, in the graph's order.

    Cost: edges, and 8 ties per membership at most.

    Examples
    --------
    >>> from gramme.graph import EdgeLayer
    >>> rooms = MembershipLayer.from_codes([0, 0, 0, 1])
    >>> g = MultilayerGraph({"talk": EdgeLayer(4, [0, 2], [1, 3]), "room": rooms})
    >>> talk, room = ties_of(g, np.random.default_rng(0))
    >>> talk.weight.tolist(), room.weight.tolist()
    ([1.0, 1.0], [0.5, 0.5, 0.5])
    """
    return [_layer_ties(layer, random) for layer in graph.layers.values()]


def _layer_ties(layer: Layer, random: np.random.Generator) -> LayerTies:
    groups = layer.as_groups()
    if groups is not None:
        return _group_ties(groups, random)
    adjacency = layer.to_scipy()
    if layer.directed:
        adjacency = sp.csr_array(adjacency + adjacency.T)
    half = sp.triu(adjacency, 1).tocoo()
    weight = half.data.astype(np.float64)
    weight = weight / weight.mean() if weight.size else weight
    source, target = half.row.astype(np.int64), half.col.astype(np.int64)
    return LayerTies(layer.num_nodes, source, target, weight, False)


def _group_ties(layer: MembershipLayer, random: np.random.Generator) -> LayerTies:
    """Pairs within small groups, rings within large ones; all groups of a size are made at once."""
    inside = layer.incidence().tocsc()
    inside.sort_indices()
    starts, sizes = inside.indptr[:-1].astype(np.int64), np.diff(inside.indptr)
    parts: list[tuple[Ints, Ints, Floats]] = []
    for size in np.unique(sizes[sizes > 1]).tolist():
        chosen = np.flatnonzero(sizes == size)
        whole = size <= 2 * RINGS + 1
        places = starts[chosen][:, None] + np.arange(size)[None]  # (groups, members)
        weight = inside.data[places].astype(np.float64)
        # what a member shares with the others, so that equal members share 1 in all
        share = 1.0 / (weight.sum(axis=1) - weight.mean(axis=1))
        if whole:
            first, second = np.triu_indices(size, 1)
            one, other = places[:, first], places[:, second]
            scale = share[:, None]
        else:
            rings = [random.permuted(places, axis=1) for _ in range(RINGS)]
            one = np.concatenate(rings, axis=1)
            other = np.concatenate([np.roll(ring, 1, axis=1) for ring in rings], axis=1)
            scale = share[:, None] * (size - 1) / (2 * RINGS)
        tied = inside.data[one] * inside.data[other] * scale
        parts.append(
            (inside.indices[one].ravel().astype(np.int64), inside.indices[other].ravel().astype(np.int64), tied.ravel())
        )
    if not parts:
        none = np.zeros(0, dtype=np.int64)
        return LayerTies(layer.num_nodes, none, none, np.zeros(0), True)
    source, target, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    return LayerTies(layer.num_nodes, source, target, weights, True)


def check_has_ties(graph: object, purpose: str) -> MultilayerGraph:
    """The graph with its couplings as layers; an error, which names the purpose, where no two nodes are joined."""
    graph = checked_graph(graph)
    if graph.num_nodes < 2:
        count = "one node" if graph.num_nodes else "no nodes"
        raise DataError(f"the graph has {count}; {purpose} needs at least two that are joined")
    joined = graph.with_coupling_layers()
    if not joined.num_layers or not joined.num_edges:
        layers = list(graph.layers)
        what = f"the layer {layers[0]!r} has" if len(layers) == 1 else "the layers of the graph have"
        if not layers:
            what = "the graph has no layers and"
        raise DataError(f"{what} no edges and no groups of two or more; {purpose} needs some")
    return joined
