"""Comments, white space and row names in tables of text."""

from pathlib import Path

import pytest

from gramme.io import inspect, read
from gramme.io.text_rows import text_rows, without_comments

PATH = Path("g.csv")


def test_comments_at_the_top_leave_lines_their_numbers():
    text = without_comments("# made by R\n% x\nfrom,to\na,b\n", PATH)
    assert text_rows(text, ",", PATH) == [(3, ["from", "to"]), (4, ["a", "b"])]


def test_a_comment_further_down_has_one_cell():
    rows = text_rows("from,to\n# of spring\na,b\n#x,#y\n", ",", PATH)
    assert [row for _, row in rows] == [["from", "to"], ["a", "b"], ["#x", "#y"]]


@pytest.mark.parametrize("text", ["#cats,#dogs\n#dogs,#birds\n", "#a,b\n#c,d\n", "a,b\n"])
def test_names_that_start_with_the_mark_are_no_comments(text):
    assert without_comments(text, PATH) == text


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
    assert (
        "g.csv: 1 line of comment left out (# or % at the start)"
        in inspect(tmp_path / "g.csv")[1].notes
    )
