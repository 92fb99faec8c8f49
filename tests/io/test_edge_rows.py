import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramme.errors import FileFormatError
from gramme.io.edge_rows import fast_rows, integer_table, read_edge_rows
from gramme.io.values import is_whole

IDS = st.one_of(st.integers(0, 30), st.integers(0, 10**16 - 1)).map(str)
WEIGHTS = st.one_of(
    st.integers(1, 10**15).map(str),
    st.floats(1e-300, 1e300).map(repr),
    st.sampled_from(["0.5", "1.", ".5", "1e3", "+2", "00.5", "12.50"]),
)


@given(
    rows=st.lists(st.tuples(IDS, IDS, IDS), min_size=1, max_size=20),
    weights=st.none() | st.lists(WEIGHTS, min_size=20, max_size=20),
    gap=st.sampled_from([" ", "\t", "  ", " \t "]),
    end=st.sampled_from(["\n", "\r\n", " \n", "\n\n"]),
)
def test_numbers_are_exact(rows, weights, gap, end):
    lines = [gap.join(row if weights is None else (*row, weights[n])) for n, row in enumerate(rows)]
    text = end.join(lines) + end
    table = integer_table(text.encode())
    if table is None:  # a leading zero in a weight
        assert weights is not None
        return
    for place in range(3):
        assert table[place].tolist() == [int(row[place]) for row in rows]
    if weights is not None:
        assert table[3].tolist() == [float(weight) for weight in weights[: len(rows)]]


@pytest.mark.parametrize(
    "text",
    [
        "1 2 03\n",
        "1 +2 3\n",
        "1 -2 3\n",
        "1 2.0 3\n",
        "1 2 3\n1 2\n",
        "1 2 3\n1 2 3 4\n",
        "1 2\n3 1 2 3\n",
        "a 2 3\n",
        "1 2 12345678901234567890\n",
        "1 2 3 nan\n",
        "1 2 3 0\n",
        "1 2 3 -1\n",
        "1 2 3 1e400\n",
        "1 2 3 1.2.3\n",
        "1 2 3\r4 5 6\n",
        "1 2 3\x0b\n",
        "1 2 3\n1 1,2 3\n",
        "",
        "\n",
        "1 2 ٣\n",
    ],
)
def test_it_declines_what_is_not_plain(text):
    assert integer_table(text.encode()) is None


@pytest.mark.parametrize("text", ["1,,3\n", "1, 2,3\n", "1,2,3,\n", '"1",2,3\n'])
def test_one_separator_means_exactly_one(text):
    assert integer_table(text.encode(), separators=b",") is None


def test_large_tables():
    randomness = random.Random(0)
    rows = [[randomness.choice([5, 10**6, 10**11]) % (n + 1) for n in range(i, i + 3)] for i in range(60_000)]
    text = "".join(f"{a} {b} {c}\n" for a, b, c in rows).encode()
    np.testing.assert_array_equal(np.stack(integer_table(text), axis=1), rows)
    np.testing.assert_array_equal(np.stack(integer_table(text[:-1]), axis=1), rows)


@given(st.lists(st.tuples(IDS, IDS, IDS), min_size=1, max_size=20))
def test_rows_are_numbered_in_order(rows):
    found = fast_rows("".join(" ".join(row) + "\n" for row in rows).encode())
    assert found is not None
    assert found.nodes == sorted({name for row in rows for name in row[1:]}, key=int)
    assert found.layers == list(dict.fromkeys(row[0] for row in rows))
    assert [
        (found.layers[layer], found.nodes[source], found.nodes[target])
        for layer, source, target in zip(found.layer, found.source, found.target, strict=True)
    ] == rows
    assert all(map(is_whole, found.nodes))
    assert [found.line_of(row) for row in range(len(rows))] == list(range(1, len(rows) + 1))


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
