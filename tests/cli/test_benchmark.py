import json
from pathlib import Path

import pytest
from tests.cli.test_fit import run
from tests.methods.graphs import planted

from gramme.io import write

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


def test_edges_with_a_file_of_labels_and_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
    assert printed.err == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "majorty"], "did you mean 'majority'"),
        (["--datasets", "wyne"], "did you mean 'wine'"),
        (["--datasets", "no/such.mpx"], "there is no file 'no/such.mpx'"),
        (["--datasets", ","], "--datasets names nothing"),
        (["--datasets", "wine,wine"], "named twice"),
        (["--train", "10,110"], "less than 100, not 110"),
        (["--train", "ten"], "'ten' is no percentage"),
        (["--repeats", "0"], "at least one repeat"),
        (["--jobs", "0"], "at least one job"),
        (["--backend", "dask"], "there is no backend 'dask'"),
        (["--set", "depth"], "write it as"),
        (["--set", "depth=2"], "none of majority has a parameter 'depth'"),
        (["--set", "line.dim=2"], "'line' is none of the methods"),
        (["--datasets", "wine,digits", "--labels", "x.csv"], "--labels is about one file"),
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


def test_a_file_that_is_no_ledger_stays_as_it_is(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = file.read_bytes()
    arguments = ["--datasets", "wine", "--methods", "majority", "--out", file]
    assert run("benchmark", *arguments, *FEW) == 2
    assert "cannot be used as a file of results" in capsys.readouterr().err
    assert file.read_bytes() == before
