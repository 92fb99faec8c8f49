"""What the page shows: pictures, samples, neighbours, tables and differences between fits."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import gramme
from gramme.app import views
from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph


def small() -> MultilayerGraph:
    return MultilayerGraph(
        {
            "ties": EdgeLayer(5, [0, 1, 2], [1, 2, 3]),
            "rooms": MembershipLayer.from_values(np.array(["a", "a", "b", "b", None], dtype=object)),
        }
    )


def test_a_picture_has_nodes_then_middles_of_groups() -> None:
    found = views.picture(small(), [False] * 5)
    head = found.header(list("vwxyz"))
    assert head["names"] == list("vwxyz")
    assert head["points"] == 7
    assert [layer["lines"] for layer in head["layers"]] == [3, 4]
    numbers = found.numbers()
    places = np.frombuffer(numbers, "<f4", 14)
    assert ((places >= 0) & (places <= 1)).all()
    lines = np.frombuffer(numbers[56:], "<u4").reshape(-1, 2)
    assert lines[:3].tolist() == [[0, 1], [1, 2], [2, 3]]
    assert lines[3:].tolist() == [[0, 5], [1, 5], [2, 6], [3, 6]]
    xs = places[:7]
    assert xs[5] == pytest.approx((xs[0] + xs[1]) / 2, abs=1e-6)


@pytest.mark.parametrize(
    "graph", [MultilayerGraph({"a": EdgeLayer(1, [], [])}), MultilayerGraph({"a": EdgeLayer(3, [], [])})]
)
def test_a_picture_of_next_to_nothing(graph: MultilayerGraph) -> None:
    found = views.picture(graph, [False] * graph.num_nodes)
    assert len(found.numbers()) == 8 * graph.num_nodes


def test_of_too_many_nodes_labelled_ones_and_a_sample_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "MAX_DRAWN_NODES", 100)
    monkeypatch.setattr(views, "MAX_DRAWN_LINES", 150)
    graph = gramme.datasets.load("synthetic", nodes=1000, random_state=0)
    labelled = np.zeros(1000, dtype=bool)
    labelled[[3, 500, 999]] = True
    found = views.picture(graph, labelled.tolist())
    assert found.nodes.size == 100
    assert {3, 500, 999} <= set(found.nodes.tolist())
    assert found.total == 1000
    assert sum(len(lines) for lines in found.lines) <= 150
    again = views.picture(graph, labelled.tolist())
    assert again.numbers() == found.numbers()
    few = views.drawn_nodes(1000, np.ones(1000, dtype=bool), np.random.default_rng(0))
    assert few.size == 100
    for layer, lines in zip(found.layers, found.lines, strict=True):
        assert layer["lines"] == len(lines) <= layer["of"]


def test_neighbours_by_layer() -> None:
    near = views.Neighbours(small())
    ties, rooms = near.of(1)
    assert (ties["count"], sorted(ties["nodes"])) == (2, [0, 2])
    assert rooms["groups"] == [{"group": "a", "size": 2, "nodes": [0]}]
    ties, rooms = near.of(4)
    assert ties["count"] == 0
    assert rooms["groups"] == []


def write_fit(folder: Path, name: str, rows: list[tuple[str, str, float, float]]) -> None:
    (folder / name).mkdir()
    table = pd.DataFrame(rows, columns=["node", "known", "probability_a", "probability_b"])
    table.to_csv(folder / name / "predictions.csv", index=False)
    config = {"method": "x", "estimate": {"accuracy": 0.5}, "training_labels": 1}
    (folder / name / "config.json").write_text(json.dumps(config))


def test_results_are_read_in_the_order_of_the_nodes(tmp_path: Path) -> None:
    write_fit(tmp_path, "1-fit", [("'=1", "a", 0.9, 0.1), ("y", "", 0.6, 0.4), ("z", "", 0.2, 0.8)])
    write_fit(tmp_path, "10-fit", [("'=1", "a", 0.9, 0.1), ("y", "", 0.3, 0.7), ("z", "", 0.1, 0.9)])
    write_fit(tmp_path, "2-fit", [("x", "", 0.5, 0.5)])
    (tmp_path / ".3-fit.gramme").touch()
    results = views.Results(tmp_path)
    assert results.names() == ["1-fit", "2-fit", "10-fit"]
    assert [one["accuracy"] for one in results.records()] == [0.5] * 3
    first, last = results.predictions("1-fit", 3), results.predictions("10-fit", 3)
    assert first.names.tolist() == ["a", "a", "b"]
    assert views.compared(first, last).tolist() == [False, True, False]
    assert views.mean_certainty(first) == pytest.approx(0.7)
    assert results.table("1-fit")["node"].tolist() == ["=1", "y", "z"]
    with pytest.raises(DataError, match="other data"):
        results.predictions("2-fit", 3)


@pytest.mark.parametrize("name", ["..", "1-fit/..", "../data", "", "x", "9-fit", "1-FIT"])
def test_names_that_are_no_result(tmp_path: Path, name: str) -> None:
    write_fit(tmp_path, "1-fit", [])
    with pytest.raises(DataError):
        views.Results(tmp_path).path(name, "config.json")
    with pytest.raises(DataError):
        views.Results(tmp_path).path("1-fit", "../../x")


def test_a_broken_result_is_listed_as_such(tmp_path: Path) -> None:
    (tmp_path / "1-fit").mkdir()
    (tmp_path / "1-fit" / "config.json").write_text("{")
    assert "broken" in views.Results(tmp_path).records()[0]


def test_rows_are_sorted_as_numbers_or_as_text_with_blanks_last() -> None:
    table = pd.DataFrame({"n": ["10", "9", "", "1e3"], "t": ["b", "A", "c", ""]})
    assert views.sorted_rows(table, "n", descending=False)["n"].tolist() == ["9", "10", "1e3", ""]
    assert views.sorted_rows(table, "n", descending=True)["n"].tolist() == ["1e3", "10", "9", ""]
    assert views.sorted_rows(table, "t", descending=True)["t"].tolist() == ["c", "b", "A", ""]
    assert views.sorted_rows(table, None, descending=False) is table


def test_the_table_of_nodes_is_searched_and_filtered() -> None:
    table = views.node_table(["Ann", "bo", "Cy"], ["x", None, None], None, None, None)
    listed = views.listed_nodes(table, "name", descending=True, query="", only="")
    assert listed["name"].tolist() == ["Cy", "bo", "Ann"]
    assert views.listed_nodes(table, "", descending=False, query="AN", only="").index.tolist() == [0]
    assert views.listed_nodes(table, "", descending=False, query="", only="unlabelled").index.tolist() == [1, 2]
    assert views.node_records(table.iloc[[1]]) == [
        {
            "node": 1,
            "name": "bo",
            "label": None,
            "predicted": None,
            "probability": None,
            "interval": None,
            "group": None,
            "changed": False,
        }
    ]


def test_numbers_are_shown_in_ranges(tmp_path: Path) -> None:
    folder = tmp_path / "1-fit"
    folder.mkdir()
    (folder / "predictions.csv").write_text("node,known,predicted,low,high\na,1,1.5,0,3\nb,,90,80,100\nc,,5,-inf,inf\n")
    ranges = views.Ranges(["1", "2", "3", None, "100"])
    found = views.Results(tmp_path).predictions("1-fit", 3, ranges)
    assert found.names.tolist() == [ranges.label("1.5"), ranges.label("90"), ranges.label("5")]
    assert found.known.tolist() == [True, False, False]
    assert (found.shown[0], found.interval[1], found.interval[2]) == ("1.50", "80.0 to 100.0", "anything")
    assert views.mean_certainty(found) is None
    with pytest.raises(DataError, match="other data"):
        views.Results(tmp_path).predictions("1-fit", 3)
    assert views.Ranges([None]).names == ["any number"]
    table = views.node_table(["a", "b", "c"], ["1", None, None], found, None, None)
    assert views.sorted_rows(table, "predicted", descending=True)["name"].tolist() == ["b", "c", "a"]
