"""The mpx files of multinet and uunet."""

from typing import ClassVar

import pytest
from tests.io.cases import FormatCase

from gramme.errors import FileFormatError
from gramme.io import inspect, read
from gramme.io.sections import split_cells

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
    assert "1 edges between the copies" in report.notes[0]


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
        (
            "#LAYERS\nlunch,DIRECTED\n#EDGES\na,b,lunhc\n",
            "line 4: unknown layer 'lunhc'; did you mean 'lunch'",
        ),
        ("#EDGES\na,b\n", "line 2: an edge needs actor, actor, layer"),
        ("#EDGE ATTRIBUTES\nweight,NUMERIC\n#EDGES\na,b,l,-1\n", "line 4: the weight is '-1'"),
        (
            "#EDGE ATTRIBUTES\nweight,NUMERIC\n#EDGES\na,b,l,1\na,c,l\n",
            "line 5: this edge has no weight",
        ),
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
