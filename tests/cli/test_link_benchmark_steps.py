"""``gramme benchmark --task links`` from a file to a ledger, its results and its page."""

from pathlib import Path

import pytest
from tests.cli.test_links import run
from tests.links.graphs import planted_links

from gramme.cli.link_benchmark_steps import show_ledger
from gramme.errors import DataError
from gramme.io import write


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
        show_ledger(ledger, "latex")
