import pytest

from gramme.errors import DataError, FileFormatError
from gramme.io.attributes import parse_attributes, read_attributes

TEXT = "node,label,age,feature_1\nann,left,30,0.5\nbob,,40,1.5\n"


@pytest.fixture
def table(tmp_path):
    return parse_attributes(TEXT, tmp_path / "people.csv", ",")


def test_names_labels_and_features(table):
    assert table.names() == ["ann", "bob"]
    assert table.labels(table.names(), None) == {"ann": "left"}
    assert table.labels(table.names(), "age") == {"ann": "30", "bob": "40"}
    assert table.features(["feature_1", "age"]).tolist() == [[0.5, 30.0], [1.5, 40.0]]
    assert table.features([]) is None


def test_which_columns_are_features(table):
    assert table.feature_columns(None, None, ["node"], every=True) == ["age", "feature_1"]
    assert table.feature_columns(None, None, ["node"], every=False) == ["feature_1"]
    assert table.feature_columns(None, "age", ["node"], every=True) == ["label", "feature_1"]
    assert table.feature_columns("age", None, ["node"], every=True) == ["age"]


def test_a_mistyped_column_and_a_cell_that_is_no_number(table):
    with pytest.raises(DataError, match="has no column 'labl'; did you mean 'label'"):
        table.column("labl")
    with pytest.raises(FileFormatError, match=r"people.csv, line 2: the feature 'label': 'left'"):
        table.features(["label"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("node,a\nx,1\nx,2\n", "line 3: 'x' is here for the second time, after line 2"),
        ("node,a\n,1\n", "line 2: the node is missing"),
    ],
)
def test_names_are_filled_and_distinct(tmp_path, text, words):
    with pytest.raises(FileFormatError, match=words):
        parse_attributes(text, tmp_path / "p.csv", ",").names()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,a\n1,2\n", "line 1: a column is named twice"),
        ("a,b\n1\n", "line 2: there are 1 cells, but the header names 2 columns: a, b"),
        ("\n\n", "the file is blank"),
    ],
)
def test_what_is_no_table(tmp_path, text, words):
    with pytest.raises(FileFormatError, match=words):
        parse_attributes(text, tmp_path / "p.csv", ",")


def test_the_separator_is_told_by_name_or_first_line(tmp_path):
    for name, text in [("a.tsv", "node\tx\nb c\t1\n"), ("a.txt", 'node x\n"b c" 1\n')]:
        (tmp_path / name).write_text(text)
        assert read_attributes(tmp_path / name, "utf-8").rows == [["b c", "1"]]
