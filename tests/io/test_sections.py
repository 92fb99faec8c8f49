from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramme.errors import FileFormatError
from gramme.io.sections import EDGES, NODES, TYPE, read_sections, split_cells

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
