"""Which of the ways to take a step of label propagation is the cheapest on a graph."""

from __future__ import annotations

from gramme.graph import MultilayerGraph
from gramme.methods.propagation.many_layers import ManyLayersWalk, has_many_small_layers
from gramme.methods.propagation.series import GroupWalk, NodeWalk, Walk, groups_in_all


def walk_of(graph: MultilayerGraph) -> Walk:
    """The cheapest way to propagate on a graph."""
    layers = list(graph.layers.values())
    groups_of = [layer.as_groups() for layer in layers]
    columns = [groups for groups in groups_of if groups is not None and groups.single]
    if len(columns) == len(layers):
        groups = sum(groups_in_all(layer) for layer in columns)
        memberships = sum(layer.num_entries for layer in columns)
        if 0 < groups**2 <= 4 * memberships:
            return GroupWalk(graph, columns)
    return ManyLayersWalk(graph) if has_many_small_layers(graph) else NodeWalk(graph)
