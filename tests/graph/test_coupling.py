"""Edges between layers: cleaned once, kept by every way to make another graph, shown, in the supra graph."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import multilayer_graphs

from gramme.errors import DataError
from gramme.graph import Coupling, EdgeLayer, MultilayerGraph
from gramme.graph.canonical import checksum
from gramme.graph.coupling import coupling_layer_name

GRID = EdgeLayer(4, [0], [1], nodes=[0, 1])
WEB = EdgeLayer(4, [2], [3], nodes=[2, 3])
COUPLED = MultilayerGraph(
    {"grid": GRID, "web": WEB},
    nodes=["a", "b", "x", "y"],
    labels=["s", "t", "s", "t"],
    couplings={("grid", "web"): ([0, 1], [2, 3], [2.0, 0.5])},
)
GRAPHS = multilayer_graphs(couplings=True, layer_features=None, weighted_groups=None, max_nodes=6)


def test_a_coupling_is_cleaned_once():
    coupling = Coupling(4, [1, 0, 0, 2], [3, 2, 2, 2], [1, 2, 3, 4])
    assert coupling.source.tolist() == [0, 1]
    assert coupling.weight.tolist() == [5, 1]
    assert (coupling.pillars_dropped, coupling.duplicates_merged) == (1, 1)
    assert coupling.reversed().source.tolist() == [2, 3]
    assert coupling.reversed().reversed() == coupling
    assert coupling != Coupling(4, [0, 1], [2, 3], [5, 1], directed=True)
    assert not coupling.source.flags.writeable


def test_both_ways_round_are_one_undirected_coupling():
    turned = COUPLED.replace(couplings={("web", "grid"): ([2, 3], [0, 1], [2.0, 0.5])})
    assert turned == COUPLED
    assert list(turned.couplings) == [("grid", "web")]
    one_way = Coupling(4, [2], [0], directed=True)
    kept = COUPLED.replace(couplings={("web", "grid"): one_way})
    assert list(kept.couplings) == [("web", "grid")]
    both = {("grid", "web"): ([0], [2]), ("web", "grid"): ([3], [1])}
    assert COUPLED.replace(couplings=both).couplings["grid", "web"].num_edges == 2


@given(GRAPHS)
def test_the_supra_graph_has_every_coupling_beside_the_pillars(graph):
    size = graph.num_nodes
    supra = graph.supra_adjacency().toarray()
    bare = graph.replace(couplings=None).supra_adjacency().toarray()
    place = {name: number * size for number, name in enumerate(graph.layers)}
    for (first, second), coupling in graph.couplings.items():
        weights = np.ones(coupling.num_edges) if coupling.weight is None else coupling.weight
        for a, b, weight in zip(coupling.source, coupling.target, weights, strict=True):
            bare[place[first] + a, place[second] + b] += weight
            if not coupling.directed:
                bare[place[second] + b, place[first] + a] += weight
    assert np.array_equal(supra, bare)


@given(GRAPHS, st.randoms(use_true_random=False))
def test_other_graphs_keep_the_couplings_among_what_they_hold(graph, random):
    assert pickle.loads(pickle.dumps(graph)) == graph
    nodes = [node for node in range(graph.num_nodes) if random.random() < 0.7]
    part = graph.subgraph(graph.nodes[nodes])
    assert list(part.couplings) == list(graph.couplings)
    for pair, coupling in graph.couplings.items():
        matrix = coupling.to_scipy().toarray()[np.ix_(nodes, nodes)]
        assert np.array_equal(part.couplings[pair].to_scipy().toarray(), matrix)
    names = [name for name in graph.layers if random.random() < 0.7]
    chosen = graph.select_layers(names)
    assert set(chosen.couplings) == {p for p in graph.couplings if set(p) <= set(names)}
    assert set(chosen.layer_features) == set(graph.layer_features) & set(names)


@given(GRAPHS)
def test_a_coupling_is_a_layer_of_its_own_where_asked_for(graph):
    flat = graph.with_coupling_layers()
    assert not flat.couplings
    assert list(flat.layers)[: graph.num_layers] == list(graph.layers)
    for (first, second), coupling in graph.couplings.items():
        layer = flat.layers[coupling_layer_name(first, second, coupling)]
        one_way = coupling.to_scipy().toarray() > 0
        expected = one_way if coupling.directed else one_way | one_way.T
        assert np.array_equal(layer.to_scipy().toarray() > 0, expected)


def test_it_is_shown_and_counts_in_checksum_and_equality():
    assert "1 coupling: grid~web 2 edges" in repr(COUPLED)
    row = COUPLED.summary().loc["grid~web"]
    assert (row["kind"], row["edges"], row["nodes"], row["homophily"]) == ("coupling", 2, 4, 1.0)
    assert "grid~web" in COUPLED._repr_html_()
    bare = COUPLED.replace(couplings=None)
    assert bare != COUPLED
    assert checksum(bare) != checksum(COUPLED)


@pytest.mark.parametrize(
    ("couplings", "problem"),
    [
        ({("grid", "wed"): ([0], [2])}, "names the layer 'wed', which is not there; did you mean 'web'"),
        ({("grid", "grid"): ([0], [1])}, "'grid' was named twice"),
        ({"grid": ([0], [1])}, r"between two layers \(A, B\)"),
        ({("grid", "web"): ([2], [3])}, "touches the node 'x', which is not in the layer 'grid'"),
        ({("grid", "web"): ([0], [9])}, "9 at position 0 is not a node"),
        ({("grid", "web"): ([0], [2], [-1])}, "weights must be positive"),
        ({("grid", "web"): 5}, "must be a Coupling or arrays"),
        ({("grid", "web"): Coupling(3, [0], [1])}, "is over 3 nodes, the graph over 4"),
        ([1], "must be a mapping"),
    ],
)
def test_bad_couplings_end_in_one_clear_message(couplings, problem):
    with pytest.raises(DataError, match=problem):
        COUPLED.replace(couplings=couplings)


def test_a_layer_of_the_couplings_name_is_refused():
    graph = COUPLED.replace(layers={**COUPLED.layers, "grid~web": EdgeLayer(4, [0], [1])})
    with pytest.raises(DataError, match="there is a layer of that name"):
        graph.with_coupling_layers()
