"""Graphs with known groups, for the tests of this folder."""

import numpy as np

from gramme.graph import EdgeLayer, MultilayerGraph


def planted(
    nodes=120, groups=3, inside=0.25, outside=0.02, layers=2, noise=1, seed=0, names=None
) -> tuple[MultilayerGraph, np.ndarray]:
    """Groups that several layers share, beside layers of random edges."""
    random = np.random.default_rng(seed)
    group = np.arange(nodes) % groups
    made = {}
    for place in range(layers + noise):
        same = group[:, None] == group[None]
        share = np.where(same, inside, outside) if place < layers else inside / 2
        source, target = np.nonzero(np.triu(random.random(same.shape) < share, 1))
        made[f"layer {place}" if place < layers else f"noise {place}"] = EdgeLayer(nodes, source, target)
    return MultilayerGraph(made, nodes=names), group


def random_graph(nodes=150, edges=450, layers=2, seed=0) -> MultilayerGraph:
    """Edges between random nodes."""
    random = np.random.default_rng(seed)
    return MultilayerGraph(
        {
            f"layer {place}": EdgeLayer(nodes, random.integers(nodes, size=edges), random.integers(nodes, size=edges))
            for place in range(layers)
        }
    )
