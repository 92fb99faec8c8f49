"""Lists of edges as other programs and people write them: headers, separators, types, no header at all."""

import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gramme.errors import DataError, FileFormatError
from gramme.io import inspect, read, read_relations, write
from gramme.io.edge_table import parse_sheets
from gramme.io.parsed import ReadOptions
from gramme.io.source import gathered


@pytest.fixture
def put(tmp_path):
    def written(text, name="g.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return written


@pytest.mark.parametrize(
    "header",
    [
        "from,to", "From,To", "SOURCE_ID,TARGET_ID", "ego,alter", "node1,node2", "Node 1,Node 2", "i,j",
        "sender,receiver", ":START_ID,:END_ID", ":START_ID(Person),:END_ID(Person)", "von,nach", "Quelle,Ziel",
        "origen,destino", "de,vers", "источник,цель", "源,目标", "fran,till", "V1,V2",
    ],
)  # fmt: skip
def test_the_ends_by_any_usual_name(put, header):
    graph, report = inspect(put(f"{header}\nAnn,Bo\nBo,Cy\n"))
    assert graph.nodes.tolist() == ["Ann", "Bo", "Cy"]
    assert graph.num_edges == 2
    first = header.split(",")[0]
    assert f"read '{first}' as source" in report.notes[0]


def test_what_gephi_exports(put):
    """Its edges table: Type is a direction, and a Relation makes layers; this file used to become one layer."""
    path = put(
        "Source,Target,Type,Id,Label,timeset,Weight,Relation\n"
        "Ann,Bo,Directed,0,,,1.0,advice\nBo,Ann,Directed,1,,,2.0,advice\nAnn,Cy,Undirected,2,,,1.0,friend\n"
    )
    graph, report = inspect(path)
    assert {name: layer.directed for name, layer in graph.layers.items()} == {"advice": True, "friend": False}
    assert graph.layers["advice"].weight.tolist() == [1, 2]
    assert report.direction == "some layers directed, some undirected, as the file says"
    assert not report.doubts


def test_relations_become_layers(put):
    graph = read(put("Source,Target,Relation\nAnn,Bo,advice\nAnn,Cy,friend\n"))
    assert list(graph.layers) == ["advice", "friend"]


def test_an_undirected_edge_among_directed_ones_goes_both_ways(put):
    graph = read(put("Source,Target,Type\na,b,Directed\nb,c,Undirected\n"))
    layer = graph.layers["edges"]
    assert layer.directed
    assert sorted(zip(layer.source.tolist(), layer.target.tolist(), strict=True)) == [(0, 1), (1, 2), (2, 1)]


def test_what_neo4j_exports(put):
    path = put(":START_ID,:END_ID,:TYPE,since:int\n1,2,KNOWS,1999\n2,3,LIKES,2001\n")
    graph, report = inspect(path)
    assert list(graph.layers) == ["KNOWS", "LIKES"]
    assert "g.csv: the column 'since:int' is not used" in report.notes


def test_a_column_that_may_hold_relations_is_told(put):
    path = put("source,target,bond\na,b,kin\nb,c,work\nc,d,kin\n")
    with pytest.warns(match="'bond' is not used; its 2 values may be relations"):
        read(path)


def test_edges_between_layers_are_not_merged_silently(put):
    text = "source,target,source_layer,target_layer\na,b,x,{}\n"
    assert list(read(put(text.format("x"))).layers) == ["x"]
    assert list(read(put(text.format("y"))).couplings) == [("x", "y")]


def test_semicolons_decimal_commas_and_old_encodings_are_said(put):
    path = put("von;nach;Gewicht\nZoë;Bo;1,5\nBo;Cy;2\n".encode("cp1252"))
    graph, report = inspect(path)
    assert graph.nodes.tolist() == ["Zoë", "Bo", "Cy"]
    assert graph.layers["edges"].weight.tolist() == [1.5, 2]
    said = "\n".join(report.notes)
    assert "read as Windows-1252" in said
    assert "read with ; between the cells" in said


@pytest.mark.parametrize(
    ("text", "layers", "weighted"),
    [
        ("Ann,Bo\nBo,Cy\n", ["edges"], False),
        ("Ann,Bo,2\nBo,Cy,1\n", ["edges"], True),
        ("Ann,Bo,advice\nBo,Cy,advice\nCy,Ann,friend\n", ["advice", "friend"], False),
        ("l1,Ann,Bo,2\nl1,Bo,Cy,1\nl2,Cy,Di,1\n", ["l1", "l2"], True),
    ],
)
def test_lists_without_a_header(put, text, layers, weighted):
    with pytest.raises(FileFormatError, match=r"--no-header|header"):
        read(put(text))
    graph, report = inspect(put(text), header=False)
    assert list(graph.layers) == layers
    assert graph.layers[layers[0]].weighted == weighted
    assert "Ann" in graph.nodes
    assert "read 'column" in report.notes[0]


def test_too_many_columns_without_a_header(put):
    with pytest.raises(FileFormatError, match="there are 5 columns"):
        read(put("a,b,c,d,e\n"), header=False)


def test_decimal_commas_are_said_and_thousands_refused_as_written(put):
    graph, report = inspect(put("from;to;weight\na;b;1,5\nb;c;2\n"))
    assert graph.layers["edges"].weight.tolist() == [1.5, 2]
    assert "g.csv: read with decimal commas, 1,5 as a number" in report.notes
    with pytest.raises(FileFormatError, match=r"the weight '1\.234,5' is not a number"):
        read(put("from;to;weight\na;b;1.234,5\n"))


def test_a_weight_that_is_not_known_is_none(put):
    with pytest.raises(FileFormatError, match="line 2: this edge has no weight"):
        read(put("from,to,weight\na,b,NA\nb,c,2\n"))
    assert not read(put("from,to,weight\na,b,NA\nb,c,NA\n")).layers["edges"].weighted


def test_numbers_that_may_be_weights_are_told(put):
    with pytest.warns(match="'w' is not used; if it says how strong a tie is, call the column 'weight'"):
        read(put(",from,to,w\n1,a,b,3\n2,b,c,NA\n"))


def test_edges_to_nobody_are_told(put):
    with pytest.warns(match="2 edges have the node 'NA'; if it means nobody, leave these rows out"):
        assert "NA" in read(put("ego,alter\na,NA\nb,NA\na,b\n")).nodes
    assert not inspect(put("source,target\na,NA\nb,a\n"))[1].doubts, "as gramme itself writes it"


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
    assert read(f"sqlite:{tmp_path}/g.db?query=SELECT a AS source, b AS target FROM ties").num_edges == 1


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


MEETINGS = "student_a,student_b,minutes,kind\nAnn,Bo,3,chat\nBo,Cy,5,lunch\n"


@pytest.mark.parametrize("name", ["m.csv", "m.xlsx", "m.parquet", "m.db"])
def test_columns_can_be_named(tmp_path, name):
    path = tmp_path / name
    table = pd.read_csv(io.StringIO(MEETINGS))
    if name == "m.csv":
        path.write_text(MEETINGS)
    elif name == "m.xlsx":
        table.to_excel(path, index=False)
    elif name == "m.parquet":
        table.to_parquet(path)
    else:
        with closing(sqlite3.connect(path)) as database:
            table.to_sql("meetings", database, index=False)
    said = {"source": "student_a", "target_column": "student_b", "weight": "minutes", "layer": "kind"}
    graph = read(path, **said)
    assert list(graph.layers) == ["chat", "lunch"]
    assert graph.layers["lunch"].weight.tolist() == [5.0]
    with pytest.raises(DataError, match=r"no column 'minute'.*did you mean 'minutes'"):
        read(path, **said | {"weight": "minute"})
    with pytest.raises(DataError, match="name the columns of both ends"):
        read(path, weight="minutes")


def test_the_message_about_an_unknown_header_names_the_options(tmp_path):
    (tmp_path / "m.csv").write_text("student_a,student_b,weight\nAnn,Bo,3\n")
    with pytest.raises(DataError, match="source and target_column"):
        read(tmp_path / "m.csv")


@pytest.mark.parametrize("name", ["pairs.txt", "pairs.tsv"])
@pytest.mark.parametrize("rows", [["1 2", "2 3", "3 17"], ["Ann Bo 2", "Bo Cy 1", "Cy Di 4"]])
def test_a_list_without_a_header_is_read_and_said(tmp_path, name, rows):
    mark = "\t" if name.endswith("tsv") else " "
    (tmp_path / name).write_text("\n".join(rows).replace(" ", mark) + "\n")
    graph, report = inspect(tmp_path / name)
    assert graph.num_edges == 3
    assert graph.layers["edges"].weighted == (len(rows[0].split()) == 3)
    assert any("read without a header" in doubt for doubt in report.doubts)


def test_relations_are_read_by_the_same_function(tmp_path):
    (tmp_path / "pa.csv").write_text("paper,author\np1,Ann\np2,Ann\n")
    files = {("paper", "author"): tmp_path / "pa.csv"}
    assert read(files, target="paper") == read_relations(files, target="paper")


CALLS = "source,target,minutes,kind,layer\na,b,3,call,x\nb,c,8,visit,x\nc,c,1,call,x\nc,d,NA,call,y\n"
FEATURES = ("minutes", "kind=call", "kind=visit")


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "xlsx"])
def test_further_columns_become_features_of_the_edges(tmp_path, ending):
    table = pd.read_csv(io.StringIO(CALLS))
    path = tmp_path / f"g.{ending}"
    if ending in ("csv", "tsv"):
        table.to_csv(path, sep="," if ending == "csv" else "\t", index=False)
    else:
        table.to_parquet(path) if ending == "parquet" else table.to_excel(path, index=False)
    graph, report = inspect(path, edge_features=["minutes", "kind"])
    assert [layer.feature_names for layer in graph.layers.values()] == [FEATURES, FEATURES]
    assert graph.layers["x"].features.tolist() == [[3, 1, 0], [8, 0, 1]]
    assert graph.layers["y"].features.tolist() == [[4, 1, 0]]  # an unknown number is the mean of all rows
    assert not any("not used" in note for note in report.notes)
    assert inspect(path)[0].layers["x"].features is None


def test_features_of_edges_go_with_their_edges_in_any_direction_and_order(tmp_path):
    text = "source,target,Type,when\nb,a,Undirected,1\na,c,Directed,2\nc,b,Directed,5\n"
    (tmp_path / "g.csv").write_text(text)
    layer = read(tmp_path / "g.csv", edge_features=["when"]).layers["edges"]
    ends = zip(layer.source.tolist(), layer.target.tolist(), layer.features[:, 0].tolist(), strict=True)
    assert sorted(ends) == [(0, 1, 1.0), (1, 0, 1.0), (1, 2, 2.0), (2, 0, 5.0)]  # nodes b, a, c


def test_features_of_edges_from_several_files_and_beside_couplings(tmp_path):
    (tmp_path / "a.csv").write_text("source,target,when\na,b,1\n")
    (tmp_path / "b.csv").write_text("source,target,kind\na,c,red\n")
    graph = read([tmp_path / "a.csv", tmp_path / "b.csv"], edge_features=["when", "kind"])
    assert graph.layers["a"].features.tolist() == [[1, 0]]
    assert graph.layers["b"].features.tolist() == [[1, 1]]
    coupled = "source_layer,source,target_layer,target,when\nx,a,y,a,9\nx,a,y,b,7\nx,a,x,b,3\ny,a,y,b,5\n"
    (tmp_path / "c.csv").write_text(coupled)
    graph = read(tmp_path / "c.csv", edge_features=["when"])
    assert [layer.features.tolist() for layer in graph.layers.values()] == [[[3.0]], [[5.0]]]


def test_a_column_that_is_no_feature_of_edges_is_refused(tmp_path):
    (tmp_path / "g.csv").write_text("source,target,when\na,b,1\n")
    (tmp_path / "g.net").write_text("*Vertices 2\n*Edges\n1 2\n")
    write(read(tmp_path / "g.csv"), tmp_path / "g.npz")
    for name, message in (
        ("g.csv", "no column or attribute 'how' for edge_features"),
        ("g.net", "no column or attribute 'how' for edge_features"),
        ("g.npz", "leave out edge_features"),
    ):
        with pytest.raises(DataError, match=message):
            read(tmp_path / name, edge_features=["how"])
    with pytest.raises(DataError, match="relations have no features of edges"):
        read(tmp_path / "g.csv", target="paper", edge_features=["when"])


@pytest.mark.parametrize("writer", ["graphml", "gexf", "gml", "json"])
def test_attributes_of_edges_that_networkx_writes_become_features(tmp_path, writer):
    networkx = pytest.importorskip("networkx")
    edges = [("a", "b", {"minutes": 3.5, "kind": "call"}), ("b", "c", {"minutes": 8.0, "kind": "visit"})]
    graph = networkx.DiGraph(edges)
    path = tmp_path / f"g.{writer}"
    if writer == "json":
        path.write_text(json.dumps(networkx.node_link_data(graph, edges="links")))
    else:
        getattr(networkx, f"write_{writer}")(graph, path)
    layers = read(path, edge_features=["minutes"]).layers
    assert np.concatenate([layer.features for layer in layers.values()]).tolist() == [[3.5], [8.0]]


def test_naming_the_ends_leaves_the_other_columns_to_their_names(tmp_path):
    (tmp_path / "g.csv").write_text("student_a,student_b,weight,Relation\nAnn,Bo,2,chat\nBo,Cy,3,lunch\n")
    graph, report = inspect(tmp_path / "g.csv", source="student_a", target_column="student_b")
    assert list(graph.layers) == ["chat", "lunch"]
    assert graph.layers["chat"].weight.tolist() == [2]
    assert not any("not used" in note for note in report.notes)


def test_a_header_is_not_taken_for_an_edge_though_it_is_said_that_there_is_none(tmp_path):
    path = tmp_path / "ties.csv"
    path.write_text("student_a,student_b,weight\nAnn,Bo,1\nBo,Cy,2\nCy,Ann,2\n")
    with pytest.raises(FileFormatError, match="line 1: 'weight' stands above numbers"):
        read(path, header=False)
