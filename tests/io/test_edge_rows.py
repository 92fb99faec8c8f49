import numpy as np
import pytest

from gramme.errors import FileFormatError
from gramme.io.edge_rows import fast_rows, read_edge_rows

EXPECTED = "layer source target [weight]"


def read(tmp_path, text):
    path = tmp_path / "x.edges"
    path.write_text(text)
    return read_edge_rows(path, expected=EXPECTED)


def named(rows):
    return [
        (rows.layers[layer], rows.nodes[source], rows.nodes[target])
        for layer, source, target in zip(rows.layer, rows.source, rows.target, strict=True)
    ]


def test_both_lanes_read_the_same():
    text = "2 10 3\n1 3 7\n2 7 10\n"
    fast = fast_rows(text.encode())
    assert fast.whole
    assert fast.nodes == ["3", "7", "10"]
    assert named(fast) == [("2", "10", "3"), ("1", "3", "7"), ("2", "7", "10")]


def test_names_take_the_slow_lane(tmp_path):
    rows = read(tmp_path, "talk ann bob 2\n\ntalk bob cid 0.5\n")
    assert not rows.whole
    assert named(rows) == [("talk", "ann", "bob"), ("talk", "bob", "cid")]
    assert rows.weight.tolist() == [2.0, 0.5]
    assert [rows.line_of(row) for row in range(2)] == [1, 3]


def test_the_fast_lane_knows_lines_too():
    rows = fast_rows(b"1 1 2\n\n1 2 3\n", first_line=5)
    assert [rows.line_of(row) for row in range(2)] == [5, 7]


@pytest.mark.parametrize("far", [10**15, 7])
def test_ids_far_apart_and_close_together(far):
    rows = fast_rows(f"1 5 {far}\n1 6 5\n".encode())
    assert rows.nodes == sorted({"5", "6", str(far)}, key=int)
    assert named(rows) == [("1", "5", str(far)), ("1", "6", "5")]


def test_many_layers_that_come_and_go():
    rows = fast_rows(b"".join(b"%d 0 1\n" % (row % 3) for row in range(5000)))
    assert rows.layers == ["0", "1", "2"]
    assert np.bincount(rows.layer).tolist() == [1667, 1667, 1666]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a b\n", "line 1: there are 2 fields, but layer source target"),
        ("a b c\na b c 1\n", "line 2: there are 4 fields, but 3 as in the lines before"),
        ("a b c x\n", "line 1: the weight 'x' is not a number"),
    ],
)
def test_rows_that_are_none(tmp_path, text, words):
    with pytest.raises(FileFormatError, match=words):
        read(tmp_path, text)
