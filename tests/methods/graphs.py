"""Small graphs and labels that the tests of the methods share."""

from typing import Any

import numpy as np

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph

# Every setting that GrAMME-SG and GrAMME-Fusion share and that a result could depend on, small and fast: defaults may
# change, what tests expect may not.
PINNED: dict[str, Any] = {
    "feature_dim": 8,
    "hidden_dim": 4,
    "heads": 2,
    "depth": 2,
    "learning_rate": 0.01,
    "epochs": 12,
    "dropout": 0.0,
    "attention_dropout": 0.0,
    "weight_decay": 0.001,
    "score_bound": 5.0,
    "activation": "elu",
    "head_weights": "nonnegative",
    "combine_heads": "weighted",
    "readout": "linear",
    "features": None,
    "entry_sum": 20.0,
    "ensemble": 2,
    "validation_fraction": 0.0,
    "patience": 20,
    "class_weight": None,
    "device": "cpu",
    "random_state": 0,
}


def planted(
    nodes: int = 36,
    classes: tuple[Any, ...] = ("a", "b", "c"),
    *,
    seed: int = 0,
    names: list[Any] | None = None,
    features: Any = None,
) -> MultilayerGraph:
    """An edge layer and a membership layer that both mostly follow the classes; every node has its label."""
    random = np.random.default_rng(seed)
    codes = random.permutation(np.arange(nodes) % len(classes))
    source = random.integers(nodes, size=4 * nodes)
    target = random.integers(nodes, size=4 * nodes)
    keep = (codes[source] == codes[target]) | (random.random(4 * nodes) < 0.1)
    groups = np.where(random.random(nodes) < 0.2, random.integers(4, size=nodes), codes)
    return MultilayerGraph(
        {"friends": EdgeLayer(nodes, source[keep], target[keep]), "room": MembershipLayer.from_values(groups.tolist())},
        nodes=[f"n{number}" for number in range(nodes)] if names is None else names,
        labels=[classes[code] for code in codes],
        features=features,
    )


def half_known(graph: MultilayerGraph, *, every: int = 2) -> np.ndarray:
    """The graph's labels with only every second one (or third, ...) known."""
    assert graph.labels is not None
    y = graph.labels.copy()
    y[np.arange(graph.num_nodes) % every != 0] = None
    return y
