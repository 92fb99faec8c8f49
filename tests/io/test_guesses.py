"""What files seem to be: ties, tables, labels; and their columns."""

from pathlib import Path

import pytest

from gramme.io.guesses import guess_columns, guess_file, guess_plan


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text", "role"),
    [
        ("a.csv", "from,to\nx,y\n", "edges"),
        ("a.csv", "layer;source;target\nk;x;y\n", "edges"),
        ("a.tsv", "ego\talter\nx\ty\n", "edges"),
        ("a.csv", "name,age\nx,3\ny,4\n", "nodes"),
        ("a.edges", "1 2\n", "edges"),
        ("a.labels", "a\nb\n", "nodes"),
        ("a.csv", "1,2\n2,3\n", "edges"),
        ("a.csv", "Ann,Bo\nBo,Ann\n", "edges"),
        ("a.csv", "", "edges"),
    ],
)
def test_what_a_file_is(tmp_path: Path, name: str, text: str, role: str) -> None:
    found = guess_file(written(tmp_path, name, text))
    assert found.role == role
    assert found.why


def test_columns_of_ties_are_named_by_what_they_are(tmp_path: Path) -> None:
    found = guess_file(written(tmp_path, "a.csv", "relation,from,to,weight,note\nk,x,y,1,z\n"))
    roles = {column.name: column.role for column in found.columns}
    assert roles == {"relation": "layer", "from": "source", "to": "target", "weight": "weight", "note": "leave out"}
    assert found.rows == [["k", "x", "y", "1", "z"]]


def roles(header: list[str], rows: list[list[str]]) -> list[str]:
    return [column.role for column in guess_columns(header, rows)]


def test_columns_of_a_table() -> None:
    rows = [[f"p{i}", str(20 + i % 9), "fm"[i % 2], "x", f"text {i}", "ab"[i % 2] if i < 5 else ""] for i in range(30)]
    header = ["who", "age", "gender", "always", "remark", "side"]
    assert roles(header, rows) == ["id", "feature", "layer", "leave out", "leave out", "label"]


def test_a_column_called_like_a_label_is_one_even_if_it_is_empty() -> None:
    assert roles(["name", "team"], [["a", ""], ["b", ""]]) == ["id", "label"]
    assert roles(["name", "team"], [["a", "x"], ["b", ""]]) == ["id", "label"]


def test_no_rows_at_all() -> None:
    assert roles(["a", "b"], []) == ["leave out", "leave out"]


def test_a_table_alone_has_groups_and_no_features(tmp_path: Path) -> None:
    table = written(tmp_path, "people.csv", "name,age\na,3\nb,4\nc,4\n")
    alone = guess_plan([table])[0]
    assert [column.role for column in alone.columns] == ["id", "layer"]
    ties = written(tmp_path, "ties.csv", "from,to\na,b\n")
    beside = {one.name: one for one in guess_plan([table, ties])}["people.csv"]
    assert [column.role for column in beside.columns] == ["id", "label"]  # the only column besides the names


def test_the_file_named_as_labels_describes_the_nodes(tmp_path: Path) -> None:
    ties = written(tmp_path, "ties.csv", "from,to\na,b\n")
    other = written(tmp_path, "other.csv", "name,age\na,3\nb,4\n")
    labels = written(tmp_path, "labels.csv", "who,what\na,x\nb,y\n")
    found = {one.name: one.role for one in guess_plan([ties, other], labels)}
    assert found == {"ties.csv": "edges", "other.csv": "leave out", "labels.csv": "nodes"}
    two = guess_plan([ties, other, labels])
    assert [one.role for one in two] == ["edges", "nodes", "leave out"]


def test_other_encodings_and_separators(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("name;größe;team\nJörg;1,5;a\nÄnne;2,5;b\n".encode("cp1252"))
    found = guess_file(path)
    assert [column.role for column in found.columns] == ["id", "feature", "label"]


def test_excel_cells_are_looked_at(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    path = tmp_path / "a.xlsx"
    pandas.DataFrame({"name": ["a", "b", "c"], "age": [1, 2, 2], "team": ["x", None, "y"]}).to_excel(path, index=False)
    found = guess_file(path)
    assert [column.role for column in found.columns] == ["id", "feature", "label"]
    assert found.rows[1][2] == ""


def test_files_that_belong_to_another_are_left_to_it(tmp_path: Path) -> None:
    written(tmp_path, "firm_multiplex.edges", "1 1 2 1\n")
    written(tmp_path, "firm_layers.txt", "layerID layerLabel\n1 advice\n")
    written(tmp_path, "firm_nodes.txt", "nodeID status\n1 a\n")
    written(tmp_path, "other_nodes.csv", "name,age\na,3\nb,4\n")
    found = {one.name: one.role for one in guess_plan(sorted(tmp_path.iterdir()))}
    assert found == {
        "firm_multiplex.edges": "edges",
        "firm_layers.txt": "leave out",
        "firm_nodes.txt": "leave out",
        "other_nodes.csv": "nodes",
    }
