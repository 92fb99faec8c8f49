"""The fast lane equals a slow reading, or declines."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramme.io import integer_table as module
from gramme.io.edge_rows import fast_rows
from gramme.io.integer_table import integer_table
from gramme.io.names import is_whole

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
    block=st.sampled_from([64, 256, 1 << 19]),
)
def test_numbers_are_exact(rows, weights, gap, end, block):
    lines = [gap.join(row if weights is None else (*row, weights[n])) for n, row in enumerate(rows)]
    text = end.join(lines) + end
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK_BYTES", block)
        patch.setattr(module, "_MARGIN_BYTES", block // 4)
        table = integer_table(text.encode())
    if table is None:  # a leading zero in a weight, or a line longer than a block
        assert weights is not None or block == 64
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
        "1 2 12345678901234567\n",
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


@pytest.mark.parametrize(
    "text", ["1,,3\n", "1, 2,3\n", "1,2,3\n\n4,5,6\n", "1,2,3,\n", '"1",2,3\n']
)
def test_one_separator_means_exactly_one(text):
    assert integer_table(text.encode(), separators=b",") is None


def test_large_tables_across_blocks():
    randomness = random.Random(0)
    rows = [
        [randomness.choice([5, 10**6, 10**11]) % (n + 1) for n in range(i, i + 3)]
        for i in range(60_000)
    ]
    text = "".join(f"{a} {b} {c}\n" for a, b, c in rows).encode()
    assert len(text) > module._BLOCK_BYTES
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
