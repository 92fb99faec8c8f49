"""muxViz's extended edge lists."""

from typing import ClassVar

import pytest
from tests.io.cases import FormatCase

from gramme.errors import FileFormatError
from gramme.io import inspect, read


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
    assert report.notes == ("2 edges between the copies of a node dropped: they are implied",)
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
def test_errors_name_file_and_line(tmp_path, text, message):
    path = tmp_path / "net_extended.txt"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=message):
        read(path)
