"""Files of pairs: names as the graph has them, a layer or all of them, and what is wrong with its line."""

import pytest

from gramme.cli.links_steps import _read_pairs
from gramme.errors import DataError, FileFormatError


def test_nodes_that_are_numbers_are_found_by_their_text(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("source,target\n1,2\n")
    table = _read_pairs(path, {"1": 1, "2": 2}, ["talk"])
    assert table[["source", "target"]].to_numpy().tolist() == [[1, 2]]
    assert table["layer"].tolist() == [""], "no layer means every layer"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "has no column 'source'"),
        ("source,target\n1,2\n1,zz\n", "line 3: there is no node 'zz' in the data"),
        ("", "is no CSV file of pairs"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(tmp_path, text, message):
    path = tmp_path / "pairs.csv"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=message):
        _read_pairs(path, {"1": 1, "2": 2}, ["talk"])


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match="there is no file"):
        _read_pairs(tmp_path / "none.csv", {}, [])
