"""The mpx files of multinet and uunet."""

from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.io.cases import FormatCase

from gramme.errors import DataError, FileFormatError
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.io import inspect, read
from gramme.io.formats.mpx import EDGES, NODES, TYPE, _lines, read_sections, split_cells
from gramme.io.lossy import as_text

PATH = Path("x.mpx")


def test_lines_stand_under_their_heading_with_their_number():
    sections = read_sections("#TYPE multiplex\n\n# edges\na,b\n-- a remark\nc , d\n", PATH)
    assert sections.of(EDGES) == [(4, ["a", "b"]), (6, ["c", "d"])]
    assert sections.word(TYPE) == (1, "multiplex")
    assert sections.of(NODES) == []
    assert sections.word(NODES) is None


def test_a_word_may_stand_on_the_next_line():
    assert read_sections("#TYPE\nmultiplex\n", PATH).word(TYPE) == (2, "multiplex")


def test_without_headings_all_lines_are_edges():
    assert read_sections("a,b\n", PATH).of(EDGES) == [(1, ["a", "b"])]


def test_an_older_name_of_a_section_and_a_mistyped_one():
    assert read_sections("#VERTICES\na,l\n", PATH).of(NODES) == [(2, ["a", "l"])]
    with pytest.raises(FileFormatError, match=r"line 1: unknown section '#EDGEZ'.*'EDGES'"):
        read_sections("#EDGEZ\n", PATH)


@given(st.lists(st.text(st.characters(exclude_characters="\n\r"), max_size=6), min_size=1))
def test_quoted_cells_come_back_whatever_they_hold(values):
    row = ",".join('"' + value.replace('"', '""') + '"' for value in values)
    assert split_cells(row) == values


def written(graph):
    return "".join(_lines(as_text(graph, "mpx", presence=True)))


def test_every_section_of_a_full_graph():
    graph = MultilayerGraph(
        {"talk": EdgeLayer(3, [0], [1], [2.5], directed=True), "play": EdgeLayer(3, [1], [2], nodes=[1, 2])},
        nodes=["ann", "bob", "c,d"],
        labels=["x", None, "y"],
        features=[[1.0], [0.5], [2.0]],
    )
    assert written(graph) == (
        "#VERSION\n3.0\n\n#TYPE\nmultiplex\n\n"
        "#ACTOR ATTRIBUTES\nlabel,STRING\nfeature_1,NUMERIC\n\n"
        "#EDGE ATTRIBUTES\ntalk,weight,NUMERIC\n\n"
        "#LAYERS\ntalk,DIRECTED\nplay,UNDIRECTED\n\n"
        '#ACTORS\nann,x,1\nbob,,0.5\n"c,d",y,2\n\n'
        '#NODES\nann,talk\nbob,talk\n"c,d",talk\nbob,play\n"c,d",play\n\n'
        '#EDGES\nann,bob,talk,2.5\nbob,"c,d",play\n'
    )


def test_a_name_that_looks_like_a_heading_is_quoted():
    graph = MultilayerGraph({"l": EdgeLayer(2, [0], [1])}, nodes=["#EDGES", "--x"])
    assert '\n"#EDGES"\n"--x"\n' in written(graph)


def test_a_line_end_in_a_name_is_refused():
    graph = MultilayerGraph({"l": EdgeLayer(2, [0], [1])}, nodes=["a\nb", "c"])
    with pytest.raises(DataError, match="cannot hold the line end"):
        written(graph)


FULL = b"""-- a comment
#VERSION
3.0

#TYPE multiplex
#ACTOR ATTRIBUTES
label,STRING
age,NUMERIC
#EDGE ATTRIBUTES
work,since,NUMERIC
work,weight,NUMERIC
#LAYERS
lunch,UNDIRECTED
work,DIRECTED
facebook,UNDIRECTED,LOOPS
#ACTORS
Ann,x,30
Bo,y,31
"Cy, Jr",,32
#VERTICES
Ann,lunch
Bo,lunch
Ann,work
Bo,work
#EDGES
Ann,Bo,lunch
Bo,Ann,work,1999,2.5
Bo, Ann ,lunch
"""
LAYERED = b"""#TYPE
multilayer
#LAYERS
a,a,UNDIRECTED
b,b,DIRECTED
a,b,UNDIRECTED
#EDGES
x,a,y,a
x,a,x,b
y,b,x,b
"""


class TestMpx(FormatCase):
    format = "mpx"
    examples: ClassVar = [{"g.mpx": FULL}, {"g.mpx": LAYERED}, {"g.mpx": b"a,b,l\n"}]
    words: ClassVar = [
        *(b"#" + name for name in (b"EDGES", b"LAYERS", b"ACTORS", b"NODES", b"TYPE multilayer")),
        b"#ACTOR ATTRIBUTES",
        b"#EDGE ATTRIBUTES",
        b"UNDIRECTED",
        b"DIRECTED",
        b"weight,NUMERIC",
        b"--",
    ]


def put(folder, text):
    path = folder / "g.mpx"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_all_sections(tmp_path):
    graph, report = inspect(put(tmp_path, FULL))
    assert list(graph.layers) == ["lunch", "work", "facebook"]
    assert [layer.directed for layer in graph.layers.values()] == [False, True, False]
    assert graph.nodes.tolist() == ["Ann", "Bo", "Cy, Jr"]
    assert graph.labels.tolist() == ["x", "y", None]
    assert graph.layers["work"].weight.tolist() == [2.5]
    assert graph.layers["work"].source.tolist() == [1]
    assert graph.layers["lunch"].present.tolist() == [True, True, False]
    assert graph.layers["facebook"].num_present == 0
    assert report.duplicates_merged["lunch"] == 1
    assert report.direction == "some layers directed, some undirected, as the file says"
    assert any("age" in note for note in report.notes)
    assert read(tmp_path / "g.mpx", label="age").classes == ["30", "31", "32"]
    assert read(tmp_path / "g.mpx", features=["age"]).features[:, 0].tolist() == [30, 31, 32]


def test_edges_between_copies_are_implied(tmp_path):
    graph, report = inspect(put(tmp_path, LAYERED))
    assert [layer.num_edges for layer in graph.layers.values()] == [1, 1]
    assert graph.layers["b"].directed
    assert "1 edge between the copies" in report.notes[0]


def test_a_bare_list_of_edges(tmp_path):
    graph, report = inspect(put(tmp_path, "a,b,l\nb,c,l\na,c,m\n"))
    assert list(graph.layers) == ["l", "m"]
    assert report.direction.startswith("undirected, the default")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#VERSION\n9.1\n", "line 2: version '9.1'"),
        ("#TYPE bipartite\n", "line 1: unknown type 'bipartite'"),
        ("#EDGE\na,b,l\n", "line 1: unknown section"),
        ("#LAYERS\na,SIDEWAYS\n", "line 2: 'SIDEWAYS' is neither"),
        ("#LAYERS\na,DIRECTED\na,DIRECTED\n", "line 3: the layer 'a' is here for the second time"),
        ("#LAYERS\nlunch,DIRECTED\n#EDGES\na,b,lunhc\n", "line 4: unknown layer 'lunhc'; did you mean 'lunch'"),
        ("#EDGES\na,b\n", "line 2: an edge needs actor, actor, layer"),
        ("#EDGE ATTRIBUTES\nweight,NUMERIC\n#EDGES\na,b,l,-1\n", "line 4: the weight is '-1'"),
        ("#EDGE ATTRIBUTES\nweight,NUMERIC\n#EDGES\na,b,l,1\na,c,l\n", "line 5: this edge has no weight"),
        ("#ACTORS\na\na\n#EDGES\na,b,l\n", "line 3: 'a' is here for the second time"),
        ("#ACTORS\na,1,2\n", "line 2: there are 2 values for 0 attributes"),
    ],
)
def test_errors_name_file_and_line(tmp_path, text, message):
    with pytest.raises(FileFormatError, match=message):
        read(put(tmp_path, text))


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("a,b", ["a", "b"]),
        ("", [""]),
        ("a,", ["a", ""]),
        (' "a,b" ,"c""d"', ["a,b", 'c"d']),
        ('"open,b', ['"open', "b"]),
        ('x"y,z', ['x"y', "z"]),
    ],
)
def test_cells(row, cells):
    assert split_cells(row) == cells
