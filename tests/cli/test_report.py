import json
from pathlib import Path

import pytest
from tests.report.page.graphs import two_blocks

from gramme.cli import main
from gramme.evaluation import benchmark
from gramme.graph import MultilayerGraph
from gramme.io import write
from gramme.report.page import read_data

FIT = ["--method", "label-propagation", "--quiet"]


def run(*arguments: object) -> int:
    """The exit code of a command."""
    try:
        main([str(one) for one in arguments])
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@pytest.fixture
def graph(tmp_path: Path) -> tuple[MultilayerGraph, Path]:
    made = two_blocks()
    path = tmp_path / "blocks.npz"
    write(made, path)
    return made, path


@pytest.fixture
def folder(graph, tmp_path: Path) -> Path:
    target = tmp_path / "fit"
    assert run("fit", graph[1], *FIT, "--holdout", "25%", "--out", target) == 0
    return target


def test_the_page_of_a_fit_is_made_again_from_its_folder(folder: Path, tmp_path: Path, capsys) -> None:
    target = tmp_path / "page.html"
    assert run("report", folder, "--out", target) == 0
    assert str(target) in capsys.readouterr().out.replace("\n", "")
    assert target.read_text() == (folder / "report.html").read_text()
    assert run("report", folder / "report.html", "--out", tmp_path / "again.html") == 0


def test_with_the_data_it_is_made_from_the_model(folder: Path, graph, tmp_path: Path) -> None:
    earlier = read_data(folder / "report.html")
    (folder / "report.html").unlink()
    target = tmp_path / "page.html"
    assert run("report", folder, "--out", target) == 2
    assert run("report", folder, "--data", graph[1], "--out", target) == 0
    again = read_data(target)
    assert earlier.keys() == again.keys()
    assert {key for key in earlier if earlier[key] != again[key]} == set()
    assert again["labels"]["held_out"] == 6


def test_an_attention_model_gives_the_same_map_from_its_file(graph, tmp_path: Path) -> None:
    quick = [one for pair in ("epochs=3", "ensemble=2") for one in ("--set", pair)]
    fit = ["fit", graph[1], "--method", "gramme-fusion", *quick, "--holdout", "25%", "--quiet"]
    assert run(*fit, "--out", tmp_path / "fit") == 0
    assert run("report", tmp_path / "fit", "--data", graph[1], "--out", tmp_path / "a.html") == 0
    earlier, again = read_data(tmp_path / "fit" / "report.html"), read_data(tmp_path / "a.html")
    for key in ("map", "neighbourhoods", "nodes", "layers"):
        assert earlier[key] == again[key]


def test_a_ledger_gives_the_page_of_a_benchmark(tmp_path: Path) -> None:
    ledger = tmp_path / "results.sqlite"
    benchmark({"blocks": two_blocks(labelled=60)}, ["majority"], out=ledger, train=[50], repeats=2, jobs=1)
    assert run("report", ledger, "--out", tmp_path / "a.html") == 0
    assert read_data(tmp_path / "a.html")["kind"] == "benchmark"
    assert run("report", ledger, "--data", "x", "--out", tmp_path / "b.html") == 2
    assert run("report", tmp_path / "a.html", "--out", tmp_path / "b.html") == 2


def test_mistakes_end_with_one_message(folder: Path, graph, tmp_path: Path, capsys) -> None:
    target = tmp_path / "page.html"
    other = tmp_path / "other.npz"
    write(two_blocks(40), other)
    (tmp_path / "text.txt").write_text("no ledger")
    (tmp_path / "taken.html").write_text("mine")
    cases = [
        (["report", tmp_path / "nothing", "--out", target], "there is no folder or ledger"),
        (["report", tmp_path / "text.txt", "--out", target], "neither a folder"),
        (["report", tmp_path, "--out", target], "neither a folder"),
        (["report", folder, "--out", tmp_path / "taken.html"], "exists already"),
        (["report", folder, "--out", tmp_path], "is a folder"),
        (["report", folder, "--out", tmp_path / "no" / "x.html"], "no folder"),
        (["report", folder, "--data", other, "--out", target], "other nodes"),
        (["report", folder, "--data", "nothing.npz", "--out", target], "there is no file"),
        (["report", tmp_path, "--data", graph[1], "--out", target], "no such model file"),
    ]
    for arguments, words in cases:
        assert run(*arguments) == 2
        assert words in capsys.readouterr().err.replace("\n", " ")
        assert not target.exists()
    assert (tmp_path / "taken.html").read_text() == "mine"


@pytest.mark.parametrize("damage", ["cut", "emptied", "data"])
def test_a_damaged_page_is_told(folder: Path, tmp_path: Path, capsys, damage: str) -> None:
    page = folder / "report.html"
    text = page.read_text()
    damaged = {"cut": text[: text.index('"map":')], "emptied": "", "data": text.replace('"nodes":{', '"knots":{')}[
        damage
    ]
    page.write_text(damaged)
    code = run("report", folder, "--out", tmp_path / "page.html")
    assert code == 2
    assert "report.html" in capsys.readouterr().err.replace("\n", "")


def test_damaged_settings_are_told(folder: Path, graph, tmp_path: Path) -> None:
    (folder / "config.json").write_text(json.dumps([1]))
    assert run("report", folder, "--data", graph[1], "--out", tmp_path / "a.html") == 2
