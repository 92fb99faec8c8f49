"""GEXF, from files that networkx wrote as Gephi does."""

from typing import ClassVar

import pytest
from tests.io.cases import ReadCase

from gramme.errors import DataError, FileFormatError
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.io import inspect, read
from gramme.io.formats.graphml import write_gexf

networkx = pytest.importorskip("networkx")


def office():
    graph = networkx.MultiDiGraph()
    for number, (name, party) in enumerate([("Ann", "red"), ("Bo", "blue"), ("Cy", "NA")]):
        graph.add_node(number, label=name, party=party, age=30 + number)
    graph.add_edge(0, 1, weight=2.0, relation="advice")
    graph.add_edge(1, 2, weight=1.0, relation="advice")
    graph.add_edge(0, 2, weight=1.0, relation="friend")
    return graph


EXAMPLE = "\n".join(networkx.generate_gexf(office())).encode()


class TestGexf(ReadCase):
    format = "gexf"
    examples: ClassVar = [{"g.gexf": EXAMPLE}]
    words: ClassVar = [b"<edge", b"<!DOCTYPE x>", b"</graph>", b'type="undirected"', b"<attvalue"]


def test_nodes_relations_and_labels(tmp_path):
    networkx.write_gexf(office(), tmp_path / "g.gexf")
    graph, report = inspect(tmp_path / "g.gexf", label="party")
    assert graph.nodes.tolist() == ["Ann", "Bo", "Cy"]
    assert graph.labels.tolist() == ["red", "blue", None]
    assert list(graph.layers) == ["advice", "friend"]
    assert graph.layers["advice"].directed
    assert graph.layers["advice"].weight.tolist() == [2, 1]
    said = "\n".join(report.notes)
    assert "the edges' attribute 'relation' names the layers" in said
    assert "attributes of nodes not used: age" in said
    assert read(tmp_path / "g.gexf", features=["age"]).features[:, 0].tolist() == [30, 31, 32]
    assert list(read(tmp_path / "g.gexf", layers_from=["party"]).layers)[-1] == "party"
    with pytest.raises(FileFormatError, match="no node has the attribute 'pary'; did you mean 'party'"):
        read(tmp_path / "g.gexf", label="pary")


def test_labels_that_do_not_tell_nodes_apart_are_not_names(tmp_path):
    graph = networkx.Graph([(0, 1), (1, 2)])
    networkx.set_node_attributes(graph, "same", "label")
    networkx.write_gexf(graph, tmp_path / "g.gexf")
    found = read(tmp_path / "g.gexf")
    assert found.nodes.tolist() == ["0", "1", "2"]
    assert not found.layers["edges"].directed


def test_entities_are_refused(tmp_path):
    (tmp_path / "g.gexf").write_text('<!DOCTYPE x [<!ENTITY a "b">]><gexf/>')
    with pytest.raises(FileFormatError, match="document type"):
        read(tmp_path / "g.gexf")


def test_a_type_or_a_kind_of_edges_that_networkx_leaves_out(tmp_path):
    graph = networkx.MultiGraph()
    graph.add_edge("a", "b", type="advice")
    graph.add_edge("a", "b", type="friend")
    networkx.write_gexf(graph, tmp_path / "g.gexf")
    assert list(read(tmp_path / "g.gexf").layers) == ["advice", "friend"]
    written = (tmp_path / "g.gexf").read_text()
    kinds = written.replace('type="advice"', 'kind="advice" type="undirected"')
    (tmp_path / "g.gexf").write_text(kinds.replace('type="friend"', 'kind="friend"'))
    assert list(read(tmp_path / "g.gexf").layers) == ["advice", "friend"]


@pytest.mark.parametrize("directed", [False, True])
def test_a_graph_for_gephi_comes_back_with_its_layers_directions_and_classes(tmp_path, directed):
    layers = {
        "a&b": EdgeLayer(3, [0, 1], [1, 2], [2.5, 1.0], directed=directed),
        'say "hi"': EdgeLayer(3, [0, 1], [1, 2], directed=directed),
    }
    graph = MultilayerGraph(layers, nodes=["<Ann>", "Bö", "'"], labels=["x & y", None, "z"])
    ((path, text),) = write_gexf(graph, tmp_path / "g.gexf").items()
    path.write_text(text, encoding="utf-8")
    again = read(path, label="class")
    assert again.nodes.tolist() == graph.nodes.tolist()
    assert again.labels.tolist() == graph.labels.tolist()
    assert {name: layer.directed for name, layer in again.layers.items()} == dict.fromkeys(layers, directed)
    assert again.layers["a&b"].weight.tolist() == [2.5, 1.0]
    with pytest.raises(DataError, match="'gexf' cannot hold the character"):
        write_gexf(graph.replace(nodes=["a\x00", "b", "c"]), tmp_path / "h.gexf")
