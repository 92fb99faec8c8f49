"""Plans of files and columns, and the options of the command line that they become."""

from pathlib import Path

import pytest

from gramme.app.roles import Plan, option_words, reading_of
from gramme.errors import DataError


def plan(*files: tuple[str, str, dict[str, str]]) -> Plan:
    return Plan.from_records([{"name": n, "role": r, "columns": c} for n, r, c in files])


PEOPLE = ("people.csv", "nodes", {"name": "id", "age": "feature", "sex": "layer", "team": "label", "note": "leave out"})


def test_ties_and_a_table_of_nodes() -> None:
    found = plan(("a.csv", "edges", {}), ("b.csv", "edges", {}), PEOPLE)
    assert found.data() == ["a.csv", "b.csv"]
    words = option_words(found.options())
    said = "--label team --id name --labels people.csv --features age --layers-from sex"
    assert words == said.split()
    assert found.labels_header() == ["name", "team", "age", "sex"]
    own = found.options_with_labels("labels.csv")
    assert own["labels"] == "labels.csv"
    assert (own["id"], own["label"]) == ("name", "team")


def test_a_table_of_nodes_without_labels_or_names_gets_columns_for_them() -> None:
    found = plan(("a.csv", "edges", {}), ("p.csv", "nodes", {"label": "feature", "node": "layer"}))
    assert found.labels_header() == ["node_", "label_", "label", "node"]


def test_a_table_alone() -> None:
    found = plan(("votes.csv", "nodes", {"who": "id", "v1": "layer", "v2": "layer", "party": "label"}))
    assert found.is_table
    said = "--label party --id who --table --columns v1 --columns v2"
    assert option_words(found.options()) == said.split()
    # a column that is empty in every row would be refused as the label, and labels.csv has them anyway
    assert "label" not in found.options_with_labels("labels.csv")
    assert found.labels_header() == ["node", "label"]


def test_ties_alone() -> None:
    found = plan(("a.edges", "edges", {}), ("rest.csv", "leave out", {"x": "label"}))
    assert found.options() == {}
    assert option_words(found.options_with_labels("labels.csv")) == ["--labels", "labels.csv"]


def test_a_name_that_looks_like_an_option_stays_a_name() -> None:
    assert option_words({"label": "--out", "id": "x"}) == ["--label=--out", "--id", "x"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([], "no file"),
        ("x", "no file"),
        ([{"name": 3}], "names a file"),
        ([{"name": "a", "role": "boss"}], "one of edges, kinds"),
        ([{"name": "a", "role": "edges", "columns": {"x": 3}}], "names and roles"),
        ([{"name": "a", "role": "edges"}, {"name": "a", "role": "edges"}], "twice"),
    ],
)
def test_what_is_no_plan(files: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Plan.from_records(files)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([("a.csv", "leave out", {})], "every file is left out"),
        ([("a.csv", "nodes", {"x": "id"})], "nothing joins its rows"),
        ([("a.labels", "nodes", {})], "labels alone"),
        ([("a.csv", "nodes", {}), ("b.csv", "nodes", {})], "only one file"),
        ([("a.csv", "nodes", {"x": "label", "y": "label", "z": "layer"})], "choose one"),
    ],
)
def test_plans_that_cannot_be_read(files: list[tuple[str, str, dict[str, str]]], message: str) -> None:
    found = plan(*files)
    with pytest.raises(DataError, match=message):
        assert not (found.data(), found.options())


def test_columns_of_ties_become_options_where_there_are_such() -> None:
    found = plan(("a.csv", "edges", {"boss": "source", "staff": "target", "hours": "weight"}))
    assert found.options() == {"source_column": "boss", "target_column": "staff", "weight": "hours"}
    with pytest.raises(DataError, match="same column"):
        plan(("a.csv", "edges", {"x": "source"}), ("b.csv", "edges", {"y": "source"})).options()


WRITES = ("writes.csv", "kinds", {"paper": "kind to label", "author": "other kind"})


def test_kinds_of_node_become_relations() -> None:
    found = plan(WRITES, ("papers.csv", "nodes", {"paper": "id", "topic": "label"}))
    words = found.words(found.options_with_labels("labels.csv"), "data/")
    assert "--relation paper:author=data/writes.csv --target paper" in " ".join(words)
    assert reading_of(found.options(), Path("x")).relation == ["paper:author=x/writes.csv"]
    assert not found.is_table
    assert found.data() == ["writes.csv"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([WRITES, ("a.csv", "edges", {})], "cannot be read together"),
        ([("w.csv", "kinds", {"a": "kind to label"})], "choose the two columns"),
        ([("w.csv", "kinds", {"a": "other kind", "b": "other kind"})], "kind to label"),
        ([("w.csv", "kinds", {"a:b=/etc/passwd": "kind to label", "c": "other kind"})], "cannot have"),
    ],
)
def test_kinds_that_cannot_be_read(files: list[tuple[str, str, dict[str, str]]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        plan(*files).options()


def test_numbers_are_labels_of_another_kind() -> None:
    found = plan(("t.csv", "nodes", {"who": "id", "income": "number", "age": "layer"}))
    assert found.predicts_numbers
    assert found.options()["label_kind"] == "number"
    assert found.options_with_labels("labels.csv")["label_kind"] == "number"
    with pytest.raises(DataError, match="cannot both be predicted"):
        plan(("t.csv", "nodes", {"x": "label", "income": "number", "age": "layer"})).options()
