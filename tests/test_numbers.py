"""What README and docs show between markers is what their CSV files say, and the files say how they were made."""

import importlib
from pathlib import Path

import pandas as pd
import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture
def numbers(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("numbers_of_pages")


def test_pages_show_what_their_files_say(numbers):
    assert numbers.problems() == []


@pytest.fixture
def folder(numbers, tmp_path, monkeypatch):
    """A README and one file of results."""
    (tmp_path / "docs" / "results").mkdir(parents=True)
    table = pd.DataFrame({"set": ["b", "a", "a"], "percent": [10.0, 10.0, 20.0], "score": [91.256, 80.0, float("nan")]})
    table.to_csv(tmp_path / "docs" / "results" / "r.csv", index=False)
    (tmp_path / "README.md").write_text(
        "<!-- table: results/r.csv columns=set,score=Score:1 where=percent=10 sort=-score -->\n<!-- end -->\n"
        "It is <!--n:results/r.csv?set=b&score:2-->0<!--/n--> points.\n"
    )
    monkeypatch.setattr(numbers, "ROOT", tmp_path)
    monkeypatch.setattr(numbers, "DOCS", tmp_path / "docs")
    monkeypatch.setattr(numbers, "SOURCES", tmp_path / "docs" / "results" / "sources.csv")
    numbers.note(tmp_path / "docs" / "results" / "r.csv", "python make.py")
    return tmp_path


def test_tables_and_numbers_are_made_from_a_file(numbers, folder):
    assert numbers.problems() == ["README.md shows other numbers than its files; run make numbers"]
    assert numbers.render_all() == ["README.md"]
    assert (folder / "README.md").read_text().splitlines()[1:] == [
        "| set | Score |",
        "|---|---:|",
        "| b | 91.3 |",
        "| a | 80.0 |",
        "<!-- end -->",
        "It is <!--n:results/r.csv?set=b&score:2-->91.26<!--/n--> points.",
    ]
    assert numbers.render_all() == []
    assert numbers.problems() == []


def test_means_side_by_side(numbers, folder):
    shown = numbers.rendered("<!-- table: results/r.csv rows=set pivot=percent value=score:1 -->\n<!-- end -->")
    assert shown.splitlines()[1:-1] == ["| set | 10.0 |", "|---|---:|", "| b | 91.3 |", "| a | 80.0 |"]


def test_a_number_that_somebody_typed_and_a_file_without_a_source_are_found(numbers, folder):
    numbers.render_all()
    page = folder / "README.md"
    page.write_text(page.read_text().replace("80.0", "88.0"))
    assert "shows other numbers" in numbers.problems()[0]
    numbers.render_all()
    numbers.SOURCES.write_text("file,command,commit,machine,date\nresults/r.csv,make,,here,2020-01-01\n")
    assert numbers.problems() == ["docs/results/sources.csv does not say command, commit and machine of results/r.csv"]


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ("<!--n:results/r.csv?percent=10&score:1-->0<!--/n-->", "2 rows of results/r.csv fit"),
        ("<!--n:results/r.csv?set=c&score:1-->0<!--/n-->", "0 rows of results/r.csv fit"),
    ],
)
def test_a_number_without_one_row_is_an_error(numbers, folder, marker, message):
    with pytest.raises(ValueError, match=message):
        numbers.rendered(marker)


def test_a_marker_that_cannot_be_read_is_said(numbers, folder):
    numbers.render_all()
    with (folder / "README.md").open("a") as page:
        page.write("<!-- table: results/r.csv -->\nwithout an end\n<!--n:results/r.csv?set=b&score-->1<!--/n-->\n")
    assert "README.md has a marker that cannot be read" in numbers.problems()
