from hypothesis import given
from hypothesis import strategies as st

from gramme.io.tokens import fields, quote, quoted_fields


@given(st.lists(st.text(max_size=6)))
def test_what_is_quoted_reads_back(values):
    assert quoted_fields(" ".join(map(quote, values))) == values


def test_only_spaces_and_tabs_separate():
    assert fields("a\u00a0b c\x0bd") == ["a\u00a0b", "c\x0bd"]


def test_a_quote_inside_a_word_is_part_of_it():
    assert quoted_fields('5" wide') == ['5"', "wide"]
    assert quoted_fields('"open end') == ['"open', "end"]
