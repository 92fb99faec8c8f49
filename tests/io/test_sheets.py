"""Several tables of one file."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from gramme.errors import FileFormatError
from gramme.io import inspect, read
from gramme.io.notes import gathered
from gramme.io.parsed import ReadOptions
from gramme.io.sheets import parse_sheets

PATH = Path("book.xlsx")
TIES = [["from", "to"], ["Ann", "Bo"], ["Bo", "Cy"]]
MATRIX = [["", "Ann", "Bo"], ["Ann", "0", "1"], ["Bo", "0", "0"]]
PEOPLE = [["who", "team", "age"], ["Ann", "x", "1"], ["Bo", "y", "2"], ["Cy", "x", "4"]]


def test_layers_and_the_table_of_their_nodes():
    found = parse_sheets({"ties": TIES, "m": MATRIX, "p": PEOPLE}, PATH, ReadOptions(label="team"))
    assert found.layers == ["ties", "m"]
    assert found.directed == {"m": True}
    assert found.labels == {"Ann": "x", "Bo": "y", "Cy": "x"}
    assert found.features.tolist() == [[1], [2], [4]]
    assert found.files == [PATH]


def test_a_table_about_something_else_is_told():
    other = [["city", "size"], ["Ulm", "1"], ["Bonn", "3"]]
    with gathered() as notes:
        found = parse_sheets({"ties": TIES, "cities": other}, PATH, ReadOptions())
    assert found.labels is None
    assert "'cities' is not used" in notes.all[-1]


def test_labels_from_elsewhere_go_before():
    found = parse_sheets({"ties": TIES, "p": PEOPLE}, PATH, ReadOptions(labels={"Ann": "z"}))
    assert found.labels is None


def test_nothing_to_make_a_layer_of():
    with pytest.raises(FileFormatError, match="header must name"):
        parse_sheets({"p": PEOPLE}, PATH, ReadOptions())
    with pytest.raises(FileFormatError, match=r"none of its tables.*p, q"):
        parse_sheets({"p": PEOPLE, "q": PEOPLE}, PATH, ReadOptions())


def test_a_database_is_told_how_to_name_its_columns(tmp_path):
    with closing(sqlite3.connect(tmp_path / "g.db")) as database, database:
        database.execute("CREATE TABLE ties (a, b)")
        database.execute("INSERT INTO ties VALUES ('x', 'y')")
    with pytest.raises(FileFormatError, match="name them in a query"):
        read(tmp_path / "g.db")
    assert (
        read(f"sqlite:{tmp_path}/g.db?query=SELECT a AS source, b AS target FROM ties").num_edges
        == 1
    )


def test_which_table_tells_about_the_nodes_is_said(tmp_path):
    with closing(sqlite3.connect(tmp_path / "g.db")) as database, database:
        database.execute("CREATE TABLE ties (node1, node2)")
        database.execute("CREATE TABLE people (who, team)")
        database.execute("INSERT INTO ties VALUES ('x', 'y')")
        database.execute("INSERT INTO people VALUES ('x', 'red'), ('y', 'blue')")
    graph, report = inspect(tmp_path / "g.db")
    assert graph.labels.tolist() == ["red", "blue"]
    assert "g.db: 'people' tells about the nodes" in report.notes
    assert "g.db, 'ties': read 'node1' as source, 'node2' as target" in report.notes
