"""Several kinds of node, couplings and a table beside edges on the command line."""

import csv
import json

import pytest

from gramme import datasets
from gramme.cli import main
from gramme.io import read, write


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pairs = [f"p{number},{'ab'[number % 2]}{number % 5}" for number in range(40)]
    (tmp_path / "pa.csv").write_text("paper,author\n" + "\n".join(pairs) + "\n")
    shown = [f"p{number},{('KDD', 'ICML')[number % 2]}" for number in range(40)]
    (tmp_path / "pv.csv").write_text("paper,venue\n" + "\n".join(shown) + "\n")
    labels = [f"p{number},{'xy'[number % 2]}" for number in range(10)]
    (tmp_path / "l.csv").write_text("paper,label\n" + "\n".join(labels) + "\n")

    def call(*arguments):
        with pytest.raises(SystemExit) as caught:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return caught.value.code or 0, captured.out, captured.err

    return call


FILES = ["--relation", "paper:author=pa.csv", "--relation", "paper:venue=pv.csv"]
QUICK = ["--method", "label-propagation", "--no-estimate"]


def test_relations_are_fitted_and_asked_again(run, tmp_path):
    code, _, err = run("fit", *FILES, "--target", "paper", "--labels", "l.csv", *QUICK, "--out", "r")
    assert code == 0, err
    rows = list(csv.DictReader((tmp_path / "r" / "predictions.csv").open()))
    assert len(rows) == 40
    assert all(row["predicted"] == "xy"[int(row["node"][1:]) % 2] for row in rows)
    assert "venue" in (tmp_path / "r" / "report.html").read_text()
    assert json.loads((tmp_path / "r" / "config.json").read_text())["data"].startswith("paper:author")
    code, _, err = run("predict", "r", *FILES, "--target", "paper", "--out", "new.csv")
    assert code == 0, err


def test_info_and_convert_know_relations(run, tmp_path):
    code, out, _ = run("info", *FILES, "--target", "author", "--path", "author-paper-venue", "--json")
    assert code == 0
    assert [layer["layer"] for layer in json.loads(out)["layers"]] == ["venue"]
    code, _, _ = run("convert", *FILES, "--target", "author", "g.npz")
    assert code == 0
    assert list(read(tmp_path / "g.npz").layers) == ["paper", "venue"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["fit", "--out", "r"], "name DATA"),
        (["fit", *FILES, "--out", "r"], "--relation needs --target"),
        (["info", "--relation", "paper=pa.csv", "--target", "paper"], "write it like paper:author"),
        (["info", *FILES, *FILES, "--target", "paper"], "is named twice"),
        (["info", "pa.csv", *FILES, "--target", "paper"], "leave out 'pa.csv'"),
        (["info", *FILES, "--target", "papers"], "did you mean 'paper'"),
        (["info", "--target", "paper"], "--target needs --relation"),
        (["info", *FILES, "--target", "paper", "--path", "paper-autor"], "unknown kind 'autor'"),
    ],
)
def test_a_mistake_is_one_message(run, arguments, problem):
    code, _, err = run(*arguments)
    assert code == 2
    assert problem in err
    assert "Traceback" not in err


def test_couplings_on_the_command_line(run, tmp_path):
    graph = datasets.load("synthetic_coupled", nodes=60)
    labels = [str(label) if place < 30 else None for place, label in enumerate(graph.labels)]
    write(graph.replace(labels=labels, nodes=[f"n{place}" for place in range(60)]), "g.mpx")
    code, out, _ = run("info", "g.mpx")
    assert code == 0
    assert "couplings  1" in out
    for name in ("label-propagation", "gramme-sg"):
        code, _, err = run("fit", "g.mpx", "--method", name, "--no-estimate", "--out", name)
        assert code == 0, err
        assert (tmp_path / name / "report.html").stat().st_size > 10_000
    rows = csv.DictReader((tmp_path / "label-propagation" / "layers.csv").open())
    assert [row["layer"] for row in rows] == ["first", "second", "first~second"]


def test_a_table_beside_edges(run, tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\nAnn,Bo\nBo,Cy\nCy,Di\n")
    (tmp_path / "people.csv").write_text("name,label,city\nAnn,x,A\nBo,x,A\nCy,y,B\nDi,y,B\n")
    code, out, err = run("info", "edges.csv", "--table", "people.csv", "--json")
    assert code == 0, err
    assert [layer["layer"] for layer in json.loads(out)["layers"]] == ["edges", "city"]
