from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramme.errors import FileFormatError
from gramme.io.delimited import cells, format_row, format_table, separator_of

PATH = Path("table.csv")


def test_a_row_has_the_line_it_starts_on():
    text = 'a,b\n\n"two\nlines",c\nd,e\n'
    assert list(cells(text, ",", PATH)) == [
        (1, ["a", "b"]),
        (3, ["two\nlines", "c"]),
        (5, ["d", "e"]),
    ]


def test_a_quoted_blank_is_a_row_and_a_blank_line_is_none():
    assert [row for _, row in cells('""\n\n \n', ",", PATH)] == [[""]]


def test_a_broken_quote_names_its_line():
    with pytest.raises(FileFormatError, match=r"table.csv, line 2: not readable as a table"):
        list(cells('a\n"b"c\n', ",", PATH))


# surrogates cannot be in a file, and NUL is not text to Python's csv
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@given(st.lists(st.lists(TEXTS, min_size=2, max_size=2), max_size=5), st.sampled_from(",\t"))
def test_what_is_written_reads_back(rows, separator):
    text = format_table(["x", "y"], rows, separator)
    assert [row for _, row in cells(text, separator, PATH)] == [["x", "y"], *rows]


def test_quotes_only_where_they_must_be():
    assert format_row(["a b", " c", 'd"e', "f\tg"], ",") == 'a b," c","d""e","f\tg"\n'


@pytest.mark.parametrize(
    ("name", "text", "separator"),
    [
        ("a.csv", "a,b;c;d", ","),
        ("a.csv", "a", ","),
        ("a.csv", "a\tb", "\t"),
        ("a.csv", '"a,b";c', ";"),
        ("a.TSV", "a,b", ","),
        ("a.TSV", "a\tb,c,d", "\t"),
        ("a.txt", "a,b\nc\td", ","),
        ("a.txt", "a\tb", "\t"),
        ("a.txt", "a b", " "),
    ],
)
def test_the_separator(name, text, separator):
    assert separator_of(Path(name), text) == separator
