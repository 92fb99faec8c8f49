import json
import re
import shlex
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.cli.test_fit import run
from tests.evaluation.runs import same
from tests.methods.graphs import planted

from gramme.cli import benchmark_steps
from gramme.evaluation import Ledger
from gramme.io import write
from gramme.report.benchmark_tables import LiveTable

FEW = ["--train", "10,30", "--repeats", "2", "--jobs", "1"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my.mpx"
    write(planted(40), path)
    return path


def test_a_users_own_file(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = file.parent / "r.sqlite"
    arguments = ["--methods", "gramme-fusion,label-propagation", "--set", "epochs=3"]
    assert run("benchmark", "--datasets", file, *arguments, *FEW, "--out", out) == 0
    printed = capsys.readouterr()
    assert "8 runs to do; 1 at a time" in printed.err
    assert "my " in printed.out
    assert "epochs=3" in printed.out
    assert run("benchmark", "--datasets", file, *arguments, *FEW, "--out", out) == 0
    assert "0 runs to do, 8 are done already" in capsys.readouterr().err
    more = ["--force", "--quiet"]
    assert run("benchmark", "--datasets", file, *arguments, *FEW, "--out", out, *more) == 0
    assert capsys.readouterr() == ("", "")


def test_splits_and_metric_of_ones_own(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, splits = file.parent / "r.sqlite", file.parent / "splits.csv"
    names = planted(40).nodes.tolist()
    rows = [f"{name},{'train' if place < 20 else 'test'}" for place, name in enumerate(names)]
    splits.write_text("node,mine\n" + "\n".join(rows) + "\n")
    arguments = ["--methods", "majority,label-propagation", "--jobs", "1", "--splits", splits, "--out", out]
    assert run("benchmark", "--datasets", file, *arguments, "--metric", "macro_f1", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["train_percent"], row["repeats"], row["metric"]) for row in rows] == [(50, 1, "macro_f1")] * 2
    assert run("results", out, "--metric", "log_loss", "--format", "csv") == 0
    assert "log_loss_ci95" in capsys.readouterr().out.splitlines()[0]
    assert run("results", out, "--metric", "speed") == 2
    assert "no metric 'speed' in this ledger" in capsys.readouterr().err
    assert run("benchmark", "--datasets", file, *arguments, "--train", "10") == 2
    assert "--splits says which nodes to learn from" in capsys.readouterr().err
    splits.write_text("node,mine\nn0,train\nnobody,test\n")
    assert run("benchmark", "--datasets", file, *arguments) == 2
    assert "there is no node 'nobody'" in capsys.readouterr().err
    assert run("benchmark", "--task", "links", "--datasets", file, "--splits", splits, "--out", out) == 2


def test_edges_with_a_file_of_labels_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = planted(40)
    edges = graph.layers["friends"].to_edges()
    names = graph.nodes.to_numpy()
    pairs = zip(names[edges.source], names[edges.target], strict=True)
    rows = [f"friends,{one},{other}" for one, other in pairs]
    (tmp_path / "e.csv").write_text("layer,source,target\n" + "\n".join(rows) + "\n")
    labels = [f"{name},{label}" for name, label in zip(names, graph.labels, strict=True)]
    (tmp_path / "l.csv").write_text("node,label\n" + "\n".join(labels) + "\n")
    arguments = ["--datasets", tmp_path / "e.csv", "--labels", tmp_path / "l.csv", "--json"]
    assert run("benchmark", *arguments, "--methods", "majority", *FEW, "--out", tmp_path / "r") == 0
    printed = capsys.readouterr()
    assert [row["repeats"] for row in json.loads(printed.out)] == [2, 2]
    assert printed.err.count("\n") <= 1
    assert "become nodes without edges" in printed.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "majorty"], "did you mean 'majority'"),
        (["--datasets", "wyne"], "did you mean 'wine'"),
        (["--datasets", "no/such.mpx"], "there is no file 'no/such.mpx'"),
        (["--datasets", ","], "--datasets names nothing"),
        (["--datasets", "wine,wine"], "named twice"),
        (["--train", "10,110"], "less than 100, not 110"),
        (["--train", "ten"], "'ten' is not a percentage"),
        (["--repeats", "0"], "at least one repeat"),
        (["--jobs", "0"], "at least one job"),
        (["--backend", "dask"], "there is no backend 'dask'"),
        (["--set", "depth"], "write it as"),
        (["--set", "depth=2"], "none of majority has a parameter 'depth'"),
        (["--set", "line.dim=2"], "'line' is none of the methods"),
        (["--datasets", "wine,digits", "--labels", __file__], "--labels is about one file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_mistakes_end_with_2_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    given = {"--datasets": "wine", "--methods": "majority"}
    given |= dict(zip(arguments[::2], arguments[1::2], strict=True))
    words = [word for pair in given.items() for word in pair]
    assert run("benchmark", *words, "--out", tmp_path / "r.sqlite") == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_ledger_stays_as_it_is(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = file.read_bytes()
    arguments = ["--datasets", "wine", "--methods", "majority", "--out", file]
    assert run("benchmark", *arguments, *FEW) == 2
    assert "cannot be used as a file of results" in capsys.readouterr().err
    assert file.read_bytes() == before


def test_the_pages_command_gives_the_same_results(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    party = random.choice(["red", "blue"], 60)
    vote = np.where(random.random(60) < 0.8, party, "none")
    table = pd.DataFrame({"id": range(60), "vote": vote, "party": party})
    table.to_csv(tmp_path / "my votes.csv", index=False)
    read = ["--table", "--label", "party", "--id", "id"]
    arguments = ["--datasets", tmp_path / "my votes.csv", "--methods", "majority,one-hot-logistic"]
    first, second = tmp_path / "a.sqlite", tmp_path / "b.sqlite"
    few = ["--train", "30", "--repeats", "2", "--jobs", "1", "--quiet"]
    assert run("benchmark", *arguments, *read, *few, "--out", first) == 0
    assert run("report", first, "--out", tmp_path / "a.html") == 0
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    found = re.search(r"How to repeat this</h2><pre[^>]*><code>(.*?)</code>", text)
    assert found is not None
    words = shlex.split(unescape(found[1]))
    words[words.index("--out") + 1] = str(second)
    assert run(*words[1:], "--jobs", 1, "--quiet") == 0
    with Ledger(first, create=False) as one, Ledger(second, create=False) as other:
        same(one.runs(), other.runs())


def test_ctrl_c_says_what_is_kept_and_how_to_go_on(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = file.parent / "r.sqlite"

    class Impatient(LiveTable):
        def add(self, result):
            super().add(result)
            if self.finished == 3:
                raise KeyboardInterrupt

    monkeypatch.setattr(benchmark_steps, "LiveTable", Impatient)
    arguments = ["benchmark", "--datasets", file, "--methods", "majority,label-propagation", *FEW]
    assert run(*arguments, "--out", out) == 130
    told = capsys.readouterr().err
    assert f"3 of 8 runs were done and are kept in {out}" in told
    assert "the same command goes on with the others" in told
    monkeypatch.undo()
    assert run(*arguments, "--out", out) == 0
    assert "5 runs to do, 3 are done already" in capsys.readouterr().err


def test_a_file_whose_attributes_may_be_labels_is_asked_for_its_label(tmp_path, capsys):
    (tmp_path / "a.mpx").write_text("#ACTOR ATTRIBUTES\nteam,STRING\n#ACTORS\na,red\nb,blue\n#EDGES\na,b,l\n")
    words = ["--datasets", tmp_path / "a.mpx", "--methods", "majority"]
    assert run("benchmark", *words, "--out", tmp_path / "r.sqlite") == 2
    assert "a has no labels; say with --label which attribute or column they are" in capsys.readouterr().err
