"""Files of labels: lists, rows, tables, and how they are told apart."""

import numpy as np
import pytest

from gramme.errors import FileFormatError
from gramme.io import inspect, read
from gramme.io.plain_table import read_table
from gramme.io.source import gathered


@pytest.fixture
def label(tmp_path):
    """Read a graph of the nodes a, b, c with the given text as its file of labels."""

    def read_with(text, name="labels.txt", edges="l a b\nl b c\n", **options):
        (tmp_path / "g.edges").write_text(edges)
        (tmp_path / name).write_text(text)
        return read(tmp_path / "g.edges", labels=tmp_path / name, **options)

    return read_with


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("x\ny\nx\n", ["x", "y", "x"]),
        ("x\ny\nx", ["x", "y", "x"]),
        ("x\r\n\r\nx\r\n\r\n", ["x", None, "x"]),
        ("c x\na y\n", ["y", None, "x"]),
        ("c\tx y\na\tz\n", ["z", None, "x y"]),
        ('c,"x, y"\na,z\nb,\n', ["z", None, "x, y"]),
        ("node,label\nb,x\n", [None, "x", None]),
        ("nodeID class\nb x\n", [None, "x", None]),
        ("id\tlabel\nb\tx y\n", [None, "x y", None]),
    ],
)
def test_the_forms(label, text, labels):
    assert label(text).labels.tolist() == labels


def test_two_words_per_line_must_be_told(label):
    text = "New York\nRome Italy\nOslo Norway\n"
    with pytest.raises(FileFormatError, match=r"line 1: 'New' is not a node.*labels_format='list'"):
        label(text)
    assert label(text, labels_format="list").labels.tolist() == ["New York", "Rome Italy", "Oslo Norway"]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("x\ny\n", {}, "there are 2 labels for 3 nodes"),
        ("x\n" * 5, {}, "there are 5 labels for 3 nodes"),
        (
            "a x\nd y\n",
            {},
            "line 2: a label for the node 'd', which is not in the graph; nodes are named 'a', 'b', 'c'",
        ),
        ("a x\na y\n", {}, "line 2: a second label for the node 'a'"),
        ("a x\nb y z\n", {}, "line 2: there are 3 fields.*labels_format"),
        ("a x\nb\n", {}, "line 1: there are 2 fields.*labels_format"),
        ("a x\nb\n", {"labels_format": "pairs"}, "line 2: a node and its label are needed here"),
        ("node,label\na,x\nd,y\n", {}, "line 3: the node 'd' is not in the graph"),
        ("node,label\na,x\na,y\n", {}, "line 3: 'a' is here for the second time"),
        (
            "node,group,age\na,x,1\nb,x,2\nc,y,3\n",
            {},
            "no column 'label'; say with label which column has the labels: node, group, age",
        ),
        ("", {}, "the file is empty"),
    ],
)
def test_errors_name_file_and_line(label, text, options, message):
    with pytest.raises(FileFormatError, match=message) as caught:
        label(text, **options)
    assert "labels.txt" in str(caught.value)


def test_a_table_that_names_all_nodes_may_add_some(label):
    graph = label("node,label\nc,x\nb,\na,y\nd,x\n", "l.csv")
    assert graph.nodes.tolist() == ["c", "b", "a", "d"]
    assert graph.labels.tolist() == ["x", None, "y", "x"]


def test_a_table_with_features(label):
    graph = label("node,label,age\nc,x,1\nb,,2\na,y,3\n", "l.csv")
    np.testing.assert_array_equal(graph.features, [[1], [2], [3]])
    with pytest.raises(FileFormatError, match="none for the node 'b'"):
        label("node,label,feature_1\nc,x,1\na,y,3\n", "l.csv")
    graph = label("node,label,age\nc,x,1\na,y,3\n", "l.csv")
    np.testing.assert_array_equal(graph.features, [[3], [2], [1]])  # b takes the median
    assert label("node,party,age\nc,x,1\na,y,3\n", "l.csv", label="party", features=[]).classes == ["x", "y"]


def test_a_list_finds_the_nodes_without_edges(label):
    graph = label("a\nb\nc\nd\n", edges="1 0 2\n")
    assert graph.nodes.tolist() == ["0", "1", "2", "3"]
    graph = label("a\nb\nc\nd\n", edges="1 1 3\n")  # this format counts from 1
    assert graph.nodes.tolist() == ["1", "2", "3", "4"]
    with pytest.raises(FileFormatError, match="there are 4 labels for 2 nodes"):
        label("a\nb\nc\nd\n", edges="1 1 9\n")


def test_a_list_that_could_count_from_0_or_1(tmp_path):
    (tmp_path / "g.csv").write_text("source,target\n1,3\n")
    (tmp_path / "l").write_text("a\nb\nc\nd\n")
    with pytest.raises(FileFormatError, match="give rows of a node and its label instead"):
        read(tmp_path / "g.csv", labels=tmp_path / "l")
    (tmp_path / "l").write_text("a\nb\nc\n")
    assert read(tmp_path / "g.csv", labels=tmp_path / "l").nodes.tolist() == ["1", "2", "3"]


def test_a_node_with_the_name_of_a_column(tmp_path):
    (tmp_path / "g.edges").write_text("l node b\n")
    (tmp_path / "l").write_text("node x\nb y\n")
    assert read(tmp_path / "g.edges", labels=tmp_path / "l").labels.tolist() == ["x", "y"]


def test_a_file_of_labels_for_other_nodes_is_told_as_a_whole(tmp_path):
    (tmp_path / "a.csv").write_text("source,target\nAnn,Bo\nBo,Cy\nCy,Di\n")
    (tmp_path / "other.csv").write_text("who,what\nx1,red\nx2,blue\n")
    with pytest.raises(FileFormatError, match=r"none of its 3 names is a node .*'Ann', 'Bo', 'Cy', \.\.\."):
        read(tmp_path / "a.csv", labels=tmp_path / "other.csv")
    (tmp_path / "other.csv").write_text("Ann,red\nQuentin,blue\n")
    with pytest.raises(FileFormatError, match=r"'Quentin', which is not .* named 'Ann', 'Bo', 'Cy', \.\.\.$"):
        read(tmp_path / "a.csv", labels=tmp_path / "other.csv")


def test_labels_for_a_graph_without_nodes(tmp_path):
    (tmp_path / "g.json").write_text('{"nodes": [], "links": []}')
    (tmp_path / "l.csv").write_text("id,label\na,x\n")
    with pytest.raises(FileFormatError, match="there is nothing to label, the graph has no nodes"):
        read(tmp_path / "g.json", labels=tmp_path / "l.csv")


@pytest.mark.parametrize(
    ("header", "options"), [("node,label", {}), ("node,file", {"label": "file"}), ("node,file", {"id": "node"})]
)
def test_a_header_is_one_even_where_a_node_is_called_node(tmp_path, header, options):
    (tmp_path / "e.csv").write_text("source,target\na,b\nb,node\n")
    (tmp_path / "l.csv").write_text(f"{header}\na,x\nb,\n")
    graph = read(tmp_path / "e.csv", labels=tmp_path / "l.csv", **options)
    assert list(graph.labels) == ["x", None, None]


@pytest.mark.parametrize(
    ("text", "said"), [("-1\n0\n1\n", True), ("-1\n1\n1\n", True), ("-1\nred\nblue\n", False), ("-1\n-1\n-1\n", False)]
)
def test_a_minus_one_among_numbers_is_asked_about(tmp_path, text, said):
    (tmp_path / "g.edges").write_text("l a b\nl b c\n")
    (tmp_path / "g.labels").write_text(text)
    graph, report = inspect(tmp_path / "g.edges", labels=tmp_path / "g.labels")
    assert graph.labels.tolist() == text.split()
    asked = "-1 is a class here, on 1 nodes; if it means 'not known', add missing=['-1']"
    assert (asked in report.doubts) == said
    known = read(tmp_path / "g.edges", labels=tmp_path / "g.labels", missing="-1", label_kind="class").labels
    assert "-1" not in known.tolist()


def test_a_minus_one_in_the_label_column_of_a_table_is_asked_about(tmp_path):
    (tmp_path / "t.csv").write_text("team,y\nred,-1\nblue,0\nred,1\n")
    with gathered() as notes:
        read_table(tmp_path / "t.csv", label="y", text=["y"])
    assert notes.doubts == ["-1 is a class here, on 1 nodes; if it means 'not known', add missing=['-1']"]


def test_classes_of_a_table_that_look_alike_are_said(tmp_path):
    (tmp_path / "t.csv").write_text("team,y\nred,caf\u00e9\nblue,cafe\u0301\nred,1b\nblue,1B\n", encoding="utf-8")
    with gathered() as notes:
        read_table(tmp_path / "t.csv", label="y", text=["y"])
    assert len(notes.doubts) == 1
    assert "and 1 more pair" in notes.doubts[0]
