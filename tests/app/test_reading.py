"""Reading by a plan: what the project reads later from its own file of labels is the same graph."""

from pathlib import Path

import numpy as np
import pytest
from tests.app.people import HOSTILE, write_office, write_votes

from gramme.app.project import Project
from gramme.app.reading import checked_name, csv_text, facts, read_csv, read_plan
from gramme.app.roles import Plan
from gramme.app.sending import snippet
from gramme.app.views import Results
from gramme.errors import DataError
from gramme.io.guesses import guess_plan


def opened_again(tmp_path: Path, paths: list[Path]) -> tuple[Project, Project]:
    """A project as it was first read, and as it is read from its folder."""
    first = Project(tmp_path / "project")
    for path in paths:
        first.incoming_path(path.name).write_bytes(path.read_bytes())
    first.open_incoming(Plan.of_guesses(guess_plan(paths)))
    first.close()
    second = Project(tmp_path / "project")
    second.load()
    assert second.problem is None
    second.close()
    return first, second


def assert_same(first: Project, second: Project) -> None:
    one, two = first.opened(), second.opened()
    assert one.names == two.names
    assert one.labels == two.labels
    assert list(one.graph.layers) == list(two.graph.layers)
    for name, layer in one.graph.layers.items():
        assert (layer.to_scipy() != two.graph.layers[name].to_scipy()).nnz == 0
    if one.graph.features is None:
        assert two.graph.features is None
    else:
        assert two.graph.features is not None
        np.testing.assert_allclose(np.asarray(one.graph.features), np.asarray(two.graph.features))


@pytest.mark.parametrize("labelled", [0, 9, 60])
def test_ties_and_people_are_the_same_when_read_again(tmp_path: Path, labelled: int) -> None:
    first, second = opened_again(tmp_path, write_office(tmp_path, labelled=labelled))
    assert_same(first, second)
    assert sum(label is not None for label in second.opened().labels) == labelled


def test_a_table_is_the_same_when_read_again(tmp_path: Path) -> None:
    assert_same(*opened_again(tmp_path, [write_votes(tmp_path, labelled=20)]))


def test_people_without_ties_and_ties_without_people_stay(tmp_path: Path) -> None:
    paths = write_office(tmp_path)
    lines = paths[2].read_text().splitlines()
    paths[2].write_text("\n".join([*lines[:50], "Hermit,44,f,Red"]) + "\n")
    first, second = opened_again(tmp_path, paths)
    assert_same(first, second)
    assert "Hermit" in second.opened().names
    assert len(second.opened().names) == 61


def test_hostile_names_are_the_same_when_read_again(tmp_path: Path) -> None:
    names = [*HOSTILE, "a,b", 'a"b', " x", *(f"node {i}" for i in range(20))]
    assert_same(*opened_again(tmp_path, write_office(tmp_path, names=names)))


def test_a_decimal_comma_stays_a_number(tmp_path: Path) -> None:
    (tmp_path / "ties.csv").write_text("from,to\na,b\nb,c\n")
    (tmp_path / "who.csv").write_text("name;size;kind\na;1,5;x\nb;2,5;y\nc;3,25;x\n")
    paths = [tmp_path / "ties.csv", tmp_path / "who.csv"]
    first, second = opened_again(tmp_path, paths)
    assert_same(first, second)


def test_columns_of_ties_by_the_names_that_the_user_gave_them(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    text = "minutes,pupil,friend,where\n3,a,b,yard\n5,b,c,hall\n1,a,c,yard\n"
    project.incoming_path("pairs.csv").write_text(text)
    roles = {"minutes": "weight", "pupil": "source", "friend": "target", "where": "layer"}
    plan = Plan.from_records([{"name": "pairs.csv", "role": "edges", "columns": roles}])
    project.open_incoming(plan)
    assert sorted(project.opened().graph.layers) == ["hall", "yard"]
    assert project.opened().graph.layers["hall"].to_scipy().sum() == 10
    assert "--source pupil --target-column friend" in " ".join(project.reading_words())
    source = snippet(project, Results(project.folder / "results"), "")
    assert "source='pupil', target_column='friend', weight='minutes', layer='where'" in source
    project.close()


def test_a_single_edge_and_no_labels(tmp_path: Path) -> None:
    (tmp_path / "ties.csv").write_text("from,to\na,b\n")
    first, second = opened_again(tmp_path, [tmp_path / "ties.csv"])
    assert_same(first, second)
    told = facts((first.opened().graph, [], None))
    assert told["nodes"] == 2
    assert told["classes"] == {}


def test_a_file_without_nodes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ties.csv").write_text("from,to\n")
    plan = Plan.from_records([{"name": "ties.csv", "role": "edges"}])
    with pytest.raises(DataError):
        read_plan(plan, tmp_path)


def test_csv_text_reads_back(tmp_path: Path) -> None:
    rows = [["a,b", 'c"d', "e\nf", ""], ["名", "'=1", " ", "x"]]
    path = tmp_path / "x.csv"
    path.write_text(csv_text(rows), encoding="utf-8", newline="")
    assert read_csv(path) == rows


@pytest.mark.parametrize(
    "name", ["", " ", ".", "..", ".x", "a/b", "a\\b", "a\x00b", "C:x", "x" * 250, "é" * 120, 'a"b']
)
def test_names_that_no_file_may_have(name: str) -> None:
    with pytest.raises(DataError):
        checked_name(name)


def test_names_that_a_file_may_have() -> None:
    for name in ("a.csv", "Größe (1).csv", "名前.tsv", "a b.csv", "a'b.csv"):
        assert checked_name(name) == name
