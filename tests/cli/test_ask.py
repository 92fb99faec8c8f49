"""``gramme ask`` from files to a table that ``gramme fit`` and a further ``gramme ask`` take, and its mistakes."""

import json

import pandas as pd
import pytest
from tests.cli.test_rank import run
from tests.grouping.planted import planted

from gramme.io import write


@pytest.fixture
def club(tmp_path):
    graph, group = planted(inside=0.3, names=[f"n{one:03d}" for one in range(120)])
    path = tmp_path / "club.mpx"
    write(graph, path)
    pd.DataFrame({"node": graph.nodes, "label": ["abc"[one] for one in group]}).to_csv(
        tmp_path / "truth.csv", index=False
    )
    return path


def test_ask_fill_in_ask_again_and_fit(club, tmp_path, capsys):
    target = tmp_path / "ask"
    assert run("ask", club, "--count", 6, "--out", target) == 0
    assert "at the centre of" in capsys.readouterr().out
    table = pd.read_csv(target / "ask.csv")
    assert list(table.columns) == ["node", "label", "why", "stands_for"]
    assert table["label"].isna().all()
    truth = pd.read_csv(tmp_path / "truth.csv").set_index("node")["label"]
    table["label"] = truth[table["node"]].to_numpy()
    assert table["label"].nunique() == 3
    table.loc[5, "label"] = None  # one who did not answer
    table["why"] = ["at the centre of 9 other nodes", "at the centre of 8 other nodes"] * 3  # no layer of two groups
    table.to_csv(tmp_path / "filled.csv", index=False)

    words = ("--labels", tmp_path / "filled.csv", "--json", "--out", tmp_path / "again")
    assert run("ask", club, "--count", 4, *words) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["labelled"] == 5
    assert not set(record["ask"]) & set(table["node"][:5])

    words = ("--method", "label-propagation", "--quiet", "--out", tmp_path / "result")
    assert run("fit", club, "--labels", tmp_path / "filled.csv", *words) == 0
    predicted = pd.read_csv(tmp_path / "result" / "predictions.csv").set_index("node")["predicted"]
    assert (predicted == truth[predicted.index]).mean() > 0.7
    assert "why" not in pd.read_csv(tmp_path / "result" / "layers.csv")["layer"].tolist()


def test_a_list_of_nodes_that_can_be_asked(club, tmp_path, capsys):
    (tmp_path / "here.txt").write_text("n001\nn002\nn003\n", encoding="utf-8")
    words = ("--count", 2, "--among", tmp_path / "here.txt", "--json")
    assert run("ask", club, *words, "--out", tmp_path / "ask") == 0
    assert set(json.loads(capsys.readouterr().out)["ask"]) <= {"n001", "n002", "n003"}


def test_the_curve_is_there_with_enough_labels(club, tmp_path, capsys):
    some = pd.read_csv(tmp_path / "truth.csv").iloc[::4]
    some.to_csv(tmp_path / "some.csv", index=False)
    words = ("--labels", tmp_path / "some.csv", "--json", "--out", tmp_path / "ask")
    assert run("ask", club, *words) == 0
    curve = json.loads(capsys.readouterr().out)["expected"]
    assert [row["more"] for row in curve] == [0, 10, 20, 40]


def test_names_that_are_formulas_are_made_safe(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\n=1+1,b\nb,c\n")
    assert run("ask", tmp_path / "e.csv", "--count", 3, "--out", tmp_path / "ask") == 0
    assert "'=1+1" in (tmp_path / "ask" / "ask.csv").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--count", "500"], "count is 500, but only 120 nodes have no label"),
        (["--labels", "truth.csv"], "every node has a label already"),
        (["--among", "nowhere.txt"], "nowhere.txt"),
        (["--layer", "layer0"], "there is no layer 'layer0'"),
    ],
)
def test_a_mistake_is_one_message_and_leaves_nothing(club, tmp_path, capsys, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    target = tmp_path / "ask"
    assert run("ask", club, *arguments, "--out", target) == 2
    assert message in capsys.readouterr().err.replace("\n", " ")
    assert not target.exists()


def test_the_benchmark_of_asking_from_the_command_line(club, tmp_path, capsys):
    ledger = tmp_path / "ask.sqlite"
    words = ("--labels", tmp_path / "truth.csv", "--methods", "cover,random", "--per-class", "1")
    settings = ("--predictors", "label-propagation", "--repeats", 2, "--jobs", 1)
    code = run("benchmark", "--task", "ask", "--datasets", club, *words, *settings, "--out", ledger)
    assert code == 0
    assert "against_random" in capsys.readouterr().out
    assert run("results", ledger, "--format", "csv") == 0
    assert capsys.readouterr().out.startswith("dataset,predictor,per_class")
    assert run("report", ledger, "--out", tmp_path / "page.html") == 2
    assert "gramme results" in capsys.readouterr().err
    assert run("benchmark", "--datasets", club, "--per-class", "1", "--out", ledger) == 2
    assert "are for --task ask" in capsys.readouterr().err
