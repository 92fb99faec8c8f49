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
        one_way = sp.csr_array((weight, (self.source, self.target)), shape=shape)
        return sp.csr_array(one_way + one_way.T)

    def shuffled(self, random: np.random.Generator) -> LayerTies:
        """Ties between other nodes: degrees stay and partners are random, or whole columns change their owners."""
        if self.from_groups:
            tied_nodes = np.unique(np.concatenate([self.source, self.target]))
            owner_of_node = np.arange(self.num_nodes)
            owner_of_node[tied_nodes] = random.permutation(tied_nodes)
            source, target = owner_of_node[self.source], owner_of_node[self.target]
        else:
            source, target = _random_partners(self.source, self.target, self.num_nodes, random)
        is_apart = source != target
        return LayerTies(self.num_nodes, source[is_apart], target[is_apart], self.weight[is_apart], self.from_groups)


def _random_partners(source: Ints, target: Ints, num_nodes: int, random: np.random.Generator) -> tuple[Ints, Ints]:
    """Ties of the same degrees between random nodes.

    A tie of a node with itself or one that is there already changes its end with a tie drawn at random, as long as
    that helps: without it half of a star's ties would join leaves, which no graph with its degrees has.
    """

    def impossible(target: Ints) -> NDArray[np.bool_]:
        pair_keys = np.minimum(source, target) * num_nodes + np.maximum(source, target)
        is_repeated = np.ones(pair_keys.size, dtype=bool)
        is_repeated[np.unique(pair_keys, return_index=True)[1]] = False
        is_repeated |= source == target
        return is_repeated

    shuffled_ends = random.permutation(np.concatenate([source, target]))
    source, target = shuffled_ends[: source.size], shuffled_ends[source.size :]
    for _ in range(50):
        is_wrong = impossible(target)
        if not is_wrong.any():
            break
        other_ties = random.permutation(np.flatnonzero(~is_wrong))
        wrong_ties = random.permutation(np.flatnonzero(is_wrong))[: other_ties.size]
        other_ties = other_ties[: wrong_ties.size]
        tried_target = target.copy()
        tried_target[wrong_ties], tried_target[other_ties] = target[other_ties], target[wrong_ties]
        still_wrong = impossible(tried_target)
        is_better = ~(still_wrong[wrong_ties] | still_wrong[other_ties])
        target = target.copy()
        target[wrong_ties[is_better]], target[other_ties[is_better]] = (
            tried_target[wrong_ties[is_better]],
            tried_target[other_ties[is_better]],
        )
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
    upper_half = sp.triu(adjacency, 1).tocoo()
    tie_weights = upper_half.data.astype(np.float64)
    tie_weights = tie_weights / tie_weights.mean() if tie_weights.size else tie_weights
    source, target = upper_half.row.astype(np.int64), upper_half.col.astype(np.int64)
    return LayerTies(layer.num_nodes, source, target, tie_weights, False)


def _group_ties(layer: MembershipLayer, random: np.random.Generator) -> LayerTies:
    """Pairs within small groups, rings within large ones; all groups of a size are made at once."""
    member_columns = layer.incidence().tocsc()
    member_columns.sort_indices()
    group_starts, group_sizes = member_columns.indptr[:-1].astype(np.int64), np.diff(member_columns.indptr)
    tie_parts: list[tuple[Ints, Ints, Floats]] = []
    for group_size in np.unique(group_sizes[group_sizes > 1]).tolist():
        chosen_groups = np.flatnonzero(group_sizes == group_size)
        is_whole = group_size <= 2 * RINGS + 1
        member_places = group_starts[chosen_groups][:, None] + np.arange(group_size)[None]  # (groups, members)
        member_weights = member_columns.data[member_places].astype(np.float64)
        # what a member shares with the others, so that equal members share 1 in all
        member_share = 1.0 / (member_weights.sum(axis=1) - member_weights.mean(axis=1))
        if is_whole:
            first_index, second_index = np.triu_indices(group_size, 1)
            first_places, second_places = member_places[:, first_index], member_places[:, second_index]
            tie_scale = member_share[:, None]
        else:
            rings = [random.permuted(member_places, axis=1) for _ in range(RINGS)]
            first_places = np.concatenate(rings, axis=1)
            second_places = np.concatenate([np.roll(ring, 1, axis=1) for ring in rings], axis=1)
            tie_scale = member_share[:, None] * (group_size - 1) / (2 * RINGS)
        tie_weights = member_columns.data[first_places] * member_columns.data[second_places] * tie_scale
        tie_parts.append(
            (
                member_columns.indices[first_places].ravel().astype(np.int64),
                member_columns.indices[second_places].ravel().astype(np.int64),
                tie_weights.ravel(),
            )
        )
    if not tie_parts:
        no_nodes = np.zeros(0, dtype=np.int64)
        return LayerTies(layer.num_nodes, no_nodes, no_nodes, np.zeros(0), True)
    source, target, weights = (np.concatenate(column) for column in zip(*tie_parts, strict=True))
    return LayerTies(layer.num_nodes, source, target, weights, True)


def check_has_ties(graph: object, purpose: str) -> MultilayerGraph:
    """The graph with its couplings as layers; an error, which names the purpose, where no two nodes are joined."""
    graph = checked_graph(graph)
    if graph.num_nodes < 2:
        count_words = "one node" if graph.num_nodes else "no nodes"
        raise DataError(f"the graph has {count_words}; {purpose} needs at least two that are joined")
    joined_graph = graph.with_coupling_layers()
    if not joined_graph.num_layers or not joined_graph.num_edges:
        layer_names = list(graph.layers)
        subject_words = f"the layer {layer_names[0]!r} has" if len(layer_names) == 1 else "the layers of the graph have"
        if not layer_names:
            subject_words = "the graph has no layers and"
        raise DataError(f"{subject_words} no edges and no groups of two or more; {purpose} needs some")
    return joined_graph
