"""A small graph gathered from all its parts at every process, for work that is cheaper to repeat than to share."""

from __future__ import annotations

import numpy as np

from gramme.distributed.part_graph import PartGraph
from gramme.distributed.part_layers import PartEdges, PartGroups
from gramme.graph import EdgeLayer, Layer, MembershipLayer, MultilayerGraph


def gathered_graph(part: PartGraph) -> MultilayerGraph:
    """The layers of the whole graph; nodes and groups are named by their numbers."""
    layers = {name: _gathered(part, layer) for name, layer in part.layers.items()}
    return MultilayerGraph(layers, num_nodes=part.whole.nodes)


def _gathered(part: PartGraph, layer: Layer) -> Layer:
    world, nodes = part.world, part.whole.nodes
    present = np.zeros(nodes, dtype=bool)
    present[np.concatenate(world.gathered(part.places[layer.present]))] = True
    if isinstance(layer, PartEdges):
        found = layer.links.matrix.tocoo()
        source = part.places[found.row]
        target = layer.heard_places(part.places)[found.col]
        kept = np.full(source.size, True) if layer.directed else source < target
        ends = [np.concatenate(world.gathered(end[kept])) for end in (source, target)]
        weight = np.concatenate(world.gathered(found.data[kept].astype(np.float64)))
        return EdgeLayer(
            nodes,
            ends[0],
            ends[1],
            weight if layer.weighted else None,
            directed=layer.directed,
            nodes=present,
        )
    assert isinstance(layer, PartGroups)
    node = np.concatenate(world.gathered(part.places[layer.node]))
    group = np.concatenate(world.gathered(layer.group_place[layer.group]))
    weights = None
    if layer.weighted:
        assert layer.weight is not None
        weights = np.concatenate(world.gathered(np.asarray(layer.weight)))
    return MembershipLayer(
        nodes, node, group, range(layer.groups_in_all), weight=weights, nodes=present
    )
