import csv
import io
import json
from pathlib import Path

import pytest
from tests.cli.test_fit import run
from tests.evaluation.runs import done, failed, spec

from gramme.evaluation import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    path = tmp_path / "r.sqlite"
    with Ledger(path) as opened:
        for dataset in ("balance_scale", "wine"):
            for r in range(4):
                for percent in (10.0, 20.0):
                    opened.record(done(spec("gramme-sg", r, dataset=dataset, percent=percent), 0.8 + 0.01 * r))
                    opened.record(done(spec("majority", r, dataset=dataset, percent=percent), 0.4))
        opened.record(failed(spec("majority", 9), "out of luck"))
    return path


@pytest.mark.parametrize("style", ["table", "csv", "json", "markdown", "latex"])
def test_every_format_has_the_papers_figure_beside_ours(
    ledger: Path, capsys: pytest.CaptureFixture[str], style: str
) -> None:
    assert run("results", ledger, "--format", style) == 0
    text = capsys.readouterr().out
    assert "77.67" in text
    assert "81.5" in text
    if style == "csv":
        assert len(list(csv.DictReader(io.StringIO(text)))) == 8
    if style == "json":
        assert len(json.loads(text)) == 8


def test_pairs_ranks_runs_failures_and_one_percentage(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = {"pairs": 4, "ranks": 2, "runs": 33, "failures": 1}
    for shown, count in rows.items():
        assert run("results", ledger, "--show", shown, "--format", "json") == 0
        assert len(json.loads(capsys.readouterr().out)) == count
    assert run("results", ledger, "--train", "20", "--format", "json") == 0
    assert {row["train_percent"] for row in json.loads(capsys.readouterr().out)} == {20.0}


def test_the_figure(ledger: Path) -> None:
    figure = ledger.parent / "ranks.png"
    assert run("results", ledger, "--figure", figure) == 0
    assert figure.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "excel"], "there is no format 'excel'"),
        (["--show", "everything"], "--show cannot be 'everything'"),
        (["--train", "50"], "it has: 10, 20"),
        (["--figure", "ranks.doc"], ".png, .pdf or .svg"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_mistakes(ledger: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert run("results", ledger, *arguments) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.out == ""


def test_no_ledger(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("results", tmp_path / "none.sqlite") == 2
    assert "no such file" in capsys.readouterr().err
