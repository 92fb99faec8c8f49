"""`gramme app` on the command line: what it opens, where the project goes, and mistakes."""

from pathlib import Path

import pytest
from tests.app.people import write_office
from tests.app.serving import running

from gramme.cli import main

pytestmark = pytest.mark.app


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing.csv"], "there is no file 'nothing.csv'"),
        (["--labels", "x.csv"], "--labels needs DATA"),
        (["--port", "0"], "port"),
        (["--port", "99999"], "port"),
        (["ties.csv", "--project", "ties.csv"], "not a folder"),
        (["made", "--labels", "x.csv"], "is a project"),
        (["."], "there is no file '.'"),
    ],
)
def test_mistakes_end_with_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ties.csv").write_text("from,to\na,b\n")
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "project.json").write_text("{}")
    with pytest.raises(SystemExit) as ended:
        main(["app", *words, "--no-browser"])
    assert ended.value.code == 2
    said = " ".join(capsys.readouterr().err.split())
    assert message in said
    assert not (tmp_path / "gramme-project").exists()


def test_a_dataset_by_name_and_a_project_by_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    with running(folder, "wine") as served:
        state = served.wait_open()
        assert (state["name"], state["labelled"]) == ("wine", 178)
    with running(folder) as served:
        assert served.wait_open()["nodes"] == 178


def test_data_that_cannot_be_read_are_shown_with_their_roles(tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text("name,age\na,1\na,2\n")
    with running(tmp_path / "project", str(tmp_path / "odd.csv")) as served:
        state = served.wait_open()
        if not state["open"]:
            assert state["problem"]
            assert served.ask("GET", "/api/files")["incoming"][0]["name"] == "odd.csv"


def test_files_are_copied_and_the_originals_stay(tmp_path: Path) -> None:
    paths = write_office(tmp_path)
    before = {path: path.read_bytes() for path in paths}
    with running(tmp_path / "project", *map(str, paths)) as served:
        assert served.wait_open()["labelled"] == 9
        served.ask("POST", "/api/labels", {"changes": [[20, "Red"]]})
    assert {path: path.read_bytes() for path in paths} == before


def test_help_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["app", "--help"])
    said = capsys.readouterr().out
    assert "Nothing leaves this machine" in " ".join(said.split())
