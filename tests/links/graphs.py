"""A small graph whose missing links can be told: two layers over the same four groups of friends."""

import numpy as np

from gramme.graph import EdgeLayer, MultilayerGraph


def planted_links(nodes: int = 60, *, directed: bool = False, seed: int = 0) -> MultilayerGraph:
    random = np.random.default_rng(seed)
    group = np.arange(nodes) % 4
    layers = {}
    for name, share in (("talk", 0.45), ("mail", 0.35)):
        first, second = np.triu_indices(nodes, k=1)
        same = group[first] == group[second]
        linked = random.random(first.size) < np.where(same, share, 0.02)
        layers[name] = EdgeLayer(nodes, first[linked], second[linked], directed=directed)
    return MultilayerGraph(layers, nodes=[f"n{place}" for place in range(nodes)])
