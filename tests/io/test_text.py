"""Comments, white space and row names in tables of text."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramme.errors import FileFormatError
from gramme.io import inspect, read
from gramme.io.text import cells, fields, format_row, quote, quoted_fields, separator_of, text_rows, without_comments


@given(st.lists(st.text(max_size=6)))
def test_what_is_quoted_reads_back(values):
    assert quoted_fields(" ".join(map(quote, values))) == values


def test_only_spaces_and_tabs_separate():
    assert fields("a\u00a0b c\x0bd") == ["a\u00a0b", "c\x0bd"]


def test_a_quote_inside_a_word_is_part_of_it():
    assert quoted_fields('5" wide') == ['5"', "wide"]
    assert quoted_fields('"open end') == ['"open', "end"]


PATH = Path("table.csv")


def test_a_row_has_the_line_it_starts_on():
    text = 'a,b\n\n"two\nlines",c\nd,e\n'
    assert list(cells(text, ",", PATH)) == [(1, ["a", "b"]), (3, ["two\nlines", "c"]), (5, ["d", "e"])]


def test_a_quoted_blank_is_a_row_and_a_blank_line_is_none():
    assert [row for _, row in cells('""\n\n \n', ",", PATH)] == [[""]]


def test_a_broken_quote_names_its_line():
    with pytest.raises(FileFormatError, match=r"table.csv, line 2: not readable as a table"):
        list(cells('a\n"b"c\n', ",", PATH))


# surrogates cannot be in a file, and NUL is not text to Python's csv
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@given(st.lists(st.lists(TEXTS, min_size=2, max_size=2), max_size=5), st.sampled_from(",\t"))
def test_what_is_written_reads_back(rows, separator):
    text = "".join(format_row(row, separator) for row in [["x", "y"], *rows])
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


TEXT_ROWS_PATH = Path("g.csv")


def test_comments_at_the_top_leave_lines_their_numbers():
    text = without_comments("# made by R\n% x\nfrom,to\na,b\n", TEXT_ROWS_PATH)
    assert text_rows(text, ",", TEXT_ROWS_PATH) == [(3, ["from", "to"]), (4, ["a", "b"])]


def test_a_comment_further_down_has_one_cell():
    rows = text_rows("from,to\n# of spring\na,b\n#x,#y\n", ",", TEXT_ROWS_PATH)
    assert [row for _, row in rows] == [["from", "to"], ["a", "b"], ["#x", "#y"]]


@pytest.mark.parametrize("text", ["#cats,#dogs\n#dogs,#birds\n", "#a,b\n#c,d\n", "a,b\n"])
def test_names_that_start_with_the_mark_are_no_comments(text):
    assert without_comments(text, TEXT_ROWS_PATH) == text


def test_hashtags_without_a_header(tmp_path):
    (tmp_path / "g.csv").write_text("#cats,#dogs\n#dogs,birds\n")
    assert read(tmp_path / "g.csv", header=False).nodes.tolist() == ["#cats", "#dogs", "birds"]


def test_a_header_that_is_one_name_short(tmp_path):
    (tmp_path / "g.csv").write_text('"from","to"\n"1","a","b"\n"2","b","c"\n')
    graph, report = inspect(tmp_path / "g.csv")
    assert graph.nodes.tolist() == ["a", "b", "c"]
    assert any("read as names of rows" in note for note in report.notes)


def test_comments_are_said(tmp_path):
    (tmp_path / "g.csv").write_text("# one\nfrom,to\na,b\n")
    assert "g.csv: 1 line of comment left out (# or % at the start)" in inspect(tmp_path / "g.csv")[1].notes


@pytest.mark.parametrize("text", [" %\n inf\n\t01 ", "\t#hoir\tchess\nAnn\t1\t0\n", "\n #\n", "   # a comment\na b\n"])
def test_a_mark_behind_blanks_is_a_comment_or_a_cell(text):
    assert "a comment" not in without_comments(text, PATH)
    assert without_comments(text, PATH).count("\n") == text.count("\n")
