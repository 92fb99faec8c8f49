"""A tree whose relations contradict each other: one joins like labels, one leads to the next class, one is noise."""

import numpy as np

from gramme import EdgeLayer, MultilayerGraph

CLASSES = 8


def contradicting_tree(nodes: int = 2400, seed: int = 0) -> MultilayerGraph:
    """Children mostly have their parent's class; half of the nodes lead to a node of the class after their own."""
    random = np.random.default_rng(seed)
    codes, parent = np.arange(nodes) % CLASSES, np.zeros(nodes, dtype=np.int64)
    for node in range(CLASSES, nodes):
        parent[node] = random.integers(max(0, node - 400), node)
        codes[node] = codes[parent[node]] if random.random() < 0.95 else random.integers(CLASSES)
    children = np.arange(CLASSES, nodes)
    members = [np.flatnonzero(codes == code) for code in range(CLASSES)]
    source = random.choice(nodes, nodes // 2, replace=False)
    target = [random.choice(members[(codes[node] + 1) % CLASSES]) for node in source]
    ends = random.integers(0, nodes, (2, 2 * nodes))
    # nodes and layers in the order of their names, as a model sees them
    return MultilayerGraph(
        {
            "leads": EdgeLayer(nodes, source, target, directed=True),
            "noise": EdgeLayer(nodes, *ends),
            "parent": EdgeLayer(nodes, children, parent[children], directed=True),
        },
        nodes=[f"n{number:04d}" for number in range(nodes)],
        labels=[f"c{code}" for code in codes],
    )


def some_known(graph: MultilayerGraph, count: int = 360, seed: int = 1) -> np.ndarray:
    """The labels of some nodes, None elsewhere."""
    known = np.random.default_rng(seed).choice(graph.num_nodes, count, replace=False)
    y = np.full(graph.num_nodes, None, dtype=object)
    y[known] = graph.labels[known]
    return y
