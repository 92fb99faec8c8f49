"""What is sent: commands and Python that give the same result, tables that run nothing, names that are safe."""

import contextlib
import csv
import io
import json
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.app.people import write_office, write_votes
from tests.app.serving import environment
from tests.app.test_project import opened

from gramme.app.project import Project
from gramme.app.roles import Plan
from gramme.app.sending import disposition, parcel, workbook
from gramme.app.views import Results
from gramme.cli import main
from gramme.errors import DataError


def fitted(project: Project, method: str) -> Results:
    chosen = ["--method", method] if method else []
    words = ["fit", *project.reading_words(), *chosen, "--out", "results/1-fit", "--quiet"]
    main_in(project.folder, words)
    return Results(project.folder / "results")


def main_in(folder: Path, words: list[str]) -> None:
    with contextlib.chdir(folder), contextlib.suppress(SystemExit):
        main(words)


def a_project(tmp_path: Path, kind: str) -> Project:
    """A project with labels, of each kind of data that the app opens."""
    if kind == "office":
        return opened(tmp_path, write_office(tmp_path, labelled=30))
    if kind == "votes":
        return opened(tmp_path, [write_votes(tmp_path, labelled=30)])
    project = Project(tmp_path / "project")
    if kind == "dataset":
        project.open_dataset("wine", practice=True)
    elif kind == "kinds of node":
        rows = [f"p{i},a{(i + i % 3) // 4}" for i in range(40)]
        project.incoming_path("writes.csv").write_text("\n".join(["paper,author", *rows]))
        columns = {"paper": "kind to label", "author": "other kind"}
        project.open_incoming(Plan.from_records([{"name": "writes.csv", "role": "kinds", "columns": columns}]))
    else:
        rows = [f"r{i},{'uvw'[i % 3]},{'sml'[i // 20]},{i + i % 5 if i % 2 else ''}" for i in range(60)]
        project.incoming_path("t.csv").write_text("\n".join(["name,city,size,price", *rows]))
        columns = {"name": "id", "city": "layer", "size": "layer", "price": "number"}
        project.open_incoming(Plan.from_records([{"name": "t.csv", "role": "nodes", "columns": columns}]))
        return project
    project.label([(node, "xyz"[node % 3]) for node in range(0, 40, 2)])
    return project


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        ("office", "gramme-auto"),
        ("votes", "label-propagation"),
        ("dataset", "label-propagation"),
        ("kinds of node", "label-propagation"),
        ("numbers", ""),
    ],
)
def test_script_and_python_give_the_same_predictions(tmp_path: Path, kind: str, method: str) -> None:
    project = a_project(tmp_path, kind)
    results = fitted(project, method)
    project.close()
    table = (project.folder / "results" / "1-fit" / "predictions.csv").read_text()
    said = parcel(project, results, "script", "").content.decode()
    line = next(line for line in said.splitlines() if line.startswith("gramme "))
    assert "--out again/1-fit" in line
    main_in(project.folder, [*shlex.split(line)[1:], "--quiet"])
    again = (project.folder / "again" / "1-fit" / "predictions.csv").read_text()
    assert again == table
    code = parcel(project, results, "python", "1-fit").content.decode()
    code += "import json; print(json.dumps(model.predict().tolist()))\n"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=project.folder, env=environment(), check=False
    )
    assert ended.returncode == 0, ended.stderr
    predicted = json.loads(ended.stdout.splitlines()[-1])
    expected = [row["predicted"] for row in csv.DictReader(io.StringIO(table))]
    if kind == "numbers":
        assert predicted == pytest.approx([float(text) for text in expected], rel=1e-3)
    else:
        assert predicted == expected
    assert (project.folder / "page.html").is_file()


def test_an_excel_file_runs_no_formula(tmp_path: Path) -> None:
    path = tmp_path / "predictions.csv"
    path.write_text("node,probability,zip\n'=1+1,0.25,007\n'@x,1,12\nbell\x07,2,3\n", encoding="utf-8")
    content = workbook(path)
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
    assert "<f>" not in sheet
    import openpyxl

    rows = list(openpyxl.load_workbook(io.BytesIO(content)).active.values)
    assert rows[1] == ("'=1+1", 0.25, "007")
    assert rows[3][0] == "bell"


def test_without_a_fit_the_script_has_the_command_for_one(tmp_path: Path) -> None:
    project = opened(tmp_path)
    results = Results(project.folder / "results")
    assert "gramme fit data/advice.csv" in parcel(project, results, "script", "").content.decode()
    assert "gramme.read(['data/advice.csv'" in parcel(project, results, "python", "").content.decode()
    for what, result in (("table", "1-fit"), ("report", ""), ("nonsense", "1-fit")):
        with pytest.raises(DataError):
            parcel(project, results, what, result)
    project.close()


def test_the_name_of_a_download_cannot_break_the_header() -> None:
    said = disposition('a"; x=\r\nSet-Cookie: y.csv')
    assert "\r" not in said
    assert "\n" not in said
    assert said.count('"') == 2
    assert disposition("名.csv").endswith("filename*=UTF-8''%E5%90%8D.csv")
