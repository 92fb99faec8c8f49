"""GML, from files that networkx and igraph wrote."""

from typing import ClassVar

import pytest
from tests.io.cases import ReadCase

from gramme.errors import FileFormatError
from gramme.io import read

networkx = pytest.importorskip("networkx")


def club():
    graph = networkx.Graph()
    graph.add_node("Ann", party="red")
    graph.add_node("Bo Li", party="blue")
    graph.add_node("Zoë", party="NA")
    graph.add_edge("Ann", "Bo Li", weight=2)
    graph.add_edge("Bo Li", "Zoë", weight=3)
    return graph


class TestGml(ReadCase):
    format = "gml"
    examples: ClassVar = [{"g.gml": "\n".join(networkx.generate_gml(club())).encode()}]
    words: ClassVar = [b"node [", b"edge [", b"]", b"directed 1", b"source 0", b"[" * 60]


def test_what_networkx_wrote(tmp_path):
    networkx.write_gml(club(), tmp_path / "g.gml")
    graph = read(tmp_path / "g.gml", label="party")
    assert graph.nodes.tolist() == ["Ann", "Bo Li", "Zoë"]
    assert graph.labels.tolist() == ["red", "blue", None]
    assert graph.layers["edges"].weight.tolist() == [2, 3]


def test_what_igraph_wrote(tmp_path):
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph([(0, 1), (1, 2)], directed=True)
    graph.vs["label"] = ["a", "b", "c"]
    graph.es["relation"] = ["x", "y"]
    graph.write_gml(str(tmp_path / "g.gml"))
    found = read(tmp_path / "g.gml")
    assert found.nodes.tolist() == ["a", "b", "c"]
    assert list(found.layers) == ["x", "y"]
    assert found.layers["x"].directed


@pytest.mark.parametrize(
    ("text", "message"), [("graph [" * 60, "nested too deeply"), ("graph [ node [ ] ]", "no GML"), ("x", "no GML")]
)
def test_damage_is_said(tmp_path, text, message):
    (tmp_path / "g.gml").write_text(text)
    with pytest.raises(FileFormatError, match=message):
        read(tmp_path / "g.gml")


def test_igraph_calls_its_nodes_by_name(tmp_path):
    igraph = pytest.importorskip("igraph")
    igraph.Graph.TupleList([("Ann", "Bo"), ("Bo", "Cy")]).write_gml(str(tmp_path / "g.gml"))
    assert sorted(read(tmp_path / "g.gml").nodes) == ["Ann", "Bo", "Cy"]
