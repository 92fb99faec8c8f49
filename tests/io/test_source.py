import gzip
import os

import pytest

from gramme.errors import DataError, FileFormatError
from gramme.io import inspect
from gramme.io.source import beside, check_declared, checked_file, decode, gathered, read_bytes, read_text, tell


def test_what_is_told_inside_is_gathered_once():
    with gathered() as notes:
        tell("one")
        tell("two", doubt=True)
        tell("one")
    assert notes.all == ["one", "two"]
    assert notes.doubts == ["two"]


def test_an_inner_gathering_tells_the_outer_one():
    with gathered() as outer:
        with gathered() as inner:
            tell("deep")
        tell("later")
    assert inner is outer
    assert outer.all == ["deep", "later"]


def test_outside_nothing_is_gathered():
    tell("to nobody")
    with gathered() as notes:
        pass
    tell("too late")
    assert notes.all == []


def test_what_is_no_file(tmp_path):
    with pytest.raises(DataError, match="there is no list 'nowhere'"):
        checked_file("nowhere", "list")
    with pytest.raises(DataError, match="is a folder; name a file in it"):
        checked_file(tmp_path)
    with pytest.raises(DataError, match="cannot be read"):
        checked_file("a\0b")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(DataError, match="is not an ordinary file"):
            checked_file(tmp_path / "pipe")


def test_an_empty_file(tmp_path):
    (tmp_path / "empty").touch()
    with pytest.raises(FileFormatError, match="the file is empty"):
        read_bytes(tmp_path / "empty")


def test_text_in_any_encoding_and_without_its_mark(tmp_path):
    path = tmp_path / "t"
    path.write_bytes("\ufeffü".encode())
    assert read_text(path) == "ü"
    path.write_bytes("ü".encode("latin-1"))
    assert read_text(path, "latin-1") == "ü"
    with pytest.raises(FileFormatError, match=r"t, line 1: the bytes here are not utf-8.*latin-1"):
        read_text(path, "utf-8")
    with gathered() as notes:
        assert read_text(path) == "ü"
    assert notes.doubts == ["t: read as Windows-1252, since it is not UTF-8"]


def test_the_line_of_the_first_wrong_byte(tmp_path):
    with pytest.raises(FileFormatError, match="line 3"):
        decode(b"a\nb\nc\xff\x81", tmp_path / "t")


@pytest.mark.parametrize("encoding", ["utf-99", "base64"])
def test_what_is_no_text_encoding(tmp_path, encoding):
    with pytest.raises(DataError, match="text encoding"):
        decode(b"YQ==", tmp_path / "t", encoding)


def test_the_first_file_beside(tmp_path):
    for name in ("a.edges", "b.labels", "c.labels"):
        (tmp_path / name).touch()
    here = tmp_path / "a.edges"
    assert beside(here, "x.labels", "c.labels", "b.labels") == tmp_path / "c.labels"
    assert beside(here, "a.edges", "x") is None


def test_a_declared_number_must_be_possible(tmp_path):
    check_declared(1_000_010, "nodes", 10, tmp_path, 1)
    for count in (-1, 1_000_011):
        with pytest.raises(FileFormatError, match="may declare at most 1000010"):
            check_declared(count, "nodes", 10, tmp_path, 1)


def test_a_file_larger_than_the_memory_is_not_begun(tmp_path):
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.truncate(10**12)  # a sparse file, which takes no room
    with pytest.raises(DataError, match=r"huge\.csv has 1,000\.0 GB, and .* GB of memory are free"):
        read_bytes(path)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_its_mark(tmp_path, encoding):
    (tmp_path / "g.csv").write_bytes("from,to\nZoë,Bo\n".encode(encoding))
    graph, report = inspect(tmp_path / "g.csv")
    assert graph.nodes.tolist() == ["Zoë", "Bo"]
    assert report.doubts == ("g.csv: read as UTF-16 without a byte order mark",)


def test_a_compressed_file_under_another_name(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_bytes(gzip.compress(b"source,target\na,b\n"))
    with pytest.raises(FileFormatError, match="the file is compressed; unpack it first"):
        decode(path.read_bytes(), path)
