"""Graphs of igraph, by layer or with an attribute."""

import pytest

from gramme.errors import DataError
from gramme.graph import MultilayerGraph

igraph = pytest.importorskip("igraph")


def school():
    graph = igraph.Graph([(0, 1), (1, 2), (0, 2)], directed=True)
    graph.vs["name"] = ["Ann", "Bo", "Cy"]
    graph.vs["team"] = ["red", None, "blue"]
    graph.es["layer"] = ["advice", "advice", "friend"]
    graph.es["weight"] = [2.0, 1.0, 3.0]
    return graph


def test_edges_say_their_layer():
    graph = MultilayerGraph.from_igraph(school(), label="team")
    assert graph.nodes.tolist() == ["Ann", "Bo", "Cy"]
    assert graph.labels.tolist() == ["red", None, "blue"]
    assert {name: layer.num_edges for name, layer in graph.layers.items()} == {"advice": 2, "friend": 1}
    assert graph.layers["advice"].directed
    assert graph.layers["advice"].weight.tolist() == [2, 1]
    assert not MultilayerGraph.from_igraph(school(), weight=None).layers["friend"].weighted


def test_a_graph_per_layer():
    ring = igraph.Graph.Ring(4)
    ring.vs["name"] = ["Ann", "Bo", "Cy", "Di"]
    graph = MultilayerGraph.from_igraph({"ring": ring, "none": igraph.Graph(2), "school": school()})
    assert list(graph.layers) == ["ring", "none", "school"]
    assert graph.nodes.tolist() == ["Ann", "Bo", "Cy", "Di", 0, 1]
    assert not graph.layers["ring"].directed
    assert graph.layers["school"].directed
    assert graph.layers["none"].num_edges == 0
    assert graph.layers["school"].present.tolist() == [True, True, True, False, False, False]


@pytest.mark.parametrize(
    ("graphs", "options", "message"),
    [
        ("x", {}, "an igraph.Graph is needed, not str"),
        (school(), {"label": "tema"}, "no vertex has the attribute 'tema'; did you mean 'team'"),
    ],
)
def test_mistakes(graphs, options, message):
    with pytest.raises(DataError, match=message):
        MultilayerGraph.from_igraph(graphs, **options)


def test_attributes_of_edges_become_features():
    ring = igraph.Graph.Ring(3)
    ring.es["minutes"] = [1.0, 2.0, 3.0]
    line = igraph.Graph([(0, 1)])
    graph = MultilayerGraph.from_igraph({"ring": ring, "line": line}, edge_features=["minutes"])
    assert graph.layers["ring"].features.tolist() == [[1.0], [3.0], [2.0]]  # edges 0-1, 0-2, 1-2
    assert graph.layers["line"].features.tolist() == [[2.0]]  # unknown: the mean
    assert not graph.layers["ring"].weighted
