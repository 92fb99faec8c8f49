import numpy as np
import pandas as pd
import pytest

from gramme.datasets import load
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods import GrammeFusion, Majority
from gramme.report import embedding_table, layer_table, prediction_table, tables, write_csv


@pytest.fixture(scope="module")
def fitted() -> tuple[GrammeFusion, MultilayerGraph]:
    layers = {
        "friends": EdgeLayer(6, [0, 1, 3, 4], [1, 2, 4, 5]),
        "room": MembershipLayer.from_values(["x", "x", "x", "y", "y", None]),
    }
    graph = MultilayerGraph(
        layers, nodes=["Ann", "Bo", "C, y", 'D"i', "Ée", "<f>"], labels=["l", None, None, "r", None, None]
    )
    return GrammeFusion(ensemble=3, epochs=5, random_state=0).fit(graph), graph


def test_predictions_have_the_columns_of_the_contract(fitted) -> None:
    model, graph = fitted
    table = prediction_table(model, graph)
    assert list(table.columns) == [*("node", "known", "predicted", "probability"), *("probability_l", "probability_r")]
    assert table["node"].tolist() == list(graph.nodes)
    assert table["known"].tolist()[:2] == ["l", None]
    assert (table["predicted"] == model.predict()).all()
    rows = table[["probability_l", "probability_r"]].to_numpy()
    assert np.allclose(rows.sum(axis=1), 1)
    assert (table["probability"] == rows.max(axis=1)).all()


def test_predictions_for_another_graph(fitted) -> None:
    model, graph = fitted
    part = graph.subgraph(["Bo", "Ann"])
    table = prediction_table(model, part)
    assert table["node"].tolist() == ["Bo", "Ann"]
    assert table["known"].tolist() == [None, "l"]


def test_a_graph_without_labels_knows_none(fitted) -> None:
    model, graph = fitted
    assert prediction_table(model, graph.replace(labels=None))["known"].isna().all()


def test_layers_and_their_spread(fitted) -> None:
    table = layer_table(fitted[0])
    assert list(table.columns) == ["layer", "importance", "spread"]
    assert table["layer"].tolist() == ["friends", "room"]
    assert table["importance"].sum() == pytest.approx(1)


def test_embedding_has_a_row_per_node(fitted) -> None:
    model, graph = fitted
    table, note = embedding_table(model)
    assert note == ""
    assert table.shape == (6, 1 + 3 * model.hidden_dim)
    assert table["node"].tolist() == list(graph.nodes)


def test_of_a_large_embedding_the_first_member_is_given(fitted, monkeypatch) -> None:
    model, _ = fitted
    monkeypatch.setattr(tables, "MAX_EMBEDDING_CELLS", 100)
    table, note = embedding_table(model)
    assert table.shape == (6, 1 + model.hidden_dim)
    assert "first of 3 members" in note
    assert (table["e0"] == model.embedding_[:, 0]).all()


def test_names_that_are_numbers_are_written_whole(tmp_path) -> None:
    layer = EdgeLayer(4, [0, 2], [1, 3])
    graph = MultilayerGraph({"a": layer}, nodes=[12345678.5, 2.0, 3.0, 4.0], labels=[1234567.0, None, 2.0, None])
    model = GrammeFusion(ensemble=1, epochs=1, random_state=0).fit(graph)
    write_csv(prediction_table(model, graph), tmp_path / "p.csv")
    first = (tmp_path / "p.csv").read_text().splitlines()[1].split(",")
    assert first[:2] == ["12345678.5", "1234567.0"]


def test_no_cell_is_a_formula_to_a_spreadsheet(tmp_path) -> None:
    cells = ["=cmd|'/C calc'!A0", "+1", "-x", "@a", "\tb", "Ann", "-2.5"]
    table = pd.DataFrame({"=node": cells, "p": np.linspace(-1, 1, 7)})
    write_csv(table, tmp_path / "a.csv")
    read = pd.read_csv(tmp_path / "a.csv", dtype=str)
    assert read.columns.tolist() == ["'=node", "p"]
    assert read["'=node"].tolist() == ["'=cmd|'/C calc'!A0", "+1", "'-x", "'@a", "'\tb", "Ann", "-2.5"]
    assert read["p"].iloc[0] == "-1"
    write_csv(table, tmp_path / "raw.csv", raw=True)
    assert pd.read_csv(tmp_path / "raw.csv", dtype=str)["=node"].tolist() == cells


def test_what_is_no_unicode_text_is_written_with_backslashes(tmp_path) -> None:
    write_csv(pd.DataFrame({"node": ["a\udcff"]}, dtype=object), tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text(encoding="utf-8") == "node\na\\udcff\n"


def test_of_many_classes_and_nodes_the_leading_ones_are_written(monkeypatch):
    graph = load("balance_scale")
    model = Majority().fit(graph)
    monkeypatch.setattr(tables, "MAX_CLASS_CELLS", 10)
    short = tables.prediction_table(model, graph)
    assert list(short.columns) == [
        *("node", "known", "predicted", "probability"),
        *("second", "second_probability", "third", "third_probability"),
    ]
    whole = tables.prediction_table(model, graph, all_classes=True)
    row, listed = short.iloc[0], whole.iloc[0]
    for name in ("predicted", "second", "third"):
        chance = row["probability" if name == "predicted" else f"{name}_probability"]
        assert chance == listed[f"probability_{row[name]}"]
    assert row["probability"] >= row["second_probability"] >= row["third_probability"]
