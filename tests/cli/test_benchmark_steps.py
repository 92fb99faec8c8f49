from pathlib import Path

import pytest
from tests.cli.test_links import run
from tests.evaluation.runs import spec
from tests.links.graphs import planted_links

from gramme.cli.benchmark_steps import RunShare, graphs, parsed_settings, show_ledger
from gramme.cli.options import Reading
from gramme.errors import DataError
from gramme.evaluation.run import Cost, RunResult
from gramme.io import write
from gramme.methods import GrammeFusion, method

METHODS = [method("gramme-fusion"), method("majority")]


def test_settings_of_one_method_or_of_all_that_have_it():
    found = parsed_settings(METHODS, ["gramme-fusion.depth=1", "random_state=3"])
    assert found["gramme-fusion"] == {"depth": 1, "random_state": 3}
    assert parsed_settings(METHODS, []) == {"gramme-fusion": {}, "majority": {}}


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("depth", "write it as method.name=value"),
        ("gat.depth=1", "'gat' is none of the methods"),
        ("nonsense=1", "none of gramme-fusion, majority has a parameter 'nonsense'"),
        ("gramme-fusion.dept=1", "did you mean 'depth'"),
    ],
)
def test_settings_that_make_no_sense(setting, words):
    with pytest.raises(DataError, match=words):
        parsed_settings(METHODS, [setting])


def test_graphs_are_named_by_file_unless_two_would_be_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.csv").write_text("layer,source,target\nl,1,2\n")
    assert list(graphs("a/x.csv,balance_scale", Reading())) == ["x", "balance_scale"]
    assert list(graphs("a/x.csv, b/x.csv", Reading())) == ["a/x.csv", "b/x.csv"]
    with pytest.raises(DataError, match="is named twice"):
        graphs("a/x.csv,a/x.csv", Reading())
    with pytest.raises(DataError, match="--label is about one file, and 2 datasets are named"):
        graphs("a/x.csv,b/x.csv", Reading(label="l"))
    with pytest.raises(DataError, match="--datasets names nothing"):
        graphs(" , ", Reading())


def test_the_share_of_runs_that_are_done_counts_what_they_took():
    """Two quick runs of three are not two thirds of the work, once it is known what the third takes."""

    def took(one, seconds):
        return RunResult(one, "done", cost=Cost(wall_seconds=seconds))

    share = RunShare()
    quick, slow = spec("majority"), spec("gramme-fusion", estimator=GrammeFusion)
    share.start([quick, quick, slow, slow])
    assert share.add(took(quick, 1.0)) == pytest.approx(1 / 4)
    assert share.add(took(slow, 9.0)) == pytest.approx(10 / 20)
    assert share.add(took(quick, 1.0)) == pytest.approx(11 / 20)
    assert share.add(took(slow, 9.0)) == 1


@pytest.fixture
def friends(tmp_path: Path) -> Path:
    path = tmp_path / "friends.mpx"
    write(planted_links(40), path)
    return path


def test_a_benchmark_of_links_has_results_and_a_page(friends, tmp_path, capsys) -> None:
    ledger = tmp_path / "links.sqlite"
    options = ["--methods", "own-adamic-adar,repeated", "--jobs", "1", "--out", ledger]
    assert run("benchmark", "--task", "links", "--datasets", friends, *options) == 0
    assert "own-adamic-adar" in capsys.readouterr().out
    assert run("results", ledger, "--format", "csv") == 0
    assert capsys.readouterr().out.startswith("dataset,negatives,method,layer,")
    page = tmp_path / "page.html"
    assert run("report", ledger, "--out", page) == 0
    assert "edges of one layer held out, other layers visible" in page.read_text()
    assert run("benchmark", "--task", "nodes", "--datasets", friends, "--out", ledger) == 2
    assert run("benchmark", "--task", "links", "--train", "10", "--out", ledger) == 2
    with pytest.raises(DataError, match="shown as table, csv, json, not as 'latex'"):
        show_ledger(ledger, "links", "latex")
