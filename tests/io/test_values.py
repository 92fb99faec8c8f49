import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.io.cases import sample_graph

from gramme.errors import DataError
from gramme.io import FORMATS, inspect, read, write
from gramme.io.source import gathered
from gramme.io.values import (
    decode,
    encode,
    format_number,
    id_base,
    in_order,
    is_unknown,
    is_whole,
    parse_number,
    parse_weight,
    require_proper,
    tell_of_twins,
    unknown_marks,
)


@given(st.integers())
def test_every_whole_number_in_its_usual_form(number):
    assert is_whole(str(number)) == (len(str(abs(number))) <= 100)


def test_what_is_no_whole_number_in_its_usual_form():
    assert not any(map(is_whole, ["-0", "00", " 1", "1\n", "1e3", "٣", "1_000"]))


def test_one_name_that_is_no_number_leaves_the_order_alone():
    assert in_order(["3", "-1", "20", "3"]) == ["-1", "3", "20"]
    assert in_order(["3", "x", "1"]) == ["3", "x", "1"]
    assert in_order([]) == []


def test_the_smallest_id():
    assert id_base(["7", "1", "30"]) == 1
    assert id_base(["1", "x"]) is None
    assert id_base([]) is None


def test_names_that_escapes_cannot_stand_in_for_are_refused():
    require_proper("node", ["a", "ü", 3, None, ("a", 1)])
    with pytest.raises(DataError, match=r"the node 'a\\ud800' is not valid Unicode text; rename it"):
        require_proper("node", ["b", "a\ud800"])


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back(number):
    assert parse_number(format_number(number)) == number


@pytest.mark.parametrize("text", ["", "1_0", "nan", "inf", "0x1", "1e", "1,5", " 1", "٣", "1\n"])
def test_what_is_no_number(text):
    with pytest.raises(ValueError, match="is not a number"):
        parse_number(text)


def test_a_number_beyond_all_bounds():
    with pytest.raises(ValueError, match="larger than a number can be"):
        parse_number("1e999")


def test_weights_are_positive():
    assert parse_weight("+.5") == 0.5
    for text in ("0", "-0", "-2"):
        with pytest.raises(ValueError, match="weights must be positive"):
            parse_weight(text)


MPX = """#TYPE
multiplex
#ACTOR ATTRIBUTES
label,STRING
#ACTORS
Ann,doctor
Bo,nurse
Cy,NA
Di,.
#EDGES
Ann,Bo,advice
Cy,Di,advice
"""


@pytest.fixture
def edges(tmp_path):
    path = tmp_path / "office.csv"
    path.write_text("source,target\nAnn,Bo\nBo,Cy\nCy,Di\n")
    return path


def test_what_r_writes_is_unknown(tmp_path, edges):
    """write.csv of R quotes text and leaves NA bare; the labels file of the example that showed the fault."""
    (tmp_path / "labels.csv").write_text('"node","label"\n"Ann","red"\n"Bo",NA\n"Cy","blue"\n"Di",NA\n')
    graph, report = inspect(edges, labels=tmp_path / "labels.csv")
    assert graph.labels.tolist() == ["red", None, "blue", None]
    assert graph.classes == ["blue", "red"]
    assert "2 labels read as unknown: NA" in report.notes
    kept = read(edges, labels=tmp_path / "labels.csv", keep_na=True)
    assert kept.labels.tolist() == ["red", "NA", "blue", "NA"]


@pytest.mark.parametrize("mark", ["NA", "N/A", "NaN", "nan", "null", "NULL", ".", "?", "#N/A"])
@pytest.mark.parametrize(
    "text", ["Ann,red\nBo,{}\nCy,blue\n", "red\n{}\nblue\n\n", "node,label\nAnn,red\nBo,{}\nCy,blue\n"]
)
def test_every_mark_in_every_form_of_labels(tmp_path, edges, mark, text):
    (tmp_path / "l.txt").write_text(text.format(mark))
    graph, report = inspect(edges, labels=tmp_path / "l.txt")
    assert graph.labels.tolist() == ["red", None, "blue", None]
    assert f"1 label read as unknown: {mark}" in report.notes


def test_further_marks(tmp_path, edges):
    (tmp_path / "l.txt").write_text("Ann,red\nBo,no answer\nCy,99\n")
    graph = read(edges, labels=tmp_path / "l.txt", missing=["99", "no answer"])
    assert graph.labels.tolist() == ["red", None, None, None]
    assert read(edges, labels=tmp_path / "l.txt", missing="99").labels[1] == "no answer"


def test_in_mpx(tmp_path):
    (tmp_path / "team.mpx").write_text(MPX)
    graph, report = inspect(tmp_path / "team.mpx")
    assert graph.labels.tolist() == ["doctor", "nurse", None, None]
    assert report.notes == ("2 labels read as unknown: NA, .",)
    assert read(tmp_path / "team.mpx", keep_na=True).labels.tolist()[2:] == ["NA", "."]


def test_in_graphml_that_networkx_wrote(tmp_path):
    networkx = pytest.importorskip("networkx")
    graph = networkx.path_graph(4)
    networkx.set_node_attributes(graph, dict(enumerate(["a", "NA", "b", "NaN"])), "label")
    networkx.write_graphml(graph, tmp_path / "g.graphml")
    found, report = inspect(tmp_path / "g.graphml")
    assert found.labels.tolist() == ["a", None, "b", None]
    assert report.notes == ("2 labels read as unknown: NA, NaN",)


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, each in FORMATS.items()
        if each.write is not None and name != "npz" and "labels," not in each.cannot
    ],
)
def test_every_format_that_holds_text_labels(tmp_path, name):
    """Written with the label NA, it is lost with a warning, and comes back where it is asked for."""
    graph = sample_graph(labels=["1", "NA", None, "1", "2"], features=None)
    path = tmp_path / f"g{FORMATS[name].endings[0]}"
    with pytest.warns(match="read as unknown"):
        write(graph, path)
    if name == "pajek":  # it numbers its classes
        return
    assert read(path).labels.tolist() == ["1", None, None, "1", "2"]
    assert read(path, keep_na=True).labels.tolist() == ["1", "NA", None, "1", "2"]


def test_npz_keeps_everything(tmp_path):
    graph = sample_graph(labels=["1", "NA", None, "1", None])
    write(graph, tmp_path / "g.npz")
    assert read(tmp_path / "g.npz") == graph


def test_pandas_writes_blanks(tmp_path, edges):
    frame = pd.DataFrame({"node": ["Ann", "Bo", "Cy", "Di"], "label": ["x", None, " ", "y"]})
    frame.to_csv(tmp_path / "l.csv", index=False)
    graph, report = inspect(edges, labels=tmp_path / "l.csv")
    assert graph.labels.tolist() == ["x", None, None, "y"]
    assert report.notes == ()


PLAIN = st.none() | st.booleans() | st.integers() | st.text() | st.binary()
VALUES = st.recursive(PLAIN | st.floats(allow_nan=False), lambda part: st.tuples(part, part), max_leaves=6)


@given(st.lists(VALUES))
def test_values_come_back_of_the_same_kind(values):
    again = decode(encode(values))
    assert again == values
    assert [type(value) for value in again] == [type(value) for value in values]


def test_nan_huge_numbers_and_numpy_scalars():
    nan, huge, scalar = decode(encode([float("nan"), 1 << 20_000, np.int8(3)]))
    assert math.isnan(nan)
    assert huge == 1 << 20_000
    assert type(scalar) is int


@pytest.mark.parametrize("value", [object(), {"a": 1}, [1], {1}])
def test_what_cannot_be_kept(value):
    with pytest.raises(DataError, match="cannot be kept in a file"):
        encode([value])


@pytest.mark.parametrize(
    "data",
    [
        b"{}",
        b"[[1]]",
        b'[{"tuple": 1}]',
        b'[{"a": 1, "b": 2}]',
        b'[{"float": "1"}]',
        b'[{"bytes": "zz"}]',
        b"[",
        b"[" * 100_000,
        b"\xff",
    ],
)
def test_what_is_none_of_ours(data):
    with pytest.raises(ValueError, match=r"."):
        decode(data)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["1b", "1B", "2"], 3),
        (["Zo\u00eb", "Zoe\u0308", "K"], 3),
        (["red", "re\u200bd", "blue"], 3),
        (["north west", "north  west", "east"], 3),
    ],
)
def test_labels_that_look_alike_are_said(tmp_path, labels, classes):
    (tmp_path / "g.csv").write_text("source,target\na,b\nb,c\n", encoding="utf-8")
    rows = "".join(f"{node},{label}\n" for node, label in zip("abc", labels, strict=True))
    (tmp_path / "labels.csv").write_text("node,label\n" + rows, encoding="utf-8")
    graph, report = inspect(tmp_path / "g.csv", labels=tmp_path / "labels.csv")
    assert len(graph.classes) == classes  # nothing is changed, as 1b and 1B may be two classes
    assert any("labels" in doubt and "two classes" in doubt for doubt in report.doubts)


def test_nodes_and_layers_that_look_alike_are_said(tmp_path):
    (tmp_path / "g.csv").write_text("layer,source,target\nchat,Ann,Bo\nChat,ann,Bo\n", encoding="utf-8")
    _, report = inspect(tmp_path / "g.csv")
    assert any("'Ann' and 'ann'" in doubt and "two nodes" in doubt for doubt in report.doubts)
    assert any("'chat' and 'Chat'" in doubt and "two layers" in doubt for doubt in report.doubts)


def test_names_that_a_spreadsheet_shortened_are_doubted():
    with gathered() as notes:
        tell_of_twins(["1.23457E+14", "1e5", "2"], "names", "nodes")
    assert len(notes.doubts) == 1
    assert "'1.23457E+14' and the like may be numbers that a spreadsheet has shortened" in notes.doubts[0]


def test_errors_of_a_spreadsheet_are_unknown():
    assert is_unknown("#REF!", unknown_marks())
    assert is_unknown(" #DIV/0! ", unknown_marks())
