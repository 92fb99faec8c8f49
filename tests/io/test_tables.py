from pathlib import Path

import numpy as np
import pytest

from gramme.errors import FileFormatError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.io import inspect, read, write
from gramme.io.node_table import AttributeTable
from gramme.io.parsed import Parsed, ReadOptions, RowCollector
from gramme.io.tables import companion, take_tables, to_tables

NODES = ["a", "b", "c"]


def graph(**layers):
    return MultilayerGraph(layers, nodes=NODES)


def rows(table):
    return list(zip(*table.values(), strict=True))


def test_where_the_other_tables_stand():
    assert companion(Path("x/school.csv"), "nodes") == Path("x/school.nodes.csv")


def test_plain_edges_need_no_more_than_edges_and_nodes():
    tables = to_tables(graph(l=EdgeLayer(3, [0], [2])), "csv")
    assert rows(tables["edges"]) == [("l", "a", "c")]
    assert rows(tables["nodes"]) == [("a",), ("b",), ("c",)]
    assert [tables[name] for name in ("groups", "layers", "presence")] == [None] * 3


def test_what_is_special_about_layers_gets_its_table():
    tables = to_tables(
        graph(
            one=EdgeLayer(3, [0], [1], [2.0], directed=True, nodes=[0, 1]),
            two=EdgeLayer(3, [0], [2]),
            club=MembershipLayer(3, [0, 2], [0, 0], ["chess"]),
        ),
        "csv",
    )
    assert rows(tables["layers"]) == [
        ("one", "edges", "yes", "listed"),
        ("two", "edges", "no", "all"),
        ("club", "groups", "no", "members"),
    ]
    assert rows(tables["presence"]) == [("one", "a"), ("one", "b")]
    assert rows(tables["groups"]) == [("club", "a", "chess"), ("club", "c", "chess")]
    weights = tables["edges"]["weight"]
    assert weights[0] == 2.0
    assert np.isnan(weights[1])


def taken(**tables):
    """What is parsed after the tables, each a list of rows with its header first."""
    collector = RowCollector(Path("x.csv"))
    collector.add("talk", "a", "b", None, 2)
    parsed = Parsed([Path("x.csv")], collector.finish())
    made = {
        name: AttributeTable(Path(f"x.{name}.csv"), cells[0], cells[1:], [*range(2, len(cells) + 1)])
        for name, cells in tables.items()
    }
    take_tables(parsed, made, ReadOptions())
    return parsed


def test_the_tables_are_taken_in():
    parsed = taken(
        nodes=[["node", "label", "age"], ["a", "x", "1"], ["b", "", "2"]],
        layers=[["layer", "directed", "kind"], ["talk", "yes", "edges"], ["club", "no", "groups"]],
        groups=[["layer", "node", "group"], ["club", "b", "chess"]],
        presence=[["layer", "node"], ["talk", "a"]],
    )
    assert parsed.nodes == ["a", "b"]
    assert parsed.labels == {"a": "x"}
    assert parsed.features.tolist() == [[1.0], [2.0]]
    assert parsed.directed == {"talk": True, "club": False}
    assert parsed.groups["club"].nodes == ["b"]
    assert parsed.present == {"talk": ["a"]}


@pytest.mark.parametrize(
    ("name", "cells", "words"),
    [
        ("layers", [["layer", "directed"], ["talk", "maybe"]], "'maybe' is neither yes nor no"),
        ("layers", [["layer", "kind"], ["talk", "edge"]], "did you mean 'edges'"),
        ("groups", [["layer", "node", "group"], ["talk", "a", "g"]], "both edges and groups"),
        ("groups", [["layer", "node", "group"], ["club", "", "g"]], "'node' is empty here"),
        (
            "groups",
            [["layer", "node", "group", "weight"], ["c", "a", "g", "1"], ["c", "b", "g", ""]],
            "line 3: some memberships",
        ),
    ],
)
def test_tables_that_make_no_sense(name, cells, words):
    with pytest.raises(FileFormatError, match=words):
        taken(**{name: cells})


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_masks_come_back(tmp_path, ending):
    masks = {"train": [True, False, False], "a b": [False, False, True]}
    graph = MultilayerGraph({"l": EdgeLayer(3, [0], [1])}, nodes=list("abc"), labels=["x", "y", None], masks=masks)
    write(graph, tmp_path / f"g.{ending}")
    again = read(tmp_path / f"g.{ending}")
    assert again == graph
    assert again.masks["train"].tolist() == masks["train"]


@pytest.mark.parametrize("truth", [("True", "False"), ("TRUE", "FALSE"), ("1", "0")])
def test_masks_in_a_table_of_labels(tmp_path, truth):
    (tmp_path / "g.csv").write_text("source,target\na,b\nb,c\n")
    yes, no = truth
    rows = f"b,x,{yes},silk\na,y,{no},wool\nc,x,{no},silk\n"
    (tmp_path / "people.csv").write_text(f"node,label,train_mask,face_mask\n{rows}")
    graph, report = inspect(tmp_path / "g.csv", labels=tmp_path / "people.csv")
    assert list(graph.masks) == ["train"]
    assert graph.nodes[graph.masks["train"]].tolist() == ["b"]
    assert "people.csv: 'train_mask' is the mask 'train', of 1 nodes" in report.notes
    assert "face_mask" in graph.layers
    assert list(inspect(tmp_path / "g.csv", nodes=tmp_path / "people.csv")[0].masks) == ["train"]
    layers = inspect(tmp_path / "g.csv", labels=tmp_path / "people.csv", layers_from=["train_mask"])[0]
    assert "train_mask" in layers.layers
    assert not layers.masks
