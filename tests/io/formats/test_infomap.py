"""Infomap's multilayer networks."""

from typing import ClassVar

import pytest
from tests.io.cases import FormatCase

from gramme.errors import FileFormatError
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.io import inspect, read


class TestInfomap(FormatCase):
    format = "infomap"
    labelled = False
    holds: ClassVar = {"directed": False, "presence": False, "labels": False, "features": False}
    words: ClassVar = [b"*Vertices", b"*Intra", b"*Inter", b"*Multilayer", b"#"]
    examples: ClassVar = [
        {"g.infomap": b'*Vertices 3\n1 "a"\n2 "b"\n3 "c"\n*Intra\n1 1 2 1\n2 2 3 0.5\n*Inter\n1 2 2 1\n'},
        {"g.infomap": b"*Multilayer\n1 1 1 2\n1 1 2 3 4\n"},
    ]

    def expected(self, graph):
        layers = {str(place): graph.layers[name] for place, name in enumerate(["chat", "lunch"], 1)}
        return MultilayerGraph(layers, nodes=graph.nodes)

    def check_loss(self, graph, lost):
        for message in lost:
            known = ("names of layers", "without edges", "weights are 1", "which nodes")
            assert any(part in message for part in known), message

    def awkward_losses(self, graph, lost):
        return lost


def test_links_between_layers_are_couplings(tmp_path):
    path = tmp_path / "net_multilayer.net"
    path.write_text(
        '# comment\n*Vertices 4\n1 "a"\n2 "b"\n3 "x"\n4 "y z"\n*Intra\n1 1 2\n2 3 4\n'
        "*Multilayer\n1 1 2 3 2.5\n1 1 2 1\n*Inter\n1 1 2 1\n"
    )
    graph, report = inspect(path)
    assert graph.nodes.tolist() == ["a", "b", "x", "y z"]
    assert graph.couplings["1", "2"].weight.tolist() == [2.5]
    assert graph.layers["1"] == EdgeLayer(4, [0], [1], nodes=[0, 1])
    assert report.notes == (f"{path.name}: 2 edges between the copies of a node dropped: they are implied",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("*Vertexes 3\n", "line 1: unknown section '\\*vertexes'; did you mean"),
        ("*Intra\n1 2\n", "line 2: a row of \\*intra must be"),
        ("*Vertices 1\n1 a\n*Intra\n1 1 2\n", "line 4: the node '2' is not among the vertices"),
        ("*Vertices 2\n1 a\n1 b\n", "line 3: a vertex needs a number of its own"),
        ("*Intra\n1 1 2 x\n", "line 2: the weight 'x'"),
    ],
)
def test_errors_name_file_and_line(tmp_path, text, message):
    path = tmp_path / "net.infomap"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=message):
        read(path)
