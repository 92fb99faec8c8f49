"""Debian packages from a few paragraphs in the form of a Packages index."""

import gzip

import pytest

from gramme import datasets
from gramme.errors import DataError, FileFormatError

INDEX = """\
Package: game
Section: non-free/games
Maintainer: Ann, of Zürich <a@b.c>
Depends: libgame (>= 1.0) | libother, libgame:any, absent
Tag: role::program,
 use::gaming
Description: a game
 with a second line

Package: libgame
Section: libs
Maintainer: Ann, of Zürich <a@b.c>
Suggests: game, libgame

Package: libother
Section: libs
Maintainer: Bo <b@b.c>
Recommends: libgame
Tag: role::program, role::program

Package: bare
"""


@pytest.fixture
def index(tmp_path):
    file = tmp_path / "Packages"
    file.write_text(INDEX, encoding="utf-8")
    return file


def test_dependencies_groups_and_sections(index):
    graph = datasets.load("debian", path=index)
    assert list(graph.nodes) == ["bare", "game", "libgame", "libother"]
    assert graph.labels.tolist() == [None, "games", "libs", "libs"]
    assert {name: layer.num_edges for name, layer in graph.layers.items()} == {
        "depends": 2,
        "recommends": 1,
        "suggests": 1,
        "maintainer": 1,
        "tag": 1,
    }
    depends = graph.layers["depends"].stated_ways()
    assert depends[1, 2] == 1
    assert depends[2, 1] == 0
    assert "Ann, of Zürich <a@b.c>" in graph.layers["maintainer"].group_names
    assert graph.layers["tag"].group_names.tolist() == ["role::program", "use::gaming"]


def test_a_packed_index_reads_the_same(index, tmp_path):
    packed = tmp_path / "Packages.gz"
    packed.write_bytes(gzip.compress(INDEX.encode()))
    assert datasets.load("debian", path=packed).layers == datasets.load("debian", path=index).layers


def test_mistakes_are_named(index, tmp_path):
    with pytest.raises(DataError, match="apt-cache dumpavail"):
        datasets.load("debian")
    with pytest.raises(DataError, match="there is no file"):
        datasets.load("debian", path=tmp_path / "none")
    index.write_text("Section: libs\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match="Package:"):
        datasets.load("debian", path=index)
    index.write_text("no colon\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match="Field: value"):
        datasets.load("debian", path=index)
    index.write_text("\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match="no package"):
        datasets.load("debian", path=index)
