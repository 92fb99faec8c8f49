"""``gramme groups`` from files to a folder, and its mistakes."""

import json

import pandas as pd
import pytest
from tests.cli.test_rank import run
from tests.grouping.planted import planted

from gramme.io import write


@pytest.fixture
def club(tmp_path):
    graph, _ = planted(names=[f"n{one}" for one in range(120)])
    path = tmp_path / "club.mpx"
    write(graph, path)
    return path


def test_a_file_becomes_groups_and_a_page(club, tmp_path, capsys):
    target = tmp_path / "groups"
    assert run("groups", club, "--out", target) == 0
    table = pd.read_csv(target / "groups.csv")
    assert list(table.columns) == ["node", "group", "stability", "layer 0", "layer 1", "noise 2"]
    assert table["group"].nunique() == 3
    files = {"config.json", "groups.csv", "layers.csv", "report.html"}
    assert {path.name for path in target.iterdir()} == files
    assert "3 groups, 3 of them stable" in capsys.readouterr().out
    assert run("groups", club, "--out", target, "--overwrite", "--count", 2, "--quiet") == 0
    assert pd.read_csv(target / "groups.csv")["group"].nunique() == 2


def test_groups_of_a_network_with_labels_are_a_layer_for_a_fit(club, tmp_path):
    people = tmp_path / "people.csv"
    people.write_text("node,team\n" + "".join(f"n{one},{'abc'[one % 3]}\n" for one in range(0, 120, 4)))
    target = tmp_path / "groups"
    assert run("groups", club, "--labels", people, "--out", target, "--quiet") == 0
    table = pd.read_csv(target / "groups.csv")
    assert table.columns[-1] == "label"
    assert table["label"].notna().sum() == 30
    words = ("--labels", target / "groups.csv", "--layers-from", "group")
    assert run("fit", club, *words, "--method", "label-propagation", "--out", tmp_path / "fit", "--quiet") == 0
    assert "group" in pd.read_csv(tmp_path / "fit" / "layers.csv")["layer"].tolist()


def test_a_table_without_labels_as_json(tmp_path, capsys):
    rows = [f"p{one},{one % 2},{one % 2},{(one + one // 20) % 2}" for one in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["name,a,b,c", *rows]))
    words = ("--table", "--id", "name", "--json", "--out", tmp_path / "groups")
    assert run("groups", tmp_path / "t.csv", *words) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["groups"] == 2
    assert sum(record["layer_part"].values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--count", "500"], "count is 500, but the graph has 120 nodes"),
        (["--layer", "layer0"], "there is no layer 'layer0'"),
        (["--engine", "infomap"], "engine must be one of gramme, leidenalg"),
        (["--resolution", "0"], "resolution must be a positive number"),
    ],
)
def test_a_mistake_is_one_message_and_leaves_nothing(club, tmp_path, capsys, arguments, message):
    target = tmp_path / "groups"
    assert run("groups", club, *arguments, "--out", target) == 2
    assert message in capsys.readouterr().err.replace("\n", " ")
    assert not target.exists()
