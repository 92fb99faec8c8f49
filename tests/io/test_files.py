"""Reading and writing as users meet it: what can be wrong with a file, and that writing is all or nothing."""

import os
import warnings
from pathlib import Path

import pytest
from tests.io.cases import sample_graph

from gramme.errors import DataError, FileFormatError, GrammeWarning
from gramme.io import inspect, read, write
from gramme.io.atomic import write_files


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
    with pytest.raises(
        FileFormatError, match=r"line 3: the bytes here are not utf-8 text.*latin-1"
    ):
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
