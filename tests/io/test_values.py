import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramme.errors import DataError
from gramme.io.values import decode, encode

PLAIN = st.none() | st.booleans() | st.integers() | st.text() | st.binary()
VALUES = st.recursive(
    PLAIN | st.floats(allow_nan=False), lambda part: st.tuples(part, part), max_leaves=6
)


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
