"""Plain text, from files that R, igraph, networkx and numpy write."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from tests.io.cases import ReadCase

from gramme.errors import FileFormatError
from gramme.io import inspect, read, write

NAMES = ["Ann", "Bo", "Cy", "Di"]
ADVICE = pd.DataFrame([[0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1], [1, 0, 0, 0]], NAMES, NAMES)
FRIENDS = pd.DataFrame([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]], NAMES, NAMES)
EVENTS = pd.DataFrame([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 0]], NAMES, ["picnic", "choir", "chess"])


class TestMatrix(ReadCase):
    format = "matrix"
    examples: ClassVar = [
        {"g.matrix": ADVICE.to_csv().encode()},
        {"g.matrix": ADVICE.to_csv(sep=" ", header=False, index=False).encode()},
        {"g.matrix": EVENTS.to_csv(sep="\t").encode()},
    ]
    words: ClassVar = [b"0,1,0\n", b"Ann", b"1 0\n"]


def test_an_adjacency_that_pandas_wrote_is_found_by_its_shape(tmp_path):
    ADVICE.to_csv(tmp_path / "advice.csv")
    graph, report = inspect(tmp_path / "advice.csv")
    assert graph.nodes.tolist() == NAMES
    layer = graph.layers["edges"]
    assert layer.directed
    assert np.array_equal(layer.to_scipy().toarray(), ADVICE.to_numpy())
    assert report.notes == ("advice.csv: read as a matrix of ties, 4 x 4, with names; not symmetric, so directed",)
    FRIENDS.to_csv(tmp_path / "friends.csv", sep=";")
    friends = read(tmp_path / "friends.csv").layers["edges"]
    assert not friends.directed
    assert not friends.weighted
    assert friends.num_edges == 3


def test_columns_in_another_order_are_put_in_place(tmp_path):
    ADVICE[["Cy", "Ann", "Di", "Bo"]].to_csv(tmp_path / "a.tsv", sep="\t")
    layer = read(tmp_path / "a.tsv").layers["edges"]
    assert np.array_equal(layer.to_scipy().toarray(), ADVICE.to_numpy())


def test_the_corner_that_r_leaves_out(tmp_path):
    lines = ADVICE.to_csv(sep=" ").split("\n")
    (tmp_path / "a.matrix").write_text("\n".join([lines[0].strip(), *lines[1:]]))
    assert read(tmp_path / "a.matrix").nodes.tolist() == NAMES


def test_a_square_without_names(tmp_path):
    FRIENDS.to_csv(tmp_path / "f.csv", header=False, index=False)
    with pytest.warns(match="without names, so the nodes are numbered from 1"):
        graph = read(tmp_path / "f.csv")
    assert graph.nodes.tolist() == ["1", "2", "3", "4"]
    assert graph.num_edges == 3


def test_an_incidence_is_a_membership_layer(tmp_path):
    EVENTS.to_csv(tmp_path / "events.csv")
    graph, report = inspect(tmp_path / "events.csv")
    layer = graph.layers["events"]
    assert list(layer.group_names) == ["picnic", "chess", "choir"]
    assert layer.num_memberships == 6
    assert layer.holds_all_nodes
    assert "add --table" in report.doubts[0]
    (EVENTS * 3).to_csv(tmp_path / "often.csv")
    with pytest.raises(FileFormatError, match="header must name"):
        read(tmp_path / "often.csv")  # a table of numbers, unless one insists
    assert read(tmp_path / "often.csv", format="matrix").layers["often"].weighted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,x\n", "this is not a matrix"),
        (",a,b\na,0,-1\nb,1,0\n", "line 2: '-1' is not allowed here"),
        (",a,a\na,0,1\nb,1,0\n", "this is not a matrix"),
    ],
)
def test_what_is_no_matrix(tmp_path, text, message):
    (tmp_path / "m.csv").write_text(text)
    with pytest.raises(FileFormatError, match=message):
        read(tmp_path / "m.csv", format="matrix")


def test_it_is_only_read(tmp_path):
    FRIENDS.to_csv(tmp_path / "f.csv")
    with pytest.raises(ValueError, match="'matrix' is only read; formats to write: authors"):
        write(read(tmp_path / "f.csv"), tmp_path / "f.matrix")


R_TABLE = '"from" "to" "weight"\n"1" "Ann" "Bo Li" 2\n"2" "Bo Li" "Cy" 3\n"3" "Cy" "Ann" 1\n'


class TestText(ReadCase):
    format = "text"
    examples: ClassVar = [
        {"g.txt": R_TABLE.encode()},
        {"g.txt": b"# a comment\nego alter\n1 2\n2 3\n"},
        {"g.edgelist": b"0 1\n1 2\n"},
        {"g.mtx": b"%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 1\n2 3 4.5\n"},
    ]
    words: ClassVar = [b"# x\n", b"from to\n", b"a b {'weight': 1}\n", b'"a b"', b"%\n", b"3 3 1\n"]


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
    assert "g.txt: the first column has no name in the header; read as names of rows, not used" in report.notes


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
        read(put("a b\nc d\n"))
    assert read(put("a b\nc d\n"), header=False).num_edges == 2
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


def test_comments_without_a_blank_as_networkx_writes_them(tmp_path):
    (tmp_path / "g.txt").write_text("#/home/me/script.py\n# GMT Mon\n# Karate\na b\nb c\nc a\n")
    graph, report = inspect(tmp_path / "g.txt")
    assert graph.nodes.tolist() == ["a", "b", "c"]
    assert "g.txt: 3 lines of comment left out (# or % at the start)" in report.notes


def test_attributes_that_networkx_writes_behind_edges_are_told(tmp_path):
    (tmp_path / "g.edgelist").write_text("a b {'weight': 2.0, 'kind': 'talk'}\nb c {'weight': 1.0}\n")
    graph, report = inspect(tmp_path / "g.edgelist")
    assert graph.layers["edges"].weight.tolist() == [2.0, 1.0]
    assert "g.edgelist: attributes of edges not used: kind" in report.doubts


MARKET = "%%MatrixMarket matrix coordinate real {}\n% by scipy\n4 4 2\n2 1 4\n3 2 1.5\n"


@pytest.mark.parametrize(("kind", "directed"), [("symmetric", False), ("general", True)])
@pytest.mark.parametrize("name", ["net.mtx", "net.txt"])
def test_the_size_of_a_matrix_market_file_is_no_edge(tmp_path, name, kind, directed):
    (tmp_path / name).write_text(MARKET.format(kind))
    graph = read(tmp_path / name)
    assert (graph.num_nodes, graph.layers["edges"].num_edges, graph.layers["edges"].directed) == (4, 2, directed)
    assert sorted(graph.layers["edges"].weight) == [1.5, 4]


@pytest.mark.parametrize(
    ("old", "new"),
    [("4 4 2", "4 5 2"), ("4 4 2", "4 4 3"), ("coordinate", "array"), ("3 2 1.5", "3 9 1"), ("4 4 2", "4 4")],
)
def test_other_matrix_market_files_are_refused(tmp_path, old, new):
    (tmp_path / "net.mtx").write_text(MARKET.format("general").replace(old, new))
    with pytest.raises(FileFormatError):
        read(tmp_path / "net.mtx")
