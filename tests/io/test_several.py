"""One file per layer: lists, mappings, folders and patterns, in any mixture of formats."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.io.cases import sample_graph
from tests.io.formats.test_matrix import ADVICE, EVENTS, NAMES

from gramme.errors import DataError
from gramme.graph import MembershipLayer
from gramme.io import inspect, read, write

PEOPLE = "person,Team,Age\nAnn,red,30\nBo,red,40\nCy,blue,50\nDi,,60\nEd,blue,20\n"


@pytest.fixture
def folder(tmp_path):
    where = tmp_path / "office"
    where.mkdir()
    ADVICE.to_csv(where / "advice.csv")
    (where / "friends.csv").write_text("from;to\nAnn;Bo\nBo;Ed\n")
    EVENTS.to_csv(where / "events.tsv", sep="\t")
    (where / "people.csv").write_text(PEOPLE)
    (where / "notes.doc").write_text("no layer")
    return where


def test_a_layer_per_file_named_after_it(folder):
    files = [folder / "advice.csv", folder / "friends.csv", folder / "events.tsv"]
    graph, report = inspect(files, labels=folder / "people.csv", label="Team")
    assert graph.name == "office"
    assert list(graph.layers) == ["advice", "friends", "events"]
    assert graph.nodes.tolist() == [*NAMES, "Ed"]
    assert graph.layers["advice"].directed
    assert not graph.layers["friends"].directed
    assert isinstance(graph.layers["events"], MembershipLayer)
    assert np.array_equal(graph.layers["advice"].to_scipy().toarray()[:4, :4], ADVICE.to_numpy())
    assert graph.layers["advice"].present.tolist() == [True] * 4 + [False]
    assert graph.labels.tolist() == ["red", "red", "blue", None, "blue"]
    assert graph.features[:, 0].tolist() == [30, 40, 50, 60, 20]
    assert [Path(file).name for file in report.files] == [
        "advice.csv",
        "friends.csv",
        "events.tsv",
        "people.csv",
    ]


def test_a_folder_a_pattern_and_a_mapping_are_the_same(folder):
    options = {"labels": folder / "people.csv", "label": "Team"}
    files = [folder / "advice.csv", folder / "events.tsv", folder / "friends.csv"]
    graph, _ = inspect(files, **options)
    assert inspect(folder, **options)[0] == graph
    assert inspect(str(folder / "[aef]*.?sv"), **options)[0] == graph
    named = {"advice": files[0], "events": files[1], "friends": files[2]}
    assert inspect(named, **options)[0] == graph
    assert list(inspect({"A": files[0], "B": files[2]})[0].layers) == ["A", "B"]


def test_files_with_several_layers_keep_their_names(tmp_path):
    graph = sample_graph()
    write(graph, tmp_path / "a.npz")
    write(graph.replace(labels=None, features=None), tmp_path / "b.mpx")
    both, report = inspect([tmp_path / "a.npz", tmp_path / "b.mpx"])
    assert list(both.layers)[:4] == ["a: chat", "a: lunch", "a: none", "b: chat"]
    assert both.layers["a: chat"] == graph.layers["chat"] == both.layers["b: chat"]
    assert both.labels.tolist() == graph.labels.tolist()
    assert report.format == "npz, mpx"


def test_labels_that_contradict_each_other(tmp_path):
    write(sample_graph(), tmp_path / "a.mpx")
    write(sample_graph(labels=["1", "3", None, "1", None]), tmp_path / "b.mpx")
    with pytest.raises(DataError, match="'Bo' has the label '3', but '2' in an earlier file"):
        inspect([tmp_path / "a.mpx", tmp_path / "b.mpx"])


def test_files_that_share_nobody_are_told(tmp_path):
    (tmp_path / "a.csv").write_text("source,target\nAnn,Bo\n")
    (tmp_path / "b.csv").write_text("source,target\n1,2\n")
    with pytest.warns(match="b.csv shares no node with the files before it"):
        read([tmp_path / "a.csv", tmp_path / "b.csv"])


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([], "no file is named"),
        ("empty", "the folder .* holds no file"),
        ("no*.csv", "the pattern .* holds no file"),
        (["friends.csv", "friends.csv"], "named twice"),
        (["friends.csv", "gone.csv"], "there is no file"),
        (3, "not int;"),
    ],
)
def test_mistakes(folder, source, message):
    (folder / "empty").mkdir()
    if isinstance(source, str):
        source = folder / source
    elif isinstance(source, list):
        source = [folder / name for name in source]
    with pytest.raises(DataError, match=message):
        read(source)


def test_couplings_between_layers_of_one_file_stay(tmp_path):
    (tmp_path / "c.csv").write_text(
        "source,target,source_layer,target_layer\na,b,x,x\na,c,y,y\na,b,x,y\nb,c,y,y\n"
    )
    (tmp_path / "d.csv").write_text("source,target\na,e\n")
    graph = read([tmp_path / "c.csv", tmp_path / "d.csv"])
    assert list(graph.layers) == ["x", "y", "d"]
    assert list(graph.couplings) == [("x", "y")]
    assert graph.nodes.tolist() == ["a", "b", "c", "e"]
    coupling = graph.couplings["x", "y"]
    assert (coupling.source.tolist(), coupling.target.tolist()) == ([0], [1])
    assert graph.layers["d"].holds_all_nodes


def test_columns_of_the_table_of_people_are_not_asked_of_the_files(tmp_path):
    networkx = pytest.importorskip("networkx")
    for name in ("g.gexf", "g.graphml", "g.gml"):
        graph = networkx.Graph([("a", "b"), ("b", "c")])
        networkx.set_node_attributes(graph, "red", "colour")
        getattr(networkx, f"write_{name[2:]}")(graph, tmp_path / name)
    (tmp_path / "e.csv").write_text("from,to\na,c\n")
    (tmp_path / "people.csv").write_text("who,Team,Age\na,x,1\nb,y,4\nc,y,5\n")
    files = [tmp_path / name for name in ("e.csv", "g.gexf", "g.graphml", "g.gml")]
    found = read(files, labels=tmp_path / "people.csv", label="Team", features=["Age"])
    assert found.labels.tolist() == ["x", "y", "y"]
    assert found.num_layers == 4
    alone = read(
        tmp_path / "g.gexf", labels=tmp_path / "people.csv", label="Team", features=["Age"]
    )
    assert alone.features.shape == (3, 1)


@pytest.mark.parametrize("inside", [False, True])
def test_what_is_no_file_but_in_memory_is_told_where_to_go(inside):
    frame = pd.DataFrame({"source": ["a"], "target": ["b"]})
    with pytest.raises(
        DataError, match=r"files are needed, not DataFrame; .*MultilayerGraph\.from_edges"
    ):
        read({"advice": frame} if inside else frame)
