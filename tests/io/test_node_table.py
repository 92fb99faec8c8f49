"""Edges plus attributes, the standard dataset: the other columns of a table of nodes become what they are."""

import numpy as np
import pandas as pd
import pytest

from gramme.errors import DataError, FileFormatError
from gramme.io import inspect, read
from gramme.io.node_table import node_columns, parse_attributes, read_attributes
from gramme.io.parsed import ReadOptions

TEXT = "node,label,age,feature_1\nann,left,30,0.5\nbob,,40,1.5\n"


@pytest.fixture
def table(tmp_path):
    return parse_attributes(TEXT, tmp_path / "people.csv", ",")


def test_names_labels_and_features(table):
    assert table.names() == ["ann", "bob"]
    assert table.labels(table.names(), None) == {"ann": "left"}
    assert table.labels(table.names(), "age") == {"ann": "30", "bob": "40"}


def test_a_mistyped_column_and_a_cell_that_is_no_number(table):
    with pytest.raises(DataError, match="has no column 'labl'; did you mean 'label'"):
        table.column("labl")
    broken = parse_attributes("node,feature_1\nann,left\n", table.path, ",")
    with pytest.raises(FileFormatError, match=r"people.csv, line 2: the feature 'feature_1': 'left'"):
        node_columns(broken, ["ann"], {"node"}, ReadOptions())


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


PEOPLE = """person,Team,Gender,Age,Joined,Town,Note
Ann,red,f,31,2019-05-01,Ulm,likes tea
Bo,blue,m,,2020-03-12,Ulm,came late
Cy,NA,m,44,2021-07-30,Ulm,knows all
Di,red,f,27,2021-08-01,Ulm,
"""


@pytest.fixture
def office(tmp_path):
    (tmp_path / "office.csv").write_text("source,target\nAnn,Bo\nBo,Cy\nCy,Di\n")
    (tmp_path / "people.csv").write_text(PEOPLE)

    def opened(text=PEOPLE, name="people.csv", **options):
        (tmp_path / name).write_text(text)
        return inspect(tmp_path / "office.csv", labels=tmp_path / name, **options)

    return opened


def test_text_and_blank_ages_are_no_dead_end(office):
    graph, report = office(label="Team")
    assert graph.labels.tolist() == ["red", "blue", None, "red"]
    assert list(graph.layers) == ["edges", "Gender", "Joined"]
    assert graph.layers["Gender"].num_groups == 2
    assert list(graph.layers["Joined"].group_names) == ["2019", "2020", "2021"]
    np.testing.assert_array_equal(graph.features, [[31], [31], [44], [27]])
    said = "\n".join(report.notes)
    assert "'Age' is a feature, a number; 1 unknown, filled with the median" in said
    assert "'Gender' is a layer of 2 groups (features=['Gender'] makes it features)" in said
    assert "'Joined' is a layer of 3 groups, dates by year (features=" in said
    assert "'Town' is not used, its only value is 'Ulm'" in said
    assert "'Note' is not used, its values are all different" in said
    assert "1 label read as unknown: NA" in said


def test_the_user_chooses(office):
    graph, _ = office(label="Team", columns=["Gender"])
    assert graph.features is None
    assert list(graph.layers) == ["edges", "Gender"]
    graph, _ = office(label="Team", features=["Gender", "Age"])
    np.testing.assert_array_equal(graph.features[:, :2], [[1, 0], [0, 1], [0, 1], [1, 0]])
    assert list(graph.layers) == ["edges"]
    graph, _ = office(label="Team", layers_from=["Town", "Age"], features=["Gender"])
    assert list(graph.layers) == ["edges", "Town", "Age"]
    assert graph.features.shape == (4, 2)
    with pytest.raises(DataError, match="no column 'Gendre'; did you mean 'Gender'"):
        office(label="Team", features=["Gendre"])
    with pytest.raises(DataError, match="both a feature and a layer"):
        office(label="Team", features=["Age"], layers_from=["Age"])


def test_a_column_with_the_name_of_a_layer(office):
    graph, _ = office("person,Team,edges\nAnn,a,x\nBo,b,x\nCy,a,y\nDi,b,y\n", label="Team")
    assert list(graph.layers) == ["edges", "edges (attribute)"]


def test_the_names_need_not_come_first(office):
    text = "Team;Alter;Name\nred;1,5;Ann\nblue;2,5;Bo\nred;3;Cy\nred;4;Di\n"
    graph, report = office(text, label="Team")
    assert graph.labels.tolist() == ["red", "blue", "red", "red"]
    np.testing.assert_array_equal(graph.features, [[1.5], [2.5], [3], [4]])
    assert "people.csv: read with ; between the cells" in report.notes
    assert office(text, label="Team", id="Name")[0] == graph


def test_names_that_only_one_side_knows_are_said(office):
    text = "person,Team,Age\nAnn,x,1\nBo,y,2\nCy,x,3\nZoe,y,9\n"
    graph, report = office(text, label="Team")
    assert graph.nodes.tolist() == ["Ann", "Bo", "Cy", "Di", "Zoe"]
    assert "people.csv: 1 node of the edges has no row in it" in report.doubts
    assert report.doubts[-2].startswith("people.csv: 1 of its rows becomes a node without edges")
    assert report.doubts[-2].endswith(": 'Zoe'")
    with pytest.raises(FileFormatError, match="'Eve' is not in the graph"):
        office("id,Team,Age\nAnn,x,1\nEve,y,2\nZoe,x,3\n", label="Team")


@pytest.mark.parametrize("ending", ["xlsx", "parquet"])
def test_tables_that_pandas_wrote(office, tmp_path, ending):
    frame = pd.read_csv(tmp_path / "people.csv", keep_default_na=False)
    path = tmp_path / f"people.{ending}"
    frame.to_excel(path, index=False) if ending == "xlsx" else frame.to_parquet(path)
    graph, _ = inspect(tmp_path / "office.csv", labels=path, label="Team")
    assert graph == office(label="Team")[0]


AGES = "node,label\n" + "".join(f"n{row},{18 + row * 7 % 60}\n" for row in range(200))


@pytest.fixture
def ages(tmp_path):
    edges = "".join(f"n{row},n{row + 1}\n" for row in range(199))
    (tmp_path / "g.csv").write_text("source,target\n" + edges)
    (tmp_path / "ages.csv").write_text(AGES)
    return tmp_path / "g.csv", tmp_path / "ages.csv"


def test_labels_that_are_amounts_are_refused(ages):
    edges, labels = ages
    with pytest.raises(DataError, match=r"60 different values on 200 nodes.*label_bins=4"):
        read(edges, labels=labels)
    assert len(read(edges, labels=labels, label_kind="class").classes) == 60
    sizes = pd.Series(read(edges, labels=labels, label_bins=4).labels).value_counts()
    assert len(sizes) == 4
    assert sizes.min() > 30
    cut = read(edges, labels=labels, label_edges=[30, 60])
    assert set(cut.classes) == {"below 30", "[30, 60)", "60 and above"}
    assert cut.labels[0] == "below 30"
    assert read(edges, labels=labels, label_kind="number").labels[1] == 25.0
    with pytest.raises(DataError, match="say one of"):
        read(edges, labels=labels, label_bins=2, label_kind="class")


def test_a_word_among_amounts_is_named(ages):
    edges, labels = ages
    labels.write_text(AGES.replace("n3,39", "n3,old"))
    with pytest.raises(DataError, match=r"label 'old' of 'n3' is not a number.*missing=.'old'."):
        read(edges, labels=labels, label_bins=3)


def test_names_that_differ_in_spaces_alone_are_told(tmp_path):
    (tmp_path / "g.csv").write_text('source,target\nAnn,Bo\n"Ann ",Cy\n')
    graph, report = inspect(tmp_path / "g.csv")
    assert graph.num_nodes == 4
    assert report.doubts == (
        "the names 'Ann' and 'Ann ' differ in case, spaces, zeros or invisible characters alone and are two nodes",
    )


def test_spaces_around_names_without_quotes_are_left_out(tmp_path):
    (tmp_path / "g.csv").write_text("source , target\nAnn, Bo\nAnn ,Cy \n Bo,Ann\n")
    graph, report = inspect(tmp_path / "g.csv")
    assert graph.nodes.tolist() == ["Ann", "Bo", "Cy"]
    assert "g.csv: blanks around cells left out" in report.notes


@pytest.mark.parametrize("name", ["", "X", "rownames"])
def test_row_numbers_that_r_writes_are_no_feature(office, name):
    rows = PEOPLE.splitlines()
    numbered = [f"{name},{rows[0]}", *(f"{k},{row}" for k, row in enumerate(rows[1:], start=1))]
    graph, report = office("\n".join(numbered), label="Team")
    assert any("it only numbers the rows" in note for note in report.notes)
    np.testing.assert_array_equal(graph.features, [[31], [31], [44], [27]])


@pytest.fixture
def club(tmp_path):
    """Read 34 numbered nodes in a ring with the given table as labels."""
    pairs = "".join(f"{node},{node % 34 + 1}\n" for node in range(1, 35))
    (tmp_path / "ties.csv").write_text("source,target\n" + pairs)

    def read_with(table, label="club", name="members.csv", **options):
        (tmp_path / name).write_text(table)
        return inspect(tmp_path / "ties.csv", labels=tmp_path / name, label=label, **options)

    return read_with


def by_node(graph):
    return dict(zip(graph.nodes, graph.labels, strict=True))


def shuffled_members(header, numbered=lambda row, name: row):
    names = [(7 * row) % 34 + 1 for row in range(34)]
    rows = (
        f'"{numbered(row, name)}","{name}","{"left" if name < 18 else "right"}",{name % 5}\n'
        for row, name in enumerate(names, start=1)
    )
    return header + "\n" + "".join(rows)


@pytest.mark.parametrize(
    ("header", "numbered"),
    [
        ('"","name","club","age"', lambda row, name: row),  # write.csv
        ('"","name","club","age"', lambda row, name: 35 - row),  # write.csv of sorted rows
        ('"","student","club","age"', lambda row, name: row),
        ('"Unnamed: 0","student","club","age"', lambda row, name: row - 1),  # pandas, twice
        ('"rownames","student","club","age"', lambda row, name: row),
        ('"id","student","club","age"', lambda row, name: f"p{row}"),  # of another study
        ('"id","student","club","age"', lambda row, name: row + 5),  # 29 of 34 happen to be nodes
    ],
)
def test_row_numbers_are_no_names_of_nodes(club, header, numbered):
    graph, report = club(shuffled_members(header, numbered))
    wanted = ["left" if int(node) < 18 else "right" for node in graph.nodes]
    assert graph.labels.tolist() == wanted
    name = header.split(",")[1].strip('"')
    assert f"members.csv: the column {name!r} names the nodes" in report.notes


def test_two_columns_that_could_name_the_nodes_are_asked_about(club):
    table = shuffled_members("id,name,club,age", lambda row, name: row)
    with pytest.raises(FileFormatError, match=r"'id' and 'name' could both name the nodes.* id"):
        club(table)
    assert by_node(club(table, id="name")[0]) == {str(node): "left" if node < 18 else "right" for node in range(1, 35)}
    assert by_node(club(table, id="id")[0]) != by_node(club(table, id="name")[0])


def test_row_numbers_that_are_all_there_is_are_a_doubt(club):
    rows = "".join(f'"{row}","{"left" if row < 18 else "right"}"\n' for row in range(1, 35))
    graph, report = club('"","club"\n' + rows)
    assert graph.labels[16:18].tolist() == ["left", "right"]
    assert any("row numbers are taken as names" in doubt for doubt in report.doubts)


@pytest.mark.parametrize("columns", [2, 3])
def test_extra_people_are_said(club, columns):
    header = ["node", "club", "age"][:columns]
    rows = [[str(node), "left" if node < 18 else "right", "3"][:columns] for node in range(1, 37)]
    graph, report = club("\n".join(map(",".join, [header, *rows])) + "\n")
    assert graph.num_nodes == 36
    assert any("2 of its rows become nodes without edges" in doubt for doubt in report.doubts)


@pytest.mark.parametrize("where", ["nodes", "companion"])
def test_a_table_of_all_nodes_is_read_alike(tmp_path, club, where):
    graph, _ = club(shuffled_members('"","student","club","age"'))
    name = "all.csv" if where == "nodes" else "ties.nodes.csv"
    (tmp_path / name).write_text(shuffled_members('"","student","club","age"'))
    options = {"nodes": tmp_path / name} if where == "nodes" else {}
    again, _ = inspect(tmp_path / "ties.csv", label="club", **options)
    assert by_node(again) == by_node(graph)


@pytest.mark.parametrize("option", ["features", "layers_from"])
@pytest.mark.parametrize("column", ["team", "name"])
def test_neither_the_label_nor_the_name_can_be_a_feature_or_a_layer(tmp_path, option, column):
    (tmp_path / "g.csv").write_text("source,target\na,b\nb,c\n")
    (tmp_path / "people.csv").write_text("name,team,age\na,red,1\nb,blue,2\nc,red,3\n")
    with pytest.raises(DataError, match=f"the column '{column}' is the label or the name of the nodes"):
        read(tmp_path / "g.csv", labels=tmp_path / "people.csv", label="team", **{option: [column]})
    graph = read(tmp_path / "g.csv", labels=tmp_path / "people.csv", label="team", columns=["age", "team"])
    assert graph.features.tolist() == [[1], [2], [3]]
    assert list(graph.layers) == ["edges"]


def test_a_table_as_write_table_has_it(tmp_path):
    (tmp_path / "g.csv").write_text("source,target\n1,2\n2,3\n")
    (tmp_path / "people.txt").write_text('"name" "club"\n"1" 3 "x"\n"2" 1 "y"\n"3" 2 "z"\n')
    graph = read(tmp_path / "g.csv", labels=tmp_path / "people.txt", label="club")
    assert dict(zip(graph.nodes, graph.labels, strict=True)) == {"1": "y", "2": "z", "3": "x"}


def test_a_number_and_the_same_with_zeros_are_told(tmp_path):
    """Pandas writes 7.0 for 7 in a column of ids with gaps."""
    (tmp_path / "g.csv").write_text("source,target\n7,8\n8,7.0\n")
    _, report = inspect(tmp_path / "g.csv")
    assert "'7' and '7.0' differ in case, spaces, zeros" in report.doubts[0]
