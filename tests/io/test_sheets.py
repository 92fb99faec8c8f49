"""Several tables of one file."""

from pathlib import Path

import pytest

from gramme.errors import FileFormatError
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
