"""Every measure against networkx or numpy on the explicit supra matrix."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ranking.families import florentine_families
from tests.strategies import multilayer_graphs

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.ranking import MEASURES, SupraProduct, rank
from gramme.ranking.centrality import eigenvector_versatility, k_shell, katz_versatility, leading, pagerank, voterank


def supra_matrix(graph, coupling):
    """The matrix that the measures never build, copy of node i in layer l in row l * nodes + i."""
    blocks = sp.block_diag([layer.to_scipy() for layer in graph.layers.values()]).toarray()
    layers = list(graph.layers.values())
    for a, one in enumerate(layers):
        for b, other in enumerate(layers):
            if a != b:
                both = np.flatnonzero(one.present & other.present)
                blocks[a * graph.num_nodes + both, b * graph.num_nodes + both] += coupling
    names = list(graph.layers)
    for (first, second), one in graph.couplings.items():
        rows = names.index(first) * graph.num_nodes + one.source
        columns = names.index(second) * graph.num_nodes + one.target
        weights = 1.0 if one.weight is None else one.weight
        blocks[rows, columns] += weights
        if not one.directed:
            blocks[columns, rows] += weights
    return blocks


@settings(deadline=None, max_examples=40)
@given(multilayer_graphs(), st.sampled_from([0.0, 0.5, 2.0]))
def test_supra_products_equal_the_explicit_matrix(graph, coupling):
    if not graph.num_layers or not graph.num_nodes:
        return
    supra = SupraProduct.of(graph, coupling)
    matrix = supra_matrix(graph, coupling)
    values = np.where(supra.present, np.arange(1.0, matrix.shape[0] + 1).reshape(supra.shape), 0)
    flat = values.ravel()
    np.testing.assert_allclose(supra.times(values).ravel(), matrix @ flat, atol=1e-9)
    np.testing.assert_allclose(supra.transposed(values).ravel(), matrix.T @ flat, atol=1e-9)


def mixed_graph():
    """Three layers: directed and weighted, undirected without two nodes, and groups."""
    random = np.random.default_rng(3)
    source, target = random.integers(0, 12, (2, 40))
    return MultilayerGraph(
        {
            "directed": EdgeLayer(12, source, target, random.random(40) + 0.1, directed=True),
            "some": EdgeLayer(12, [0, 1, 2, 3, 4], [1, 2, 3, 4, 5], nodes=np.arange(12) < 10),
            "groups": MembershipLayer(12, [0, 1, 2, 2, 5, 6, 11], [0, 0, 0, 1, 1, 1, 1]),
        },
        couplings={("some", "groups"): ([3, 4], [5, 11], [0.5, 2.0])},
    )


@pytest.mark.parametrize("coupling", [0.2, 1.0])
def test_pagerank_is_networkx_pagerank_of_the_supra_graph(coupling):
    graph = mixed_graph()
    matrix = supra_matrix(graph, coupling)
    present = SupraProduct.of(graph).present
    there = np.flatnonzero(present.ravel())
    oracle = nx.pagerank(nx.from_numpy_array(matrix[np.ix_(there, there)], create_using=nx.DiGraph), tol=1e-13)
    expected = np.zeros(present.size)
    expected[there] = [oracle[place] for place in range(there.size)]
    found = pagerank(SupraProduct.of(graph, coupling))
    np.testing.assert_allclose(found, expected.reshape(present.shape).sum(axis=0), atol=1e-8)
    assert found.sum() == pytest.approx(1.0)


def test_random_walk_with_restart_is_multixranks(tmp_path):
    multixrank = pytest.importorskip("multixrank")
    graph = florentine_families()
    full = MultilayerGraph(
        {name: EdgeLayer(15, one.source, one.target) for name, one in graph.layers.items()}, nodes=graph.nodes
    )
    (tmp_path / "multiplex").mkdir()
    for name, layer in full.layers.items():
        rows = [f"{full.nodes[a]}\t{full.nodes[b]}" for a, b in zip(layer.source, layer.target, strict=True)]
        # a loop that weighs nothing makes sure that every layer knows every family
        rows += [f"{node}\t{node}" for node in full.nodes]
        (tmp_path / "multiplex" / f"{name}.tsv").write_text("\n".join(rows) + "\n")
    (tmp_path / "seeds.txt").write_text("Medici\n")
    (tmp_path / "config.yml").write_text(
        "seed: seeds.txt\nself_loops: 0\nr: 0.3\nmultiplex:\n  families:\n    delta: 0.25\n"
        "    tau: [0.5, 0.5]\n    graph_type: [00, 00]\n"
        "    layers: [multiplex/marriage.tsv, multiplex/business.tsv]\n"
    )
    walk = multixrank.Multixrank(config=str(tmp_path / "config.yml"), wdir=str(tmp_path))
    table = walk.random_walk_rank()
    expected = table.groupby("node")["score"].sum()
    # a step to another layer has weight delta against 1 - delta for an edge
    found = pagerank(SupraProduct.of(full, 0.25 / 0.75), damping=0.7, restart=full.positions(["Medici"]))
    shares = dict(zip(full.nodes, found, strict=True))
    # multixrank adds up the scores of a node's copies; both are shares of the walker's time
    for name, score in (expected / expected.sum()).items():
        assert shares[name] == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize("coupling", [0.3, 1.0, 4.0])
def test_eigenvector_and_katz_are_those_of_the_explicit_matrix(coupling):
    graph = mixed_graph()
    supra = SupraProduct.of(graph, coupling)
    matrix = supra_matrix(graph, coupling).T
    values, vectors = np.linalg.eig(matrix)
    best = int(np.argmax(values.real))
    per_node = np.abs(vectors[:, best].real).reshape(supra.shape).sum(axis=0)
    leads = leading(supra.transposed, supra, symmetric=not supra.directed)
    found = eigenvector_versatility(supra, leads)
    np.testing.assert_allclose(found, per_node / per_node.max(), atol=1e-6)
    attenuation = 0.5 / values[best].real
    walks = np.linalg.solve(np.eye(len(matrix)) - attenuation * matrix, supra.present.astype(float).ravel())
    per_node = walks.reshape(supra.shape).sum(axis=0)
    np.testing.assert_allclose(katz_versatility(supra, leads), per_node / per_node.max(), atol=1e-7)


def test_dense_and_iterated_eigenvectors_agree(monkeypatch):
    supra = SupraProduct.of(florentine_families())
    dense = leading(supra.transposed, supra, symmetric=True)
    monkeypatch.setattr("gramme.ranking.centrality._DENSE", 0)
    iterated = leading(supra.transposed, supra, symmetric=True)
    assert iterated[0] == pytest.approx(dense[0])
    np.testing.assert_allclose(iterated[1] / iterated[1].sum(), dense[1] / dense[1].sum(), atol=1e-6)


def test_hubs_and_authorities_are_networkx_ones_for_a_single_layer():
    layer = mixed_graph().layers["directed"]
    table = rank(MultilayerGraph({"only": layer}), ["hub", "authority"])
    edges = nx.from_scipy_sparse_array(layer.to_scipy(), create_using=nx.DiGraph)
    hubs, authorities = nx.hits(edges, tol=1e-12, max_iter=10_000)
    for name, expected in (("hub", hubs), ("authority", authorities)):
        shares = table[name] / table[name].sum()
        np.testing.assert_allclose(shares, [expected[node] for node in range(12)], atol=1e-6)


def test_the_facts_of_the_florentine_families():
    graph = florentine_families()
    table = rank(graph, ["degree", "voterank", "participation"])
    assert table.loc["Medici", "degree"] == 11
    assert table.loc["Peruzzi", "degree"] == 7
    assert table.sort_values("voterank_rank").index[:5].tolist() == [
        "Medici",
        "Peruzzi",
        "Guadagni",
        "Strozzi",
        "Barbadori",
    ]
    # six marriages and five business ties: 2 * (1 - (6/11)^2 - (5/11)^2)
    assert table.loc["Medici", "participation"] == pytest.approx(2 * (1 - (36 + 25) / 121))
    assert table.loc["Strozzi", "participation"] == 0


@pytest.mark.parametrize("seed", range(5))
def test_voterank_of_one_layer_is_networkx_one(seed):
    oracle = nx.gnm_random_graph(20, 45, seed=seed)
    layer = EdgeLayer(20, [a for a, _ in oracle.edges], [b for _, b in oracle.edges])
    # the later ones have votes that are equal but for rounding
    assert voterank([layer], 20, 6)[0].tolist() == nx.voterank(oracle, 6)


def test_nodes_that_the_order_of_nodes_alone_elects_one_after_the_other_are_tied():
    one, other = np.triu_indices(8, 1)
    complete = MultilayerGraph({"all": EdgeLayer(8, one, other)})
    assert (rank(complete, "voterank")["voterank_rank"] == 1).all()
    # two hubs of three leaves each, and one of two: only the third has fewer votes
    hubs = EdgeLayer(11, [0, 0, 0, 1, 1, 1, 2, 2], [3, 4, 5, 6, 7, 8, 9, 10])
    assert rank(MultilayerGraph({"a": hubs}), "voterank")["voterank_rank"].tolist()[:4] == [1, 1, 3, 4]


def test_in_a_directed_layer_listeners_vote_for_those_they_listen_to():
    oracle = nx.gnm_random_graph(20, 60, seed=1, directed=True)
    layer = EdgeLayer(20, [a for a, _ in oracle.edges], [b for _, b in oracle.edges], directed=True)
    # in networkx a node is elected by those it points to: the same with all edges turned round
    assert voterank([layer], 20, 4)[0].tolist() == nx.voterank(oracle.reverse(), 4)


@given(st.data(), st.integers(2, 9))
@settings(deadline=None)
def test_groups_vote_and_peel_like_the_edges_they_imply(data, nodes):
    from tests.strategies import membership_layers

    layer = data.draw(membership_layers(nodes))
    matrix = layer.to_scipy().toarray().astype(int)
    # a pair that shares several groups has as many edges: one layer for each
    layers = []
    while matrix.any():
        once = np.argwhere(np.triu(matrix) > 0)
        layers.append(EdgeLayer(nodes, once[:, 0], once[:, 1]))
        matrix = np.maximum(matrix - 1, 0)
    if layers:
        assert k_shell([layer], nodes).tolist() == k_shell(layers, nodes).tolist()
        assert voterank([layer], nodes)[0].tolist() == voterank(layers, nodes)[0].tolist()


@pytest.mark.parametrize("directed", [False, True])
def test_k_shell_of_one_layer_is_networkx_core_number(directed):
    oracle = nx.gnm_random_graph(40, 120, seed=2, directed=directed)
    layer = EdgeLayer(40, [a for a, _ in oracle.edges], [b for _, b in oracle.edges], directed=directed)
    assert k_shell([layer], 40).tolist() == [nx.core_number(oracle)[node] for node in range(40)]


def test_k_shell_counts_an_edge_of_two_layers_twice():
    layer = EdgeLayer(3, [0], [1])
    assert k_shell([layer, layer], 3).tolist() == [2, 2, 0]


def test_every_measure_is_named_explained_and_finite():
    table = rank(mixed_graph(), list(MEASURES))
    assert np.isfinite(table.to_numpy(dtype=float)).all()
    assert all(one.meaning for one in MEASURES.values())
