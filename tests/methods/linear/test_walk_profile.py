"""Where walks lead: the eigenvectors against a dense computation, both solvers, and nodes of other graphs."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.methods.graphs import planted

from gramme import DataError, EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods.linear import walk_profile as walk_eigenvectors
from gramme.methods.linear.walk_profile import WALK_STEPS, WalkProfile, leading


def table(rows=300, groups=7, seed=0):
    """A random table as the walk sees it: memberships scaled so that the first eigenvalue is 1."""
    random = np.random.default_rng(seed)
    members = sp.csr_array(np.eye(groups)[random.integers(0, groups, rows)])
    other = sp.csr_array(np.eye(groups)[random.integers(0, groups, rows)])
    joined = sp.csr_array(sp.hstack([members, other]))
    mass = joined @ joined.sum(axis=0)
    scaled = sp.csr_array(sp.diags_array(1 / np.sqrt(mass)) @ joined)
    first = np.sqrt(mass)
    return scaled, first / np.linalg.norm(first)


def test_all_at_once_by_iteration_and_by_groups(monkeypatch):
    members, first = table()
    none = sp.csr_array((300, 300))
    expected, vectors = leading(none, members, first, 4)
    monkeypatch.setattr(walk_eigenvectors, "DENSE_NODES", 100)
    values, found = leading(none, members, first, 4)
    monkeypatch.setattr(walk_eigenvectors, "LONG_TABLE_ROWS", 200)
    by_groups, others = leading(none, members, first, 4)
    np.testing.assert_allclose(values, expected, atol=1e-6)
    np.testing.assert_allclose(by_groups, expected, atol=1e-9)
    for each in (found, others):
        np.testing.assert_allclose(np.abs((vectors * each).sum(axis=0)), 1, atol=1e-4)


GRAPH = planted()


def dense_walk(graph):
    """One step of the walk by the definition, from the layers' full adjacency matrices."""
    total = np.zeros((graph.num_nodes, graph.num_nodes))
    for layer in graph.layers.values():
        if isinstance(layer, MembershipLayer):
            inside = layer.incidence().toarray()
            adjacency = inside @ inside.T
        else:
            adjacency = layer.to_scipy().toarray()
            adjacency = adjacency + adjacency.T if layer.directed else adjacency
        degree = adjacency.sum(1)
        root = np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
        total += root[:, None] * adjacency * root
    mass = total.sum(1)
    step = total / np.sqrt(np.outer(mass, mass))
    first = np.sqrt(mass / mass.sum())
    return 0.2 * np.eye(len(mass)) + 0.8 * step, first


def similarities(rows):
    """The scalar products of the rows, which do not depend on the choice of the eigenvectors."""
    return rows @ rows.T


def assert_same(one, other, graph):
    np.testing.assert_allclose(one.values, other.values, atol=1e-6)
    found = [similarities(profile.table(profile.placed(graph))) for profile in (one, other)]
    np.testing.assert_allclose(*found, atol=1e-3)


def test_rows_compare_where_walks_lead():
    graph = planted(names=list(range(36)))
    profile = WalkProfile.of(graph, 36)
    rows = profile.table(profile.placed(graph))
    walk, first = dense_walk(graph)
    values, vectors = np.linalg.eigh(walk)
    kept = np.where(values > 0.2 + 1e-9, values, 0)  # who swaps sides at each step is left out
    walk = vectors * kept @ vectors.T
    away = np.eye(36) - np.outer(first, first)
    expected = np.zeros((36, 36))
    for steps in WALK_STEPS:
        led = np.linalg.matrix_power(walk, steps) @ away
        led /= np.linalg.norm(led, axis=1, keepdims=True)
        expected += led @ led.T / len(WALK_STEPS)
    np.testing.assert_allclose(similarities(rows), expected, atol=2e-3)


def test_the_two_solvers_agree(monkeypatch):
    random = np.random.default_rng(0)
    codes = random.integers(4, size=500)
    source, target = random.integers(500, size=(2, 9000))
    keep = (codes[source] == codes[target]) | (random.random(9000) < 0.1)
    graph = MultilayerGraph(
        {
            "edges": EdgeLayer(500, source[keep], target[keep], directed=True),
            "groups": MembershipLayer.from_codes(random.integers(3, size=500), range(3)),
        }
    )
    lanczos = WalkProfile.of(graph, 6)
    monkeypatch.setattr(walk_eigenvectors, "DENSE_NODES", 500)
    dense = WalkProfile.of(graph, 6)
    assert_same(lanczos, dense, graph)


def test_a_long_table_is_computed_on_its_groups(monkeypatch):
    random = np.random.default_rng(0)
    codes = random.integers(4, size=500)
    noisy = [np.where(random.random(500) < 0.4, random.integers(4, size=500), codes)] * 2
    graph = MultilayerGraph(
        {str(i): MembershipLayer.from_codes(one, range(4)) for i, one in enumerate([*noisy, codes])}
    )
    lanczos = WalkProfile.of(graph, 4)
    monkeypatch.setattr(walk_eigenvectors, "LONG_TABLE_ROWS", 100)
    groups = WalkProfile.of(graph, 4)
    assert_same(lanczos, groups, graph)
    for longest in (100, 20_000):
        monkeypatch.setattr(walk_eigenvectors, "LONG_TABLE_ROWS", longest)
        assert WalkProfile.of(graph, 32).values.size == 6, "as many as differ from chance"


def test_what_has_not_settled_is_left_out(monkeypatch):
    random = np.random.default_rng(0)
    graph = MultilayerGraph({"edges": EdgeLayer(600, *random.integers(600, size=(2, 3000)))})
    monkeypatch.setattr(walk_eigenvectors, "LANCZOS_RESTARTS", 1)
    profile = WalkProfile.of(graph, 32)
    assert profile.values.size < 32
    assert profile.placed(graph).shape == (600, profile.values.size)


def test_order_and_names_of_the_nodes_do_not_matter():
    profile = WalkProfile.of(GRAPH, 8)
    order = np.random.default_rng(1).permutation(36)
    shuffled = GRAPH.subgraph(GRAPH.nodes[order])
    np.testing.assert_allclose(profile.placed(shuffled), profile.placed(GRAPH)[order], rtol=1e-4, atol=1e-5)


def test_a_new_node_is_placed_among_its_neighbours_and_groups():
    profile = WalkProfile.of(GRAPH, 4)
    rows = profile.table(profile.placed(GRAPH))
    twin = GRAPH.nodes.get_loc("n0")
    friends, room = GRAPH.layers["friends"], GRAPH.layers["room"]
    rooms = room.group_names[room.codes()].tolist()
    around = friends.neighbours(twin)[0]
    more = MultilayerGraph(
        {
            "friends": EdgeLayer(37, np.r_[friends.source, np.full(around.size, 36)], np.r_[friends.target, around]),
            "room": MembershipLayer.from_values([*rooms, rooms[twin]]),
        },
        nodes=[*GRAPH.nodes, "newcomer"],
    )
    placed = profile.table(profile.placed(more))
    assert similarities(placed)[36].argsort()[::-1][:6].tolist().count(twin) == 1
    assert placed[36] @ rows[twin] > 0.9


def test_a_table_with_other_rows_is_placed_by_its_groups():
    random = np.random.default_rng(0)
    pairs = list(enumerate(np.array(list("abc"))[random.integers(3, size=(2, 60))]))
    graph = MultilayerGraph(
        {f"column {i}": MembershipLayer.from_values(list(column)) for i, column in pairs},
        nodes=[f"old {i}" for i in range(60)],
    )
    fresh = MultilayerGraph(
        {f"column {i}": MembershipLayer.from_values(list(column[:20])) for i, column in pairs},
        nodes=[f"new {i}" for i in range(20)],
    )
    profile = WalkProfile.of(graph, 4)
    old, new = (profile.table(profile.placed(one)) for one in (graph, fresh))
    assert (np.einsum("ij,ij->i", old[:20], new) > 0.95).all()


@pytest.mark.parametrize("nodes", [1, 2, 5])
def test_a_graph_without_edges_says_nothing(nodes):
    graph = MultilayerGraph({"none": EdgeLayer(nodes, [], [])})
    profile = WalkProfile.of(graph, 8)
    assert not profile.placed(graph).any()
    assert not profile.table(profile.placed(graph)).any()


def test_isolated_and_absent_nodes_have_rows_of_zeros():
    graph = MultilayerGraph(
        {
            "edges": EdgeLayer(6, [0, 1, 2], [1, 2, 3], nodes=[0, 1, 2, 3]),
            "groups": MembershipLayer(6, [0, 1], [0, 0], ["a"]),
        }
    )
    placed = WalkProfile.of(graph, 6).placed(graph)
    assert not placed[4:].any()
    assert placed[:4].any(axis=1).all()
    assert np.isfinite(placed).all()


def test_huge_weights_and_a_heavy_node():
    source = np.zeros(40, dtype=int)
    weights = np.geomspace(1e-12, 1e12, 40)
    graph = MultilayerGraph({"star": EdgeLayer(41, source, np.arange(1, 41), weights)})
    rows = WalkProfile.of(graph, 8)
    assert np.isfinite(rows.table(rows.placed(graph))).all()


def test_groups_where_there_were_edges_is_an_error():
    other = MultilayerGraph({"friends": GRAPH.layers["friends"], "room": GRAPH.layers["friends"]}, nodes=GRAPH.nodes)
    with pytest.raises(DataError, match="room"):
        WalkProfile.of(GRAPH, 4).placed(other)
    swapped = MultilayerGraph({"friends": GRAPH.layers["room"], "room": GRAPH.layers["room"]}, nodes=GRAPH.nodes)
    with pytest.raises(DataError, match="friends"):
        WalkProfile.of(GRAPH, 4).placed(swapped)


def test_no_full_matrix_is_built_of_memberships(monkeypatch):
    """A group of half the nodes would have N^2 / 4 entries."""
    graph = MultilayerGraph(
        {"half": MembershipLayer.from_codes(np.arange(3000) % 2, range(2)),
         "third": MembershipLayer.from_codes(np.arange(3000) % 3, range(3))},
    )  # fmt: skip
    sizes = []
    proper = sp.csr_array.__matmul__

    def watched(self, other):
        found = proper(self, other)
        sizes.append(found.nnz if sp.issparse(found) else found.size)
        return found

    monkeypatch.setattr(sp.csr_array, "__matmul__", watched)
    WalkProfile.of(graph, 3)
    assert max(sizes) <= 4 * 3000
