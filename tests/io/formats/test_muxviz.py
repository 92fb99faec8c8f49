"""muxViz's configurations of edge-coloured networks."""

from typing import ClassVar

import pytest
from tests.io.cases import FormatCase

from gramme.errors import FileFormatError
from gramme.io import inspect, read


class TestMuxviz(FormatCase):
    format = "muxviz"
    holds: ClassVar = {"directed": False, "presence": False}
    words: ClassVar = [b"g_1.edges;a;g_layout.txt", b";", b"nodeID nodeLabel"]
    examples: ClassVar = [{"g.muxviz": b"a.edges;a;\nb.edges;b", "a.edges": b"1 2\n", "b.edges": b"1 3 2\n"}]

    def check_refusal(self, graph, error):
        assert "cannot hold" in str(error) or not graph.layers


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.txt").write_text("1 2\n2 3\n")
    (tmp_path / "b.txt").write_text("3 1 2.5\n")
    (tmp_path / "layout.txt").write_text("nodeID nodeLabel nodeLong\n1 Ann 0.5\n2 Bo 1\n3 Cy 2\n4 Di 3\n")
    return tmp_path


def test_layers_and_layout(folder):
    path = folder / "net_config.txt"
    path.write_text("a.txt;friends;layout.txt\nb.txt;work;layout.txt\n")
    graph = read(path)
    assert list(graph.layers) == ["friends", "work"]
    assert graph.nodes.tolist() == ["Ann", "Bo", "Cy", "Di"]
    assert graph.layers["work"].weight.tolist() == [2.5]
    assert not graph.layers["friends"].weighted


def test_without_layout_and_labels(folder):
    path = folder / "net.muxviz"
    path.write_text("a.txt;\nb.txt;\n")
    graph = read(path)
    assert list(graph.layers) == ["1", "2"]
    assert graph.nodes.tolist() == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("a.txt;x;layout.txt\nmissing.txt;y;layout.txt\n", "line 2: there is no file"),
        ("a.txt\n", "line 1: a line must be 'path;label;layout'"),
        ("a.txt;x;\nb.txt;x;\n", "line 2: the layer 'x' is here for the second time"),
        ("a.txt;x;layout.txt\nb.txt;y;a.txt\n", "line 2: the layers must share one layout"),
        ("bad.txt;x;\n", "bad.txt, line 2: there are"),
    ],
)
def test_errors_name_file_and_line(folder, config, message):
    (folder / "bad.txt").write_text("1 2\n1 2 3 4\n")
    (folder / "net.muxviz").write_text(config)
    with pytest.raises(FileFormatError, match=message):
        read(folder / "net.muxviz")


def test_a_file_is_the_edges_of_one_layer(tmp_path):
    """Else a short configuration would unfold to any size."""
    (tmp_path / "e.edges").write_text("1 2\n2 3\n")
    config = tmp_path / "c.txt"
    config.write_text("".join(f"e.edges;layer {number}\n" for number in range(3_000)))
    with pytest.raises(FileFormatError, match=r"line 2: 'e.edges' has the edges of .*'layer 0'"):
        read(config, format="muxviz")


class TestMuxvizExtended(FormatCase):
    format = "muxviz-extended"
    holds: ClassVar = {"directed": False, "presence": False}
    words: ClassVar = [b"g_edges.txt;g_layers.txt;g_layout.txt", b"layerID layerLabel"]
    examples: ClassVar = [{"g.muxviz-extended": b"1 1 2 1 1\n1 1 1 2 1\n2 2 3 2 0.5\n"}]


def test_edges_between_layers_are_couplings(tmp_path):
    path = tmp_path / "net_extended.edges"
    path.write_text("1 1 2 1 1\n3 2 4 2 1\n1 1 3 2 5\n4 2 2 1 2\n")
    graph = read(path)
    assert graph.couplings["1", "2"].weight.tolist() == [5.0, 2.0]
    assert graph.layers["1"].present.tolist() == [True, True, False, False]


def test_edges_between_copies_are_implied(tmp_path):
    path = tmp_path / "net_extended.edges"
    path.write_text("1 1 2 1 1\n1 1 1 2 1\n2 1 2 2 1\n3 2 2 2 4\n")
    graph, report = inspect(path)
    assert list(graph.layers) == ["1", "2"]
    assert [layer.num_edges for layer in graph.layers.values()] == [1, 1]
    assert graph.layers["2"].weight.tolist() == [4.0]
    assert report.notes == (f"{path.name}: 2 edges between the copies of a node dropped: they are implied",)
    assert report.rows == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1 2\n", "line 1: a row must be 'node layer node layer"),
        ("1 1 2 1 x\n", "line 1: the weight 'x'"),
        ("a;b;c\nd;e;f\n", "line 2: a configuration of an extended"),
        ("a;b;c\n", "line 1: there is no file"),
    ],
)
def test_muxviz_extended_errors_name_file_and_line(tmp_path, text, message):
    path = tmp_path / "net_extended.txt"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=message):
        read(path)
