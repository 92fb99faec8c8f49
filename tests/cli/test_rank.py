"""``gramme rank`` from files and datasets to a folder, and its mistakes."""

import json
from pathlib import Path

import pandas as pd
import pytest
from tests.ranking.families import florentine_families

from gramme.cli import main
from gramme.cli import rank as module
from gramme.cli.analysis import named_nodes
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.io import write


def run(*arguments: object) -> int:
    try:
        main([str(one) for one in arguments])
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@pytest.fixture
def families(tmp_path: Path) -> Path:
    path = tmp_path / "families.mpx"
    write(florentine_families(), path)
    return path


def test_a_file_becomes_ranks_seeds_and_a_page(families: Path, tmp_path: Path, capsys) -> None:
    target = tmp_path / "ranks"
    assert run("rank", families, "--measures", "degree,voterank", "--out", target) == 0
    table = pd.read_csv(target / "ranks.csv")
    assert list(table.columns[:2]) == ["node", "degree"]
    assert "voterank" in table.columns
    assert table.set_index("node").loc["Medici", "degree"] == 11
    assert {path.name for path in target.iterdir()} == {
        "config.json",
        "layers.csv",
        "ranks.csv",
        "report.html",
        "seeds.csv",
    }
    assert "Medici" in capsys.readouterr().out


def test_a_table_is_ranked_without_labels(tmp_path: Path, capsys) -> None:
    path = tmp_path / "people.csv"
    path.write_text("name,town,club\nAnn,a,x\nBo,a,x\nCy,b,x\nDi,b,y\n")
    target = tmp_path / "ranks"
    code = run("rank", path, "--table", "--id", "name", "--measures", "degree", "--json", "--out", target)
    assert code == 0
    assert json.loads(capsys.readouterr().out)["leading"][:3] == ["Ann", "Bo", "Cy"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--measures", "degre"], "did you mean 'degree'?"),
        (["--layer", "bussiness"], "did you mean 'business'?"),
        (["--near", "Borgia"], "there is no node 'Borgia'"),
        (["--spreading", "sir"], "'cascade' or 'threshold'"),
    ],
)
def test_a_mistake_is_one_message_and_leaves_nothing(families, tmp_path, capsys, arguments, message) -> None:
    target = tmp_path / "ranks"
    assert run("rank", families, *arguments, "--no-spread", "--out", target) == 2
    assert message in capsys.readouterr().err.replace("\n", " ")
    assert not target.exists()


@pytest.mark.parametrize(("options", "first"), [((), "'=1+1"), (("--raw-csv",), "=1+1")])
def test_names_that_are_formulas(tmp_path: Path, options, first) -> None:
    (tmp_path / "e.csv").write_text("source,target\n=1+1,b\nb,c\n")
    target = tmp_path / "ranks"
    words = ("--measures", "degree", "--seeds", 0, "--no-spread", *options)
    assert run("rank", tmp_path / "e.csv", *words, "--out", target) == 0
    assert first in (target / "ranks.csv").read_text().replace("\n", ",").split(",")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--measures", "degre"], "did you mean 'degree'"),
        (["--spreading", "sir"], "'cascade' or 'threshold', not 'sir'"),
    ],
)
def test_mistakes_are_told_before_anything_is_read(tmp_path, capsys, options, message):
    broken = tmp_path / "broken.csv"
    broken.write_text("\0")
    assert run("rank", broken, *options, "--out", tmp_path / "new") == 2
    assert message in capsys.readouterr().err
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "notes.txt").touch()
    assert run("rank", broken, "--out", tmp_path / "old") == 2
    assert "exists already" in capsys.readouterr().err


def test_nodes_are_found_by_their_text():
    numbered = MultilayerGraph({"l": EdgeLayer(3, [0], [1])})
    assert named_nodes(numbered, ["2", "x"]) == [2, "x"]
    assert named_nodes(numbered, []) == []


@pytest.mark.parametrize(("most", "wide"), [(2, True), (1, False)])
def test_the_spread_of_large_graphs_is_left_out_and_that_is_said(tmp_path, monkeypatch, capsys, most, wide):
    (tmp_path / "e.csv").write_text("source,target\na,b\nb,c\n")
    monkeypatch.setattr(module, "MAX_SPREAD_ENTRIES", most)
    options = ["--measures", "degree", "--seeds", 0, "--out", tmp_path / "ranks"]
    assert run("rank", tmp_path / "e.csv", *options) == 0
    assert ("with 2 edges and memberships" in capsys.readouterr().err) is not wide
    assert ("degree_rank_low" in (tmp_path / "ranks" / "ranks.csv").read_text()) is wide


@pytest.mark.parametrize(("layer", "node"), [("l\ud800", "a"), ("l", "a\ud800")])
@pytest.mark.parametrize("command", ["rank", "links", "info"])
def test_names_that_cannot_be_written_are_refused_before_the_work(tmp_path, capsys, command, layer, node):
    path = tmp_path / "a.npz"
    write(MultilayerGraph({layer: EdgeLayer(3, [0, 1], [1, 2])}, nodes=[node, "b", "c"]), path)
    words = [] if command == "info" else ["--out", str(tmp_path / "out")]
    with pytest.raises(SystemExit) as end:
        main([command, str(path), *words])
    if command == "info" and layer == "l":
        assert not end.value.code  # the names of nodes are not shown
        return
    assert end.value.code == 2
    assert "is not valid Unicode text; rename it" in capsys.readouterr().err
