"""The propagation series against a dense solution, in both spaces."""

import numpy as np
import pytest
import torch

from gramme import datasets
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods.propagation import series as many
from gramme.methods.propagation.label_propagation import LabelPropagation
from gramme.methods.propagation.series import (
    AddedLayersWalk,
    GroupWalk,
    ManyLayersWalk,
    NodeWalk,
    Walk,
    propagate,
    walk_of,
)

ALPHAS = [0.0, 0.3, 0.9]


def table(nodes: int = 40, seed: int = 0) -> MultilayerGraph:
    """Two columns with gaps and groups of one."""
    random = np.random.default_rng(seed)
    first = random.integers(-1, 4, nodes)
    second = random.integers(-1, 3, nodes)
    second[0] = 7
    return MultilayerGraph({"first": MembershipLayer.from_codes(first), "second": MembershipLayer.from_codes(second)})


def mixed(nodes: int = 40) -> MultilayerGraph:
    """Directed, weighted, undirected, and several groups per node."""
    random = np.random.default_rng(1)
    ends = random.integers(0, nodes - 2, (2, 60))
    return MultilayerGraph(
        {
            "directed": EdgeLayer(nodes, *ends, random.random(60) + 0.1, directed=True),
            "plain": EdgeLayer(nodes, *ends[:, :20]),
            "several": MembershipLayer(nodes, *random.integers(0, 8, (2, 50))),
        }
    )


def dense(graph: MultilayerGraph, known, values, weights, alphas):
    """The solution of F = alpha P F + Y, column by column."""
    nodes = graph.num_nodes
    means = []
    for layer in graph.layers.values():
        matrix = layer.to_scipy().toarray() + np.eye(nodes)
        size = matrix.sum(1, keepdims=True)
        means.append(np.where(size > 1, matrix / size, 0))
    start = np.zeros((nodes, values.shape[1]))
    start[known] = values
    found = np.empty((len(alphas), *start.shape))
    for place, alpha in enumerate(alphas):
        for column in range(values.shape[1]):
            joint = np.tensordot(weights[:, column], np.array(means), 1)
            found[place, :, column] = np.linalg.solve(np.eye(nodes) - alpha * joint, start[:, column])
    return found


def walks() -> dict[str, tuple[MultilayerGraph, Walk]]:
    columns, both = table(), mixed()
    layers = list(columns.layers.values())
    return {
        "groups": (columns, GroupWalk(columns, layers)),
        "nodes of a table": (columns, NodeWalk(columns)),
        "nodes of edges": (both, NodeWalk(both)),
    }


@pytest.mark.parametrize("kind", walks())
def test_equals_the_dense_solution(kind):
    graph, walk = walks()[kind]
    random = np.random.default_rng(5)
    known = np.array([0, 3, 11, 25])
    values = random.random((4, 5))
    weights = random.dirichlet(np.ones(graph.num_layers), 5).T.copy()
    rows = np.array([0, 39, 3, 7])
    found = propagate(walk, known, values, weights, ALPHAS, rows, tolerance=1e-12, most=10_000)
    expected = dense(graph, known, values, weights, ALPHAS)
    np.testing.assert_allclose(found.values, expected[:, rows], rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(found.totals, expected.sum(1), rtol=1e-7)


def test_single_precision_and_a_loose_tolerance_stay_near():
    graph, walk = walks()["nodes of edges"]
    known, values = np.array([1, 2]), np.eye(2)
    weights = np.full((3, 2), 1 / 3)
    rows = np.arange(40)
    found = propagate(walk, known, values, weights, ALPHAS, rows, tolerance=1e-3, most=200, dtype=torch.float32)
    expected = dense(graph, known, values, weights, ALPHAS)
    np.testing.assert_allclose(found.values, expected, atol=0.02)


def test_tables_are_propagated_among_groups():
    assert isinstance(walk_of(datasets.load("balance_scale")), GroupWalk)
    assert isinstance(walk_of(datasets.load("synthetic")), NodeWalk)
    assert isinstance(walk_of(mixed()), NodeWalk)


def test_the_walk_on_a_graph_is_made_once():
    graph = mixed()
    assert walk_of(graph) is walk_of(graph)
    assert walk_of(graph) is not walk_of(mixed())


NODES, LAYERS = 12, 80


def graph(directed: bool = False, weighted: bool = False) -> MultilayerGraph:
    random = np.random.default_rng(3)
    layers = {}
    for layer in range(LAYERS):
        count = int(random.integers(0, 5))  # some have no edge at all
        ends = random.integers(0, NODES, (2, count))
        ends = ends[:, ends[0] != ends[1]]
        weight = random.random(ends.shape[1]) + 0.1 if weighted else None
        layers[f"layer {layer:02d}"] = EdgeLayer(NODES, *ends, weight=weight, directed=directed)
    return MultilayerGraph(layers)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_step_equals_that_of_the_layers_one_by_one(directed, weighted, dtype):
    g = graph(directed, weighted)
    random = np.random.default_rng(0)
    state = torch.from_numpy(random.random((NODES, 3))).to(dtype)
    weights = torch.from_numpy(random.random((LAYERS, 3))).to(dtype)
    weights[:, 2] = weights[:, 0]  # columns of the same weights step together
    found, added, expected = (kind(g).step(state, weights) for kind in (ManyLayersWalk, AddedLayersWalk, NodeWalk))
    assert found.dtype == added.dtype == dtype
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(added, expected)


def test_a_fit_comes_out_the_same(monkeypatch):
    g, y = graph(weighted=True), np.array([*"aabbab", *[None] * 6], dtype=object)
    together = LabelPropagation().fit(g, y)
    monkeypatch.setattr(many, "MANY_LAYERS", LAYERS + 1)
    one_by_one = LabelPropagation().fit(g, y)
    np.testing.assert_allclose(together.predict_proba(), one_by_one.predict_proba(), atol=1e-6)
    np.testing.assert_allclose(together.layer_importance_, one_by_one.layer_importance_, atol=1e-9, rtol=1e-6)


def test_many_small_layers_of_edges_are_taken_together(monkeypatch):
    g = graph()
    assert isinstance(walk_of(g), ManyLayersWalk)
    few = g.select_layers(list(g.layers)[:10])
    assert isinstance(walk_of(few), NodeWalk)
    groups = MembershipLayer.from_values([1, 2] * (NODES // 2))
    assert not isinstance(walk_of(MultilayerGraph({**g.layers, "groups": groups})), ManyLayersWalk)
    monkeypatch.setattr(many, "FEW_ROWS", 0)
    wide = MultilayerGraph({name: EdgeLayer(1_000, [0], [1 + place]) for place, name in enumerate(g.layers)})
    monkeypatch.setattr(many, "MAX_ROWS_PER_NODE", 0)
    assert isinstance(walk_of(wide), NodeWalk)


def test_many_layers_over_few_nodes_are_added_up(monkeypatch):
    rings = {str(number): EdgeLayer(6, range(6), [(node + 1) % 6 for node in range(6)]) for number in range(64)}
    g, y = MultilayerGraph(rings), np.array([*"aab", None, None, None], dtype=object)
    expected = LabelPropagation().fit(g, y).predict_proba()
    monkeypatch.setattr(many, "FEW_ROWS", 0)
    assert isinstance(walk_of(g), AddedLayersWalk)
    for numbers in (1, 1 << 24):
        monkeypatch.setattr(many, "MAX_STATE_NUMBERS", numbers)
        again = g.replace(name=str(numbers))
        np.testing.assert_allclose(LabelPropagation().fit(again, y).predict_proba(), expected, atol=1e-6)
