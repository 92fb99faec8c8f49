"""The same graph with its nodes and layers listed in another order."""

import numpy as np

from gramme.graph import MultilayerGraph


def permuted(graph: MultilayerGraph, seed: int) -> MultilayerGraph:
    """Nodes and layers shuffled."""
    random = np.random.default_rng(seed)
    layers = list(graph.layers)
    nodes = graph.nodes[random.permutation(graph.num_nodes)]
    return graph.subgraph(nodes).select_layers([layers[k] for k in random.permutation(len(layers))])
