"""Edges and all else as tables, separated by commas or tabs."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from tests.io.cases import FormatCase, sample_graph

from gramme.errors import FileFormatError, GrammeWarning
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.io import inspect, read, write

EXPORT = (
    '"_id","_labels","name","team","age","_start","_end","_type"\n'
    '"7",":Person","Ann","red","31",,,\n"8",":Person","Bo","blue","40",,,\n"9",":Person","Cy","",,,,\n'
    ',,,,,"7","8","KNOWS"\n,,,,,"8","9","KNOWS"\n,,,,,"7","9","HELPS"\n'
)


@pytest.fixture
def path(tmp_path):
    (tmp_path / "all.csv").write_text(EXPORT)
    return tmp_path / "all.csv"


def test_nodes_and_relations_of_one_table(path):
    graph = read(path, label="team")
    assert graph.nodes.tolist() == ["Ann", "Bo", "Cy"]
    assert {name: layer.num_edges for name, layer in graph.layers.items()} == {"KNOWS": 2, "HELPS": 1}
    assert graph.labels.tolist() == ["red", "blue", None]
    assert read(path, features=["age"]).features.shape == (3, 1)


def test_a_table_of_people_beside_it(path):
    pd.DataFrame({"who": ["Ann", "Bo", "Cy"], "Role": ["x", "y", "y"]}).to_csv(
        path.with_name("people.csv"), index=False
    )
    graph = read(path, labels=path.with_name("people.csv"), label="Role")
    assert graph.labels.tolist() == ["x", "y", "y"]


@pytest.mark.parametrize(
    ("row", "message"),
    [(",,,,,7,,KNOWS\n", "both _start and _end"), ("7,,,,,,,\n", "a second node '7'"), ("1,2\n", "there are 2 cells")],
)
def test_odd_rows_are_named(path, row, message):
    path.write_text(EXPORT + row)
    with pytest.raises(FileFormatError, match=f"line 8: .*{message}"):
        read(path)


WORDS = [b"layer,source,target", b"node,label", b"groups", b"listed", b"members", b"yes", b"NA"]


class TestCsv(FormatCase):
    format = "csv"
    words: ClassVar = WORDS
    examples: ClassVar = [
        {"g.csv": b"layer,source,target,weight\n1,1,2,0.5\n1,2,3,2\n"},
        {
            "g.csv": b"layer,source,target\na,x,y\n",
            "g.groups.csv": b"layer,node,group,weight\nb,x,g,2\nb,y,g,0.5\n",
            "g.layers.csv": b"layer,kind,directed,nodes\na,edges,yes,listed\nb,groups,no,all\n",
            "g.presence.csv": b"layer,node\na,x\na,y\n",
        },
    ]


class TestTsv(FormatCase):
    format = "tsv"
    words: ClassVar = [word.replace(b",", b"\t") for word in WORDS]
    examples: ClassVar = [{"g.tsv": b"source\ttarget\nx\ty\n"}]


def test_text_and_plain_numbers_read_the_same(tmp_path):
    rows = "1,10,9,2\n2,9,10,0.25\n1,3,9,1e2\n"
    (tmp_path / "fast.csv").write_text("layer,source,target,weight\n" + rows)
    quoted = rows.replace("1,10", '1,"10"')
    (tmp_path / "slow.csv").write_text("layer,source,target,weight\n" + quoted)
    fast, slow = read(tmp_path / "fast.csv"), read(tmp_path / "slow.csv")
    assert fast == slow
    assert fast.nodes.tolist() == ["3", "9", "10"]
    (tmp_path / "moved.csv").write_text("weight,target,source,layer\n2,9,10,1\n0.25,10,9,2\n1e2,9,3,1\n")
    assert read(tmp_path / "moved.csv") == fast


def test_words_that_other_readers_take_for_missing(tmp_path):
    (tmp_path / "g.csv").write_text("layer,source,target\nNA,nan,None\nNA,null,N/A\n")
    graph = read(tmp_path / "g.csv")
    assert graph.nodes.tolist() == ["nan", "None", "null", "N/A"]
    assert list(graph.layers) == ["NA"]


def test_without_a_layer_column_there_is_one_layer(tmp_path):
    (tmp_path / "g.csv").write_text("source,target\na,b\n")
    assert list(read(tmp_path / "g.csv").layers) == ["edges"]
    (tmp_path / "g.csv").write_text("source,target\n1,2\n")
    assert list(read(tmp_path / "g.csv").layers) == ["edges"]


def test_the_table_of_nodes_lists_all(tmp_path):
    (tmp_path / "g.csv").write_text("layer,source,target\nl,a,b\n")
    (tmp_path / "g.nodes.csv").write_text("node,label,x,y\nb,1,0,2\nlone,,3,4\na,2,5,6\n")
    graph = read(tmp_path / "g.csv")
    assert graph.nodes.tolist() == ["b", "lone", "a"]
    assert graph.labels.tolist() == ["1", None, "2"]
    np.testing.assert_array_equal(graph.features, [[0, 2], [3, 4], [5, 6]])
    assert read(tmp_path / "g.csv", features=["y"], label="x").features.tolist() == [[2], [4], [6]]
    (tmp_path / "g.csv").write_text("layer,source,target\nl,a,c\n")
    with pytest.raises(FileFormatError, match=r"line 2: the node 'c' is not in .*nodes.csv"):
        read(tmp_path / "g.csv")


def test_a_table_of_nodes_from_elsewhere(tmp_path):
    (tmp_path / "g.csv").write_text("layer,source,target\nl,a,b\n")
    (tmp_path / "people.tsv").write_text("id\tlabel\na\tx\nb\ty\nc\tx\n")
    graph = read(tmp_path / "g.csv", nodes=tmp_path / "people.tsv")
    assert graph.nodes.tolist() == ["a", "b", "c"]
    assert graph.classes == ["x", "y"]


def test_groups_and_presence(tmp_path):
    graph = MultilayerGraph(
        {
            "room": MembershipLayer(4, [0, 1, 1], [0, 0, 1], ["big, hall", "b"]),
            "all": MembershipLayer.from_codes([0, 0, -1, -1], ["g"], nodes=np.ones(4, dtype=bool)),
            "some": EdgeLayer(4, [0], [1], directed=True, nodes=[0, 1, 3]),
        },
        nodes=list("abcd"),
    )
    write(graph, tmp_path / "g.csv")
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "g.csv",
        "g.groups.csv",
        "g.layers.csv",
        "g.nodes.csv",
        "g.presence.csv",
    ]
    assert read(tmp_path / "g.csv") == graph


def test_companions_of_an_older_graph_are_removed(tmp_path):
    groups = MultilayerGraph({"r": MembershipLayer.from_values(["x", "x"])}, nodes=["a", "b"])
    write(groups, tmp_path / "g.csv")
    plain = sample_graph(layers={"chat": EdgeLayer(5, [0], [1])})
    write(plain, tmp_path / "g.csv")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["g.csv", "g.nodes.csv"]
    assert read(tmp_path / "g.csv") == plain


def test_an_unknown_column_is_named(tmp_path):
    (tmp_path / "g.csv").write_text("layer,source,target,wieght\nl,a,b,2\n")
    with pytest.warns(GrammeWarning, match="'wieght' is not used; did you mean 'weight'"):
        assert not read(tmp_path / "g.csv").layers["l"].weighted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2,3\n4,5,6\n", "line 1: the header must name the columns source and target"),
        ("1,2,3\n4,5,6\n", "for rows of a layer, a node and a node, .*--from multiplex"),
        ("layer,source,target\nl,a\n", "line 2: there are 2 cells, but the header names 3"),
        ("layer,source,target\nl,,b\n", "line 2: the column 'source' is empty"),
        ("layer,source,target\n,a,b\n", "line 2: the column 'layer' is empty"),
        ('layer,source,target\nl,a,b\nl,"x\ny",c\nl,a\n', "line 5: there are 2 cells"),
        ('layer,source,target\nl,"a,b\n', "line 2: not readable as a table"),
        ("layer,source,target,weight\nl,a,b,1\nl,a,c,\n", "line 3: this edge has no weight"),
        ("layer,source,target,weight\n1,2,3,4\n1,2,5,inf\n", "line 3: the weight 'inf'"),
        ("layer,source,target,weight\n1,2,3,4\n\n1,2,5,-4\n", "line 4: the weight is '-4'"),
        ("\n", "the file is blank"),
    ],
)
def test_errors_name_file_and_line(tmp_path, text, message):
    (tmp_path / "g.csv").write_text(text)
    with pytest.raises(FileFormatError, match=message):
        read(tmp_path / "g.csv")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("nodes", "node,label\na,1\na,2\n", "nodes.csv, line 3: 'a' is here for the second time"),
        ("nodes", "node,feature_1\na,1\nb,z\n", "nodes.csv, line 3: the feature 'feature_1': 'z' is not a number"),
        ("groups", "layer,node,group\nl,a,g\n", "both edges and groups"),
        ("groups", "layer,node,group\nr,a,\n", "groups.csv, line 2: the column 'group' is empty"),
        ("groups", "layer,node\nr,a\n", "no column 'group'"),
        ("layers", "layer,directed\nl,maybe\n", "layers.csv, line 2: 'maybe' is neither yes nor no"),
        ("layers", "layer,kind\nl,edgse\n", "did you mean 'edges'"),
    ],
)
def test_errors_in_companions_name_file_and_line(tmp_path, name, text, message):
    (tmp_path / "g.csv").write_text("layer,source,target\nl,a,b\n")
    (tmp_path / f"g.{name}.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        read(tmp_path / "g.csv")


def test_the_report_counts_rows_of_all_tables(tmp_path):
    (tmp_path / "g.csv").write_text("layer,source,target\nl,a,b\nl,b,a\n")
    (tmp_path / "g.groups.csv").write_text("layer,node,group\nr,a,g\nr,b,g\nr,b,g\n")
    _, report = inspect(tmp_path / "g.csv")
    assert report.rows == 5
    assert report.duplicates_merged == {"l": 1, "r": 1}
    assert report.id_base is None


def test_edges_between_layers(tmp_path):
    rows = "source_layer,source,target_layer,target,weight\n"
    rows += "grid,a,grid,b,\nweb,x,web,y,\ngrid,a,web,x,2\nweb,y,grid,b,3\ngrid,a,web,a,1\n"
    (tmp_path / "g.csv").write_text(rows)
    graph, report = inspect(tmp_path / "g.csv")
    coupling = graph.couplings["grid", "web"]
    assert coupling.weight.tolist() == [2, 3]
    assert not coupling.directed
    assert graph.layers["grid"].present.tolist() == [True, True, False, False]
    assert any("1 edge between the copies of a node" in note for note in report.notes)
    (tmp_path / "g.couplings.csv").write_text("source_layer,target_layer,directed\ngrid,web,yes\nweb,grid,yes\n")
    assert sorted(read(tmp_path / "g.csv").couplings) == [("grid", "web"), ("web", "grid")]


def test_a_coupling_that_names_no_layer(tmp_path):
    (tmp_path / "g.csv").write_text("source_layer,source,target_layer,target\na,x,,y\n")
    with pytest.raises(FileFormatError, match="line 2: the column 'target_layer' is empty here"):
        read(tmp_path / "g.csv")
    (tmp_path / "g.csv").write_text("layer,source,target\na,x,y\n")
    (tmp_path / "g.couplings.csv").write_text("source_layer,target_layer,directed\na,b,yes\n")
    with pytest.raises(FileFormatError, match="names the layer 'b', which is not there"):
        read(tmp_path / "g.csv")
