from pathlib import Path

import pytest

from gramme import io
from gramme.errors import FileFormatError
from gramme.io.matrix_rows import find_matrix, matrix_layer
from gramme.io.source import gathered

PATH = Path("ties.csv")


def rows(text):
    return [(line, row.split(",")) for line, row in enumerate(text.splitlines(), 1)]


def read(text, **options):
    matrix = find_matrix(rows(text), PATH, **options)
    if matrix is None:
        return None
    with gathered():
        return matrix_layer(matrix)


def edges(parsed):
    return sorted(
        (parsed.rows.nodes[a], parsed.rows.nodes[b], w)
        for a, b, w in zip(parsed.rows.source, parsed.rows.target, parsed.rows.weight, strict=True)
    )


def test_a_symmetric_matrix_with_names_is_undirected():
    found = read(",a,b\na,0,2\nb,2,0")
    assert edges(found) == [("a", "b", 2.0)]
    assert found.directed is False


def test_columns_may_stand_in_another_order_and_the_corner_may_be_missing():
    found = read("b,a\na,1,0\nb,0,0")
    assert edges(found) == [("a", "b", 1.0)]
    assert found.directed is True


def test_a_square_without_names_is_numbered_from_1():
    found = read("0,1,0\n1,0,1\n0,1,0")
    assert found.nodes == ["1", "2", "3"]
    assert edges(found) == [("1", "2", 1.0), ("2", "3", 1.0)]


def test_other_names_in_columns_are_groups():
    found = read(",chess,go\nann,1,0\nbob,1,1\ncid,0,0")
    groups = found.groups["ties"]
    assert list(zip(groups.nodes, groups.groups, strict=True)) == [("ann", "chess"), ("bob", "chess"), ("bob", "go")]
    assert found.nodes == ["ann", "bob", "cid"]


@pytest.mark.parametrize("text", ["1,2\n3,4", "name,age,height\nann,30,170\nbob,40,180", "a,b"])
def test_what_is_no_matrix_unless_the_user_insists(text):
    assert read(text) is None


def test_the_user_may_insist_but_not_on_anything():
    assert edges(read("0,2\n3,0", insist=True)) == [("1", "2", 2.0), ("2", "1", 3.0)]
    with pytest.raises(FileFormatError, match="this is not a matrix"):
        read("x,y\nz", insist=True)


def test_negative_ties_name_their_line():
    with pytest.raises(FileFormatError, match=r"ties\.csv, line 3: '-1' is not allowed here"):
        read(",a,b\na,0,1\nb,-1,0")


def test_an_incidence_without_names_where_it_is_insisted_on(tmp_path):
    (tmp_path / "went.csv").write_text("1,0\n1,1\n0,1\n")
    with pytest.raises(FileFormatError, match="--from matrix"):
        io.read(tmp_path / "went.csv")
    with pytest.warns(match="3 nodes and 2 groups, without names"):
        graph = io.read(tmp_path / "went.csv", format="matrix")
    assert graph.nodes.tolist() == ["1", "2", "3"]
    assert list(graph.layers["went"].group_names) == ["group 1", "group 2"]


def test_names_that_are_numbers_where_it_is_insisted_on(tmp_path):
    (tmp_path / "g.csv").write_text("0,7,8,9\n7,0,1,0\n8,1,0,1\n9,0,1,0\n")
    assert io.read(tmp_path / "g.csv", format="matrix").nodes.tolist() == ["1", "2", "3", "4"]
    (tmp_path / "g.csv").write_text(",7,8,9\n7,0,1,0\n8,1,0,1\n9,0,1,0\n")
    assert io.read(tmp_path / "g.csv", format="matrix").nodes.tolist() == ["7", "8", "9"]


def test_decimal_commas_are_said(tmp_path):
    (tmp_path / "g.csv").write_text(";a;b\na;0;1,5\nb;1,5;0\n")
    graph, report = io.inspect(tmp_path / "g.csv")
    assert graph.layers["edges"].weight.tolist() == [1.5]
    assert "g.csv: read with decimal commas, 1,5 as a number" in report.notes


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (",a,b,c\na,0,1,0\nb,1,0,1", "there is no row for 'c'"),
        (",a,b\na,0,1\nb,1,0\nc,0,1", "there is no column for 'c'"),
        (",a,b,b\na,0,1,0\nb,1,0,1\nb,0,1,0", "two rows are called 'b'"),
        (",a,b,c,c\na,0,1,0,0\nb,1,0,1,0\nc,0,0,0,1", "two columns are called 'c'"),
        (",a,b,c\na,0,1,0\nb,1,0,1\n,0,1,0", "a row has no name"),
        (",Ann,Bo,Cy\nann,0,1,0\nbo,1,0,1\ncy,0,1,0", "there is no row for 'Ann', 'Bo', 'Cy'"),
    ],
)
def test_a_matrix_of_ties_with_a_fault_in_its_names(text, problem):
    """Never read as people in groups, which other names in rows and columns would be."""
    with pytest.raises(FileFormatError, match=rf"needs a row and a column for every node, but {problem}"):
        read(text)


def test_a_cell_that_is_no_number_is_named():
    with pytest.raises(FileFormatError, match=r"ties\.csv, line 3: 'x' in the column 'a' of a matrix"):
        read(",a,b\na,0,1\nb,x,0")


def test_ties_that_are_not_known_are_none_which_is_said():
    """R writes NA on the diagonal as well, where nothing is meant by it, and a dot for a zero."""
    with gathered() as notes:
        found = read(",a,b,c\na,NA,1,NA\nb,1,NA,.\nc,0,1,NA")
    assert edges(found) == [("a", "b", 1.0), ("b", "a", 1.0), ("c", "b", 1.0)]
    assert "ties.csv: 1 tie that is not known (NA) read as no tie" in notes.all
