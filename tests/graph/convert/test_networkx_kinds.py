"""One networkx graph with nodes of several kinds."""

import pytest

from gramme.errors import DataError, LossyFormatWarning
from gramme.graph import EdgeLayer, MultilayerGraph

nx = pytest.importorskip("networkx")


def library():
    graph = nx.Graph()
    graph.add_nodes_from(["p1", "p2", "p3"], kind="paper")
    graph.nodes["p1"]["topic"] = "x"
    graph.add_nodes_from(["Ann", "Bo"], kind="author", topic="not a paper's")
    graph.add_edges_from([("Ann", "p1"), ("p2", "Ann"), ("p3", "Bo")])
    graph.add_edge("p1", "p3")
    return graph


def test_an_attribute_tells_the_kind():
    graph = MultilayerGraph.from_networkx(library(), kind="kind", target="paper", label="topic")
    assert graph.nodes.tolist() == ["p1", "p2", "p3"]
    assert list(graph.layers) == ["paper", "author"]
    assert graph.layers["paper"] == EdgeLayer(3, [0], [2])
    assert list(graph.layers["author"].group_names) == ["Ann", "Bo"]
    assert list(graph.labels) == ["x", None, None]
    weighted = library()
    weighted.edges["Ann", "p1"]["weight"] = 3
    again = MultilayerGraph.from_networkx(weighted, kind="kind", target="paper")
    assert again.layers["author"].weight.tolist() == [3, 1, 1]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"kind": "kind"}, "say which kind is to be labelled with target"),
        ({"kind": "type", "target": "paper"}, "the node 'p1' has no attribute 'type'"),
        ({"kind": "kind", "target": "venue"}, "no relation has the target kind 'venue'"),
    ],
)
def test_bad_input_is_named(options, problem):
    with pytest.raises(DataError, match=problem):
        MultilayerGraph.from_networkx(library(), **options)
    with pytest.raises(DataError, match="give one networkx graph"):
        MultilayerGraph.from_networkx([], kind="kind", target="paper")


def test_couplings_are_not_lost_without_a_word():
    layers = {"a": EdgeLayer(2, [], []), "b": EdgeLayer(2, [], [])}
    graph = MultilayerGraph(layers, couplings={("a", "b"): ([0], [1])})
    with pytest.warns(LossyFormatWarning, match="cannot hold couplings"):
        graph.to_networkx()
