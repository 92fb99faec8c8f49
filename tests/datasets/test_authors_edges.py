import pytest

from gramme.datasets.authors_edges import read_edge_layers
from gramme.errors import FileFormatError


def test_both_directions_and_self_loops_become_one_edge(tmp_path):
    path = tmp_path / "x.multilayer.edges"
    path.write_text("0 0 1\n0 1 0\n0 0 0\n1 1 2\n1 2 1\n")
    layers = read_edge_layers(path, ["first", "second"], 3)
    assert [layer.num_edges for layer in layers.values()] == [1, 1]
    assert layers["first"].self_loops_dropped == 1
    assert layers["second"].source.tolist() == [1]


def test_a_node_beyond_the_last_names_its_line(tmp_path):
    path = tmp_path / "x.multilayer.edges"
    path.write_text("0 0 1\n0 0 3\n")
    with pytest.raises(FileFormatError, match="line 2"):
        read_edge_layers(path, ["only"], 3)
