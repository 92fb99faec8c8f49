"""Plain text, from files that R, igraph, networkx and numpy write."""

from typing import ClassVar

import numpy as np
import pytest
from tests.io.cases import ReadCase

from gramme.errors import FileFormatError
from gramme.io import inspect, read

R_TABLE = '"from" "to" "weight"\n"1" "Ann" "Bo Li" 2\n"2" "Bo Li" "Cy" 3\n"3" "Cy" "Ann" 1\n'


class TestText(ReadCase):
    format = "text"
    examples: ClassVar = [
        {"g.txt": R_TABLE.encode()},
        {"g.txt": b"# a comment\nego alter\n1 2\n2 3\n"},
        {"g.edgelist": b"0 1\n1 2\n"},
    ]
    words: ClassVar = [b"# x\n", b"from to\n", b"a b {'weight': 1}\n", b'"a b"', b"%\n"]


@pytest.fixture
def put(tmp_path):
    def write(text, name="g.txt"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_what_r_writes_without_settings(put):
    graph, report = inspect(put(R_TABLE))
    assert graph.nodes.tolist() == ["Ann", "Bo Li", "Cy"]
    assert graph.num_edges == 3
    assert (
        "g.txt: the first column has no name in the header; read as names of rows, not used"
        in report.notes
    )


def test_what_igraph_wrote(tmp_path):
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph.TupleList([("Ann", "Bo", 2.5), ("Bo", "Cy", 1.0)], weights=True)
    graph.write_ncol(str(tmp_path / "g.ncol"))
    found = read(tmp_path / "g.ncol")
    assert set(found.nodes) == {"Ann", "Bo", "Cy"}
    assert sorted(found.layers["edges"].weight) == [1, 2.5]
    graph.write_edgelist(str(tmp_path / "g.edgelist"))
    assert read(tmp_path / "g.edgelist").nodes.tolist() == ["0", "1", "2"]


def test_what_networkx_wrote(tmp_path):
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_edge("Ann", "Bo", weight=2.5)
    graph.add_edge("Bo", "Cy", weight=1.0, since=3)
    networkx.write_edgelist(graph, tmp_path / "g.edgelist")
    found = read(tmp_path / "g.edgelist").layers["edges"]
    assert found.weight.tolist() == [2.5, 1]
    networkx.write_edgelist(graph, tmp_path / "bare.edgelist", data=False)
    assert not read(tmp_path / "bare.edgelist").layers["edges"].weighted


def test_a_matrix_that_numpy_wrote(tmp_path):
    ties = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    np.savetxt(tmp_path / "ties.txt", ties, fmt="%d")
    for kind in (None, "matrix"):
        with pytest.warns(match="numbered from 1; symmetric"):
            graph = read(tmp_path / "ties.txt", format=kind)
        assert np.array_equal(graph.layers["edges"].to_scipy().toarray(), ties)


def test_the_stanford_collection_names_columns_in_a_comment(put):
    graph, report = inspect(put("# Nodes: 3\n# FromNodeId\tToNodeId\n0\t4\n4\t7\n"))
    assert graph.nodes.tolist() == ["0", "4", "7"]
    assert "g.txt: 1 line of comment left out (# or % at the start)" in report.notes


def test_without_a_header_it_is_said_how(put):
    with pytest.raises(FileFormatError, match="--no-header"):
        read(put("a b\nb c\n"))
    assert read(put("a b\nb c\n"), header=False).num_edges == 2
    assert read(put("1 2 0.5\n2 3 1\n"), header=False).layers["edges"].weighted


def test_in_a_folder_texts_count_only_among_themselves(tmp_path):
    (tmp_path / "advice.txt").write_text("from to\na b\n")
    (tmp_path / "README.txt").write_text("About these data.\n")
    assert list(read(tmp_path).layers) == ["advice"]
    (tmp_path / "friends.csv").write_text("from,to\na,c\n")
    assert list(read(tmp_path).layers) == ["friends"]


def test_old_line_ends(tmp_path):
    (tmp_path / "g.txt").write_bytes(b"from to\ra b\rb c\r")
    assert read(tmp_path / "g.txt").num_edges == 2
