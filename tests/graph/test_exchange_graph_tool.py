"""Graphs of graph-tool. It cannot be installed by pip, so a stand-in with the documented methods serves everywhere."""

import pytest

from gramme import DataError, MultilayerGraph


class Vertex(int):
    pass


class Edge:
    def __init__(self, source, target):
        self.ends = (Vertex(source), Vertex(target))

    def source(self):
        return self.ends[0]

    def target(self):
        return self.ends[1]


class Graph:
    """What the manual of graph-tool says about a Graph, as far as it is asked for."""

    def __init__(self, vertices, edges, directed=True, v=None, e=None):
        self._vertices = [Vertex(one) for one in vertices]
        self._edges = [Edge(*ends) for ends in edges]
        self._directed = directed
        self.vertex_properties = {
            name: dict(zip(self._vertices, values, strict=True))
            for name, values in (v or {}).items()
        }
        self.edge_properties = {
            name: dict(zip(self._edges, values, strict=True)) for name, values in (e or {}).items()
        }

    def vertices(self):
        return iter(self._vertices)

    def edges(self):
        return iter(self._edges)

    def is_directed(self):
        return self._directed


def school():
    return Graph(
        [0, 2, 5],  # a filtered view leaves gaps
        [(0, 2), (2, 5), (0, 5)],
        v={"name": ["Ann", "Bo", "Cy"], "team": ["red", "", "blue"]},
        e={"layer": ["advice", "advice", "friend"], "weight": [2.0, 1.0, 3.0]},
    )


def test_edges_say_their_layer():
    graph = MultilayerGraph.from_graph_tool(school(), label="team")
    assert graph.nodes.tolist() == ["Ann", "Bo", "Cy"]
    assert graph.labels.tolist() == ["red", None, "blue"]
    assert graph["advice"].num_edges == 2
    assert graph["advice"].directed
    assert graph["advice"].weight.tolist() == [2, 1]
    assert graph.neighbors("Ann") == ["Bo", "Cy"]


def test_a_graph_per_layer_and_numbers_as_names():
    ring = Graph(range(3), [(0, 1), (1, 2), (2, 0)], directed=False)
    graph = MultilayerGraph.from_graph_tool({"ring": ring, "none": Graph(range(3), [])})
    assert list(graph.layers) == ["ring", "none"]
    assert graph.nodes.tolist() == [0, 1, 2]
    assert not graph["ring"].directed


def test_what_is_no_graph_is_a_clear_error():
    with pytest.raises(DataError, match=r"a graph_tool.Graph is needed, not dict|not list"):
        MultilayerGraph.from_graph_tool([1, 2])


def test_the_real_library():
    gt = pytest.importorskip(
        "graph_tool", reason="graph-tool comes from conda or apt, not from pip"
    )
    graph = gt.Graph(directed=False)
    graph.add_edge_list([(0, 1), (1, 2)])
    made = MultilayerGraph.from_graph_tool(graph)
    assert made.num_nodes == 3
    assert made.num_edges == 2
