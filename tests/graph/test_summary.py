import math
import time

import networkx as nx
import numpy as np
from hypothesis import given
from tests.strategies import multilayer_graphs

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.graph.summary import components, density, homophily


@given(multilayer_graphs(labels=True, min_layers=1))
def test_every_count_equals_brute_force_on_the_materialised_graph(graph):
    table = graph.summary()
    assert list(table.index) == list(graph.layers)
    for name, layer in graph.layers.items():
        row = table.loc[name]
        edges = layer.to_edges()
        inside = np.flatnonzero(layer.present).tolist()
        pairs = list(zip(edges.source.tolist(), edges.target.tolist(), strict=True))
        times = np.ones(len(pairs))
        if isinstance(layer, MembershipLayer) and edges.weight is not None:
            times = edges.weight
        plain = nx.Graph(pairs)
        plain.add_nodes_from(inside)
        assert row["nodes"] == len(inside)
        assert row["edges"] == times.sum()
        assert row["components"] == nx.number_connected_components(plain) if inside else True
        possible = len(inside) * (len(inside) - 1) / (1 if layer.directed else 2)
        expected = times.sum() / possible if possible else math.nan
        assert np.isclose(row["density"], expected, equal_nan=True)
        labels = graph.labels
        both = [
            (labels[i] == labels[j], t)
            for (i, j), t in zip(pairs, times, strict=True)
            if labels[i] is not None and labels[j] is not None
        ]
        expected = math.nan
        if both:
            expected = sum(t for same, t in both if same) / sum(t for _, t in both)
        assert np.isclose(row["homophily"], expected, equal_nan=True)


def test_columns_are_always_the_same_and_homophily_needs_labels():
    columns = ["kind", "nodes", "edges", "groups", "directed", "weighted", "density", "components"]
    assert list(MultilayerGraph({}).summary().columns) == columns
    assert MultilayerGraph({}).summary().index.name == "layer"
    graph = MultilayerGraph({"a": EdgeLayer(2, [0], [1])})
    assert list(graph.summary().columns) == columns
    assert list(graph.replace(labels=["x", "y"]).summary().columns) == [*columns, "homophily"]
    mixed = MultilayerGraph({"a": EdgeLayer(2, [0], [1]), "b": MembershipLayer.from_codes([0, 0])})
    assert mixed.summary()["groups"].tolist()[1] == 1
    assert mixed.summary()["groups"].isna().tolist() == [True, False]


def test_nothing_to_count():
    for layer in (EdgeLayer(0, [], []), MembershipLayer(0, [], [])):
        assert components(layer) == 0
        assert math.isnan(density(layer))
        assert math.isnan(homophily(layer, np.zeros(0, dtype=np.int64)))
    alone = MembershipLayer.from_values(["x", None])
    assert components(alone) == 1
    assert math.isnan(homophily(alone, np.array([-1, -1])))


def test_a_million_rows_are_summarised_without_their_edges():
    codes = np.arange(1_000_000) % 2
    layer = MembershipLayer.from_codes(codes)
    assert components(layer) == 2
    assert homophily(layer, codes) == 1.0
    assert layer.num_edges == 2 * (500_000 * 499_999 // 2)


def test_printed_form():
    layers = {name: EdgeLayer(2, [0], [1]) for name in "abcde"}
    graph = MultilayerGraph(layers, labels=["x", None], features=np.ones((2, 3)), name="demo")
    assert repr(graph) == (
        "MultilayerGraph('demo', 2 nodes, 5 layers: a 1 edge, b 1 edge, c 1 edge, d 1 edge, ..., "
        "1 class on 1 node, 3 features)"
    )


def test_the_notebook_form_leaves_out_what_is_so_in_no_layer():
    plain = MultilayerGraph({"a": EdgeLayer(2, [], [])}, labels=["x", "y"])
    text = plain._repr_html_()
    assert "<th>edges</th>" in text  # though there are none
    assert "<th>directed</th>" not in text
    assert "<th>groups</th>" not in text
    directed = MultilayerGraph({"a": EdgeLayer(2, [0], [1], [2.0], directed=True)})._repr_html_()
    assert "<th>directed</th>" in directed
    assert "<th>weighted</th>" in directed
    assert "&lt;NA&gt;" not in directed


def test_the_notebook_form_is_escaped():
    graph = MultilayerGraph({"<b>": EdgeLayer(2, [0], [1])}, name="<script>")
    text = graph._repr_html_()
    assert "<script>" not in text
    assert "&lt;b&gt;" in text
    assert MultilayerGraph({})._repr_html_().startswith("<p>")


def test_many_small_layers_cost_in_proportion_to_their_edges():
    """A layer of two nodes among a million does not look at the others."""
    layer = EdgeLayer(10**6, [0, 5], [1, 6])
    began = time.process_time()
    for _ in range(100):
        assert components(layer) == 10**6 - 2
    assert time.process_time() - began < 0.5
