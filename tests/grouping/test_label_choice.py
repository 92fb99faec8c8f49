"""``gramme.ask``: covers the graph, goes where no label is, never looks at labels, refuses mistakes."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.grouping.planted import planted

import gramme
from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.grouping.label_choice import spectral_coordinates, to_nearest


def test_one_node_per_planted_group():
    graph, group = planted(inside=0.3)
    chosen = gramme.ask(graph, count=3)
    assert list(chosen.columns) == ["node", "why", "stands_for"]
    assert sorted(group[chosen["node"]]) == [0, 1, 2]
    names = [one for some in chosen["stands_for"] for one in some]
    assert sorted(names) == list(range(120))
    for _, row in chosen.iterrows():
        assert row["stands_for"][0] == row["node"]
        assert (group[row["stands_for"]] == group[row["node"]]).mean() > 0.9


def test_a_group_without_labels_comes_first():
    graph, group = planted(inside=0.3)
    known = {int(one): "x" for one in np.flatnonzero(group == 0)[:8]}
    known |= {int(one): "y" for one in np.flatnonzero(group == 2)[:8]}
    chosen = gramme.ask(graph, known, count=2)
    # who stands for most is in the group without labels, and stands for hardly anybody else
    first = chosen.iloc[0]
    assert group[first["node"]] == 1
    assert (group[first["stands_for"]] == 1).mean() > 0.9
    covered = [one for some in chosen["stands_for"] for one in some]
    assert not set(covered) & set(known)
    assert "no label covers yet" in chosen["why"].iloc[0]


def test_which_labels_they_are_does_not_matter():
    graph, _ = planted()
    labels = np.full(120, None, dtype=object)
    labels[::7] = "a"
    other = labels.copy()
    other[::14] = "b"
    first, second = gramme.ask(graph, labels, count=4), gramme.ask(graph, other, count=4)
    assert first.equals(second)
    own = gramme.ask(graph.replace(labels=labels), count=4)
    assert first.equals(own)


def test_only_nodes_that_can_be_asked():
    graph, _ = planted()
    chosen = gramme.ask(graph, count=5, among=range(20))
    assert set(chosen["node"]) <= set(range(20))
    assert chosen["node"].is_unique


def test_everybody_can_be_asked_isolated_nodes_last():
    graph = MultilayerGraph({"talk": EdgeLayer(5, [0, 1], [1, 2])}, nodes=list("abcde"))
    chosen = gramme.ask(graph, count=5)
    assert sorted(chosen["node"]) == list("abcde")
    rows = chosen.set_index("node")
    assert rows.loc["e", "stands_for"] == ["e"]
    assert rows.loc["e", "why"].startswith("joined to nobody")
    assert set(gramme.ask(graph, count=3)["node"]) == set("abc")


def test_the_order_of_nodes_does_not_matter():
    names = [f"n{one:03d}" for one in range(120)]
    graph, _ = planted(names=names)
    order = np.random.default_rng(3).permutation(names)
    assert gramme.ask(graph, count=6)["node"].tolist() == (gramme.ask(graph.subgraph(order), count=6)["node"].tolist())


def test_memberships_and_their_edges_choose_alike():
    random = np.random.default_rng(0)
    codes = [np.where(random.random(40) < 0.9, np.arange(40) % 4, k) for k in range(3)]
    groups = {f"c{k}": MembershipLayer.from_codes(one) for k, one in enumerate(codes)}
    table = MultilayerGraph(groups)
    edges = MultilayerGraph({name: layer.to_edges() for name, layer in groups.items()})
    for graph in (table, edges):
        assert sorted(gramme.ask(graph, count=4, layer_weights="equal")["node"] % 4) == [0, 1, 2, 3]


def test_a_table_never_becomes_edges():
    # 30,000 nodes in two groups imply 450 million edges
    graph = MultilayerGraph({"c": MembershipLayer.from_codes(np.arange(30_000) % 2)})
    chosen = gramme.ask(graph, count=2)
    assert sorted(chosen["node"] % 2) == [0, 1]


def test_nearest_is_the_nearest():
    random = np.random.default_rng(0)
    rows, centres = random.normal(size=(50, 3)), random.normal(size=(7, 3))
    between = ((rows[:, None] - centres[None]) ** 2).sum(axis=2)
    nearest, distance = to_nearest(rows, centres)
    assert (nearest == between.argmin(axis=1)).all()
    assert distance == pytest.approx(between.min(axis=1))


def test_dense_and_iterative_eigenvectors_span_the_same():
    graph, _ = planted(inside=0.4, noise=0)
    ties = sp.csr_array(sum(layer.to_scipy() for layer in graph.layers.values()).astype(float))
    dense = spectral_coordinates(ties, 3)
    # among isolated nodes the graph is so large that eigenvectors are iterated
    iterated = spectral_coordinates(sp.csr_array(sp.block_diag([ties, sp.csr_array((400, 400))])), 3)[:120]
    assert np.abs(dense @ dense.T - iterated @ iterated.T).max() < 0.02


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"count": 0}, "count must be a whole number from 1"),
        ({"count": "3"}, "count must be a whole number from 1"),
        ({"count": 121}, "count is 121, but only 120 nodes have no label; ask for 120 or fewer"),
        ({"y": ["a"] * 120}, "every node has a label already"),
        ({"y": {0: "a"}, "count": 120}, "only 119 nodes have no label"),
        ({"among": [0, 1], "count": 3}, "only 2 of the nodes that can be asked"),
        ({"among": ["Zoe"]}, "there is no node 'Zoe'"),
        ({"y": {"Zoe": "a"}}, "Zoe"),
    ],
)
def test_mistakes(settings, message):
    graph, _ = planted()
    with pytest.raises(DataError, match=message):
        gramme.ask(graph, **settings)


@pytest.mark.parametrize("nodes", [1, 3])
def test_a_graph_without_edges_is_refused(nodes):
    with pytest.raises(DataError, match="choosing whom to ask needs"):
        gramme.ask(MultilayerGraph({"a": EdgeLayer(nodes, [], [])}), count=1)
