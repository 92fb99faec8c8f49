import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramme.io.weights import format_number, parse_number, parse_weight


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
