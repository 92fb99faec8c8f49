"""The folder of a project: labels that are saved at once, undo, other roles, other data, interrupted moves."""

import csv
import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest
from tests.app.people import write_office

from gramme.app import project as module
from gramme.app.project import Project, checked_label
from gramme.app.roles import Plan
from gramme.errors import DataError
from gramme.io.guesses import guess_plan


def opened(tmp_path: Path, paths: list[Path] | None = None) -> Project:
    project = Project(tmp_path / "project")
    paths = paths or write_office(tmp_path)
    for path in paths:
        project.incoming_path(path.name).write_bytes(path.read_bytes())
    project.open_incoming(Plan.of_guesses(guess_plan(paths)))
    return project


def saved(project: Project) -> dict[str, str]:
    with (project.folder / "labels.csv").open(encoding="utf-8", newline="") as file:
        return {row[0]: row[1] for row in list(csv.reader(file))[1:]}


def test_a_project_is_a_folder_of_plain_files(tmp_path: Path) -> None:
    project = opened(tmp_path)
    assert {path.name for path in (project.folder / "data").iterdir()} == {"advice.csv", "lunch.csv", "people.csv"}
    record = json.loads((project.folder / "project.json").read_text())
    assert record["command"] == (
        "gramme fit data/advice.csv data/lunch.csv --label team --id name --labels labels.csv --features age "
        "--layers-from gender --out results/fit"
    )
    assert record["classes"] == ["Blue", "Green", "Red"]
    assert sum(bool(label) for label in saved(project).values()) == 9
    project.close()


def test_a_label_is_on_the_disk_when_it_is_answered_and_can_be_undone(tmp_path: Path) -> None:
    project = opened(tmp_path)
    before = saved(project)
    project.label([(20, "Red"), (21, "  new   class "), (0, None)])
    names = project.opened().names
    assert saved(project) == before | {names[20]: "Red", names[21]: "new class", names[0]: ""}
    assert project.classes == ["Blue", "Green", "Red", "new class"]
    version = project.version
    assert project.undo() == 0
    assert project.version > version
    assert project.undo() == 21
    assert project.undo() == 20
    assert project.undo() is None
    assert saved(project) == before
    project.close()


def test_what_is_beside_a_label_stays(tmp_path: Path) -> None:
    project = opened(tmp_path)
    rows = list(csv.reader((project.folder / "labels.csv").open(encoding="utf-8")))
    project.label([(5, "Red")])
    after = list(csv.reader((project.folder / "labels.csv").open(encoding="utf-8")))
    assert [row[2:] for row in rows] == [row[2:] for row in after]
    assert rows[0] == ["name", "team", "age", "gender"]
    project.close()


@pytest.mark.parametrize("label", ["", "  ", "x" * 300, "a\x00b", "\ud800", "NA", "?", "nan"])
def test_labels_that_cannot_be(tmp_path: Path, label: str) -> None:
    with pytest.raises(DataError):
        checked_label(label)


def test_nothing_changes_when_one_of_several_labels_is_wrong(tmp_path: Path) -> None:
    project = opened(tmp_path)
    before = saved(project)
    for changes in ([(1, "x"), (99, "x")], [(1, "x"), (2, "")]):
        with pytest.raises(DataError):
            project.label(changes)
    assert saved(project) == before
    assert project.opened().labels[1] == "Green"
    assert not project.can_undo
    project.close()


def test_a_label_that_cannot_be_written_is_not_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = opened(tmp_path)
    before = saved(project)

    def full(files: object, **_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_files", full)
    with pytest.raises(OSError, match="No space"):
        project.label([(30, "Red")])
    assert project.opened().labels[30] is None
    assert saved(project) == before
    project.close()


def test_other_roles_keep_the_labels_that_were_given_by_hand(tmp_path: Path) -> None:
    project = opened(tmp_path)
    project.label([(30, "Red"), (0, "Green")])
    records = [asdict(file) for file in project.opened().plan.files]
    people = next(one for one in records if one["name"] == "people.csv")
    people["columns"]["age"] = "leave out"
    people["columns"]["gender"] = "feature"
    project.reopen(Plan.from_records(records))
    assert project.opened().labels[30] == "Red"
    assert project.opened().labels[0] == "Green"
    assert list(project.opened().graph.layers) == ["advice", "lunch"]
    with pytest.raises(DataError):
        project.reopen(Plan.from_records([{"name": "people.csv", "role": "leave out"}]))
    assert project.opened().labels[30] == "Red"
    project.close()


def test_other_data_put_the_project_aside_as_a_whole(tmp_path: Path) -> None:
    project = opened(tmp_path)
    project.label([(30, "Red")])
    (project.folder / "results" / "1-fit").mkdir()
    (tmp_path / "other.csv").write_text("from,to\nx,y\n")
    project.incoming_path("other.csv").write_text("from,to\nx,y\n")
    project.open_incoming(Plan.of_guesses(guess_plan([tmp_path / "other.csv"])))
    assert project.opened().names == ["x", "y"]
    assert list((project.folder / "results").iterdir()) == []
    project.close()
    earlier = Project(project.folder / "earlier" / "1")
    earlier.load()
    assert earlier.opened().labels[30] == "Red"
    assert (earlier.folder / "results" / "1-fit").is_dir()
    earlier.close()


@pytest.mark.parametrize("steps", range(1, 12))
def test_an_opening_that_is_cut_off_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    """Die at each step that moves a file while other data are opened; the next start finds both, whole."""
    project = opened(tmp_path)
    project.label([(30, "Red")])
    project.incoming_path("other.csv").write_text("from,to\nx,y\n")
    left = [steps]

    class Killed(BaseException):
        pass

    def counted(work):
        def run(*arguments, **named):
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return work(*arguments, **named)

        return run

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", counted(Path.rename))
        patch.setattr(Project, "_write", counted(Project._write))
        try:
            project.open_incoming(Plan.from_records([{"name": "other.csv", "role": "edges"}]))
            finished = True
        except Killed:
            finished = False
    project.close()
    again = Project(project.folder)
    again.load()
    if finished:
        assert again.opened().names == ["x", "y"]
    elif again.data is not None:
        assert again.opened().names == ["x", "y"] or again.opened().labels[30] == "Red"
    else:
        assert [one["name"] for one in again.guesses()] == ["other.csv"]
    places = [again.folder, *(again.folder / "earlier").glob("*")]
    labels = [place / "labels.csv" for place in places if (place / "labels.csv").exists()]
    assert any("Red" in path.read_text() for path in labels)
    again.close()


def test_a_dataset_to_practise_hides_its_labels(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    project.open_dataset("wine", practice=True)
    data = project.opened()
    assert data.labels == [None] * 178
    assert data.truth is not None
    assert len(set(data.truth)) == 3
    project.label([(0, data.truth[0])])
    project.close()
    again = Project(tmp_path / "project")
    again.load()
    assert sum(label is not None for label in again.opened().labels) == 1
    assert again.opened().truth == data.truth
    again.close()
    project = Project(tmp_path / "project")
    project.open_dataset("wine", practice=False)
    assert None not in project.opened().labels
    assert project.opened().truth is None
    project.close()


def test_two_processes_cannot_have_one_project(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    project.note_owner(f"process {os.getpid()}, http://127.0.0.1:1/")
    with pytest.raises(DataError, match=rf"process {os.getpid()}, http://127"):
        Project(tmp_path / "project")
    project.close()
    Project(tmp_path / "project").close()


def test_messages_do_not_say_where_the_folder_is(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    assert project.plain(f"{project.folder}/data/a.csv: broken") == "data/a.csv: broken"
    assert project.plain(OSError(28, "No space", str(project.folder / "x"))) == "x: No space"
    project.close()


def test_numbers_of_results_are_never_used_twice(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    results = project.folder / "results"
    assert project.next_result("fit").name == "1-fit"
    (results / "3-rank").mkdir()
    (results / ".5-fit.gramme").touch()  # of a fit that was killed
    assert project.next_result("fit").name == "6-fit"
    assert project.next_result("fit", [results / "9-ask"]).name == "10-fit"
    project.close()


def test_labels_edited_by_hand_are_read(tmp_path: Path) -> None:
    project = opened(tmp_path)
    project.close()
    path = project.folder / "labels.csv"
    lines = path.read_text().replace("Lou Eve,,", "Lou Eve,Purple,")
    path.write_text("\ufeff" + lines, encoding="utf-8")
    again = Project(project.folder)
    again.load()
    assert again.opened().labels[59] == "Purple"
    assert "Purple" in again.classes
    again.close()
