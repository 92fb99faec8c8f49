"""Pajek networks with several relations."""

import time
from typing import ClassVar

import pytest
from tests.io.cases import FormatCase

from gramme.errors import FileFormatError, GrammeWarning
from gramme.io import inspect, read

FULL = b"""%  a comment
*Network school
*Vertices 4
1 "Ann B" 0.1 0.2 0.5 ic Red
2 Bo
4 "Di"
*Arcs :1 "likes"
1 2 2 c Blue
2 1 1
*Edges :2 "knows"
1 2
3 4 0.5
*Arcslist :1
1 3 4
*Edgeslist :3
4 1 2
*Edges :4 "empty"
"""


class TestPajek(FormatCase):
    format = "pajek"
    holds: ClassVar = {"presence": False, "features": False, "labels": False}
    examples: ClassVar = [{"g.net": FULL}, {"g.net": b"*Vertices 2\n*Edges\n1: 1 2\n2: 2 1 3\n"}]
    words: ClassVar = [b"*Vertices 99999999999", b"*Vertices 5", b"*Arcs", b"*Edges :2", b"*Edgeslist", b'"']

    def expected(self, graph):
        return graph.replace(features=None)

    def awkward_losses(self, graph, lost):
        return [message for message in lost if "labels that are not whole numbers" in message]


def put(folder, text, name="g.net"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_relations_are_layers(tmp_path):
    graph, report = inspect(put(tmp_path, FULL))
    assert graph.nodes.tolist() == ["Ann B", "Bo", "3", "Di"]
    assert list(graph.layers) == ["likes", "knows", "3", "empty"]
    assert [layer.directed for layer in graph.layers.values()] == [True, False, False, False]
    assert [layer.num_edges for layer in graph.layers.values()] == [4, 2, 2, 0]
    assert graph.layers["likes"].weight.tolist() == [2, 1, 1, 1]
    assert graph.layers["knows"].weight.tolist() == [1, 0.5]
    assert not graph.layers["3"].weighted
    assert "as the file says" in report.direction


def test_lines_may_name_their_relation(tmp_path):
    graph = read(put(tmp_path, "*Vertices 3\n*Arcs\n1: 1 2\n2: 2 3\n1: 3 1\n"))
    assert [(name, layer.num_edges) for name, layer in graph.layers.items()] == [("1", 2), ("2", 1)]


def test_edges_among_arcs_go_both_ways(tmp_path):
    graph = read(put(tmp_path, "*Vertices 3\n*Arcs\n1 2\n*Edges\n2 3\n"))
    layer = graph.layers["edges"]
    assert layer.directed
    assert list(zip(layer.source.tolist(), layer.target.tolist(), strict=True)) == [(0, 1), (1, 2), (2, 1)]


def test_a_partition_beside_holds_the_labels(tmp_path):
    path = put(tmp_path, "*Vertices 3\n*Edges\n1 2\n")
    put(tmp_path, "*Vertices 3\n2\n9999998\n5\n", "g.clu")
    assert read(path).labels.tolist() == ["2", None, "5"]
    put(tmp_path, "*Vertices 3\n2\n", "g.clu")
    with pytest.raises(FileFormatError, match=r"clu: there are 1 classes for 3"):
        read(path)
    put(tmp_path, "*Vertices 3\n2\nx\n3\n", "g.clu")
    with pytest.raises(FileFormatError, match=r"clu, line 3: 'x' is not a class number"):
        read(path)


def test_labels_that_repeat_leave_the_numbers(tmp_path):
    with pytest.warns(GrammeWarning, match="do not tell the vertices apart"):
        assert read(put(tmp_path, '*Vertices 2\n1 "a"\n2 "a"\n')).nodes.tolist() == ["1", "2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("*Vertices 99999999999\n1 a\n", "line 1: 99999999999 vertices are declared, but a file of 26 bytes"),
        ("*Vertices " + "9" * 30 + "\n", "line 1: .Vertices needs their number"),
        ("1 2\n", "line 1: the first line must be"),
        ("*Arcs\n1 2\n", "line 1: .Vertices and their number must come first"),
        ("*Vertices 2\n*Matrix\n0 1\n1 0\n", r"line 2: the section '\*Matrix' cannot be read"),
        ("*Vertices 2\n*Edges\n1 3\n", "line 3: '3' is not a vertex; they are numbered from 1 to 2"),
        ("*Vertices 2\n*Edges\n1 2 x\n", "line 3: the weight 'x' is not a number"),
        ("*Vertices 2\n*Edges\n1 2 -1\n", "line 3: the weight is '-1'"),
        ("*Vertices 2\n1 a\n1 b\n", "line 3: the vertex 1 is here for the second time"),
        ('*Vertices 2\n*Edges :1 "a"\n*Edges :2 "a"\n', "line 3: a second relation has the name 'a'"),
        ("% nothing\n", "no line .Vertices"),
    ],
)
def test_errors_name_file_and_line(tmp_path, text, message):
    start = time.process_time()
    with pytest.raises(FileFormatError, match=message):
        read(put(tmp_path, text))
    assert time.process_time() - start < 2


def test_a_network_of_two_modes_is_told(tmp_path):
    (tmp_path / "g.net").write_text("*Vertices 3 2\n1 Ann\n2 Bo\n3 chess\n*Edges\n1 3\n2 3\n")
    graph, report = inspect(tmp_path / "g.net")
    assert graph.num_nodes == 3
    assert "of two modes" in report.doubts[0]
