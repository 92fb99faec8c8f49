"""Reading and writing as users meet it: what can be wrong with a file, and that writing is all or nothing."""

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.io.cases import sample_graph
from tests.io.formats.test_text import ADVICE, EVENTS, NAMES

from gramme.errors import DataError, FileFormatError, GrammeWarning
from gramme.graph import MembershipLayer
from gramme.io import inspect, read, write
from gramme.io.api import Address, is_address, parse_address
from gramme.io.atomic import write_files


def test_what_is_an_address():
    assert is_address("duckdb:x.db?query=SELECT 1")
    assert not is_address("C:/x.db")
    assert not is_address("sqlite")
    assert not is_address(3)


def test_the_parts():
    assert parse_address("sqlite:a.db") == Address("sqlite", "a.db")
    found = parse_address("duckdb:a.db?query=SELECT a AS source FROM t WHERE b = '?'")
    assert found.query == "SELECT a AS source FROM t WHERE b = '?'"


@pytest.mark.parametrize("text", ["sqlite:", "sqlite:?table=x", "sqlite:a?x=1", "sqlite:a?table="])
def test_half_an_address(text):
    with pytest.raises(DataError, match="table="):
        parse_address(text)


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
    assert [Path(file).name for file in report.files] == ["advice.csv", "friends.csv", "events.tsv", "people.csv"]


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
    (tmp_path / "c.csv").write_text("source,target,source_layer,target_layer\na,b,x,x\na,c,y,y\na,b,x,y\nb,c,y,y\n")
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
    alone = read(tmp_path / "g.gexf", labels=tmp_path / "people.csv", label="Team", features=["Age"])
    assert alone.features.shape == (3, 1)


@pytest.mark.parametrize("inside", [False, True])
def test_what_is_no_file_but_in_memory_is_told_where_to_go(inside):
    frame = pd.DataFrame({"source": ["a"], "target": ["b"]})
    with pytest.raises(DataError, match=r"files are needed, not DataFrame; .*MultilayerGraph\.from_edges"):
        read({"advice": frame} if inside else frame)


@pytest.fixture
def edges(tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("layer,source,target\nl,a,b\n")
    return path


def test_missing_and_strange_files(tmp_path):
    with pytest.raises(DataError, match=r"there is no file '.*nothing.csv'"):
        read(tmp_path / "nothing.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match=r"the folder .* holds no file"):
        read(tmp_path / "folder.csv")
    with pytest.raises(DataError, match="is not an ordinary file"):
        read("/dev/null", format="csv")
    with pytest.raises(DataError, match="cannot be read"):
        read("a\0b.csv")
    (tmp_path / "empty.csv").touch()
    with pytest.raises(FileFormatError, match="the file is empty"):
        read(tmp_path / "empty.csv")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(edges):
    edges.chmod(0)
    with pytest.raises(DataError, match="Permission denied"):
        read(edges)


def test_encodings(edges):
    edges.write_bytes("layer,source,target\nl,a,b\nl,a,Zoë\n".encode("latin-1"))
    with pytest.raises(FileFormatError, match=r"line 3: the bytes here are not utf-8 text.*latin-1"):
        read(edges, encoding="utf-8")
    with pytest.warns(GrammeWarning, match="read as Windows-1252"):
        assert read(edges).nodes.tolist() == ["a", "b", "Zoë"]
    _, report = inspect(edges)
    assert report.doubts == report.notes == ("g.csv: read as Windows-1252, since it is not UTF-8",)
    edges.write_bytes("layer,source,target\nl,a,Zoë\n".encode("utf-16"))
    assert read(edges).nodes.tolist() == ["a", "Zoë"]
    for broken in (b"source,target\na,\x81\n", b"source,target\n\xe4\0,b\n", b"\xff\xfea"):
        edges.write_bytes(broken)
        with pytest.raises(FileFormatError, match=r"are not text|not UTF-16"):
            read(edges)
    edges.write_bytes("layer,source,target\nl,a,b\nl,a,Zoë\n".encode("latin-1"))
    assert read(edges, encoding="latin-1").nodes.tolist() == ["a", "b", "Zoë"]
    with pytest.raises(DataError, match="no text encoding 'klingon'"):
        read(edges, encoding="klingon")
    edges.write_bytes("\ufefflayer,source,target\nl,a,b\n".encode())
    assert list(read(edges).layers) == ["l"]


def test_labels_may_be_given_as_values(edges):
    assert read(edges, labels={"b": "x"}).labels.tolist() == [None, "x"]
    assert read(edges, labels=["x", "y"]).classes == ["x", "y"]


def test_options_are_checked(edges):
    with pytest.raises(DataError, match="labels_format must be"):
        read(edges, labels_format="column")
    with pytest.raises(TypeError):
        inspect(edges, lables="x")


def test_direction(edges):
    graph, report = inspect(edges)
    assert not graph.layers["l"].directed
    assert report.direction == "undirected, the default: the file does not say"
    graph, report = inspect(edges, directed=True)
    assert graph.layers["l"].directed
    assert report.as_dict()["direction"] == "directed, as asked for"


def test_a_graph_is_named_after_its_file(edges):
    assert read(edges).name == "g"


def test_not_overwriting(tmp_path):
    write(sample_graph(), tmp_path / "g.mpx")
    before = (tmp_path / "g.mpx").read_bytes()
    with pytest.raises(DataError, match="exists already"):
        write(sample_graph(labels=None), tmp_path / "g.mpx", overwrite=False)
    (tmp_path / "h.nodes.csv").touch()
    with pytest.raises(DataError, match=r"nodes.csv exists already"):
        write(sample_graph(), tmp_path / "h.csv", overwrite=False)
    assert not (tmp_path / "h.csv").exists()
    assert (tmp_path / "g.mpx").read_bytes() == before
    write(sample_graph(labels=None), tmp_path / "g.mpx")
    assert read(tmp_path / "g.mpx").labels is None


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(DataError, match="there is no folder"):
        write(sample_graph(), tmp_path / "missing" / "g.mpx")
    (tmp_path / "g.mpx").mkdir()
    with pytest.raises(DataError, match="is a folder"):
        write(sample_graph(), tmp_path / "g.mpx")


def test_all_files_or_none(tmp_path):
    (tmp_path / "a").write_text("old")

    def fail(file):
        file.write(b"half")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_files({tmp_path / "a": "new", tmp_path / "b": fail})
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("a", "old")]
    write_files({tmp_path / "a": None, tmp_path / "b": b"bytes"})
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("b", b"bytes")]


def test_written_files_are_as_readable_as_others(tmp_path):
    write(sample_graph(), tmp_path / "g.mpx")
    (tmp_path / "other").touch()
    assert (tmp_path / "g.mpx").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_relative_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write(sample_graph(), "g.csv")
    assert read(Path("g.csv")) == sample_graph()
