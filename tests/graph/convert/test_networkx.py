import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from tests.strategies import multilayer_graphs

from gramme.errors import DataError, MissingExtraError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph

from_networkx = MultilayerGraph.from_networkx


@given(multilayer_graphs(kinds=["edges"], features=False, min_layers=1))
def test_a_graph_per_layer_gives_the_graph_back(graph):
    again = from_networkx(graph.to_networkx(), nodes=graph.nodes, label=None if graph.labels is None else "label")
    expected = graph
    if graph.labels is not None:
        # A node that no layer holds is in no networkx graph, and neither is its label
        held = np.any([layer.present for layer in graph.layers.values()], axis=0)
        expected = graph.replace(labels=np.where(held, graph.labels, None))
    assert again == expected


@given(multilayer_graphs(presence=False, features=False, weighted_groups=None, labels=True, min_layers=1))
def test_one_multigraph_holds_every_edge(graph):
    merged = graph.to_networkx(merged=True)
    assert list(merged) == list(graph.nodes)
    again = (
        from_networkx(
            merged,
            nodes=graph.nodes,
            label="label",
            directed={name: layer.directed for name, layer in graph.layers.items() if layer.num_edges},
        )
        if graph.num_edges
        else from_networkx(merged, nodes=graph.nodes, label="label")
    )
    assert again.labels.tolist() == graph.labels.tolist()
    for name, layer in graph.layers.items():
        if layer.num_edges:
            assert again.layers[name] == layer.to_edges()
        else:
            assert name not in again.layers or not again.layers[name].num_edges


def test_a_layer_holds_the_nodes_of_its_own_graph():
    path, star = nx.path_graph(["a", "b", "c"]), nx.star_graph(["c", "d"])
    graph = from_networkx({"path": path, "star": star})
    assert list(graph.nodes) == ["a", "b", "c", "d"]
    assert graph.layers["path"].present.tolist() == [True, True, True, False]
    assert graph.layers["star"].present.tolist() == [False, False, True, True]


def test_weights_where_any_edge_has_one():
    one = nx.Graph()
    one.add_edge("a", "b", weight=2)
    one.add_edge("b", "c")
    graph = from_networkx(one)
    assert graph.layers["edges"].weight.tolist() == [2.0, 1.0]
    assert from_networkx(one, weight=None).layers["edges"].weight is None
    assert from_networkx(one, weight="length").layers["edges"].weight is None


def test_lists_are_named_by_their_graphs():
    graphs = [nx.path_graph(3), nx.DiGraph([(0, 1)], name="likes")]
    graph = from_networkx(graphs)
    assert list(graph.layers) == ["layer 1", "likes"]
    assert graph.layers["likes"].directed


def test_directions_may_be_stated():
    one_way = nx.DiGraph([("a", "b"), ("b", "c"), ("b", "a")])
    assert from_networkx(one_way).layers["edges"].num_edges == 3
    assert from_networkx(one_way, directed=False).layers["edges"] == EdgeLayer(3, [0, 1], [1, 2])
    both = from_networkx(nx.path_graph(2), directed=True).layers["edges"]
    assert both == EdgeLayer(2, [0, 1], [1, 0], directed=True)


def test_multigraphs_are_split_by_an_attribute():
    many = nx.MultiDiGraph()
    many.add_node("alone")
    many.add_edge("a", "b", kind=1)
    many.add_edge("a", "b", kind=2, weight=0.5)
    many.add_edge("a", "b", kind=2, weight=0.5)
    graph = from_networkx(many, layer="kind")
    assert list(graph.layers) == ["1", "2"]
    assert graph.layers["2"] == EdgeLayer(3, [1], [2], [1.0], directed=True)
    assert graph.layers["1"].holds_all_nodes


def test_the_way_out_carries_labels_weights_and_materialised_groups():
    layers = {"room": MembershipLayer(3, [0, 1, 0, 1], [0, 0, 1, 1]), "likes": EdgeLayer(3, [1], [0], directed=True)}
    graph = MultilayerGraph(layers, nodes=["a", "b", "c"], labels=["x", None, None])
    made = graph.to_networkx()
    assert made["room"].nodes(data=True)["a"] == {"label": "x"}
    assert "c" not in made["room"]
    assert made["room"].edges["a", "b"] == {"weight": 2.0}
    assert list(made["likes"].edges) == [("b", "a")]
    merged = graph.to_networkx(merged=True)
    assert isinstance(merged, nx.MultiDiGraph)
    assert sorted((u, v, d["layer"]) for u, v, d in merged.edges(data=True)) == [
        ("a", "b", "room"),
        ("b", "a", "likes"),
        ("b", "a", "room"),
    ]


def labelled(value):
    graph = nx.Graph()
    graph.add_node("a", label=value)
    return graph


def weighted(value):
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=value)
    return graph


@pytest.mark.parametrize(
    ("graphs", "options", "message"),
    [
        (5, {}, "must be networkx graphs by name or in a list, not 5"),
        ({"a": 5}, {}, "layer 'a' is not a networkx graph but 5"),
        ([nx.Graph(name="x"), nx.Graph(name="x")], {}, "two graphs have the name 'x'"),
        ({"a": nx.MultiGraph()}, {}, "layer 'a' is a multigraph"),
        (nx.MultiGraph([("a", "b")]), {}, "edge from 'a' to 'b' has no attribute 'layer'"),
        (weighted(-1), {}, "layer 'edges': the edge from 'a' to 'b' has the weight -1"),
        (weighted("x"), {}, "has the weight 'x'; weights must be positive"),
        ([labelled(1), labelled(2)], {"label": "label"}, "node 'a' has the label 1 in one graph"),
        (nx.path_graph(3), {"nodes": [0, 1]}, "there is no node 2"),
        (nx.path_graph(3), {"directed": {"x": True}}, "directed names the layer 'x'"),
    ],
)
def test_bad_input_is_quoted(graphs, options, message):
    with pytest.raises(DataError) as error:
        from_networkx(graphs, **options)
    assert message in str(error.value)


def test_without_networkx_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtraError, match=r'pip install "gramme\[networkx\]"'):
        MultilayerGraph({}).to_networkx()
