"""``gramme links`` and ``gramme benchmark --task links`` from files to folders, tables and pages."""

import json
from pathlib import Path

import pandas as pd
import pytest
from tests.links.graphs import planted_links
from tests.links.short import short_fits

from gramme.cli import main
from gramme.cli.links import _read_pairs
from gramme.errors import DataError, FileFormatError
from gramme.io import read, write
from gramme.links import GrammeLinks


def run(*arguments: object) -> int:
    try:
        main([str(one) for one in arguments])
    except SystemExit as end:
        return int(end.code or 0)
    return 0


@pytest.fixture(scope="module", autouse=True)
def short():
    with short_fits():
        yield


@pytest.fixture
def friends(tmp_path: Path) -> Path:
    path = tmp_path / "friends.mpx"
    write(planted_links(40), path)
    return path


def test_a_file_becomes_links_a_model_and_a_page(friends: Path, tmp_path: Path, capsys) -> None:
    target = tmp_path / "links"
    assert run("links", friends, "--layer", "talk", "--top", 7, "--out", target) == 0
    table = pd.read_csv(target / "links.csv")
    assert list(table.columns) == ["layer", "source", "target", "probability", "score", "why", "change"]
    assert len(table) == 7
    assert set(table["layer"]) == {"talk"}
    assert {path.name for path in target.iterdir()} == {
        "config.json",
        "ingredients.csv",
        "links.csv",
        "model.safetensors",
        "report.html",
    }
    model = GrammeLinks.load(target / "model.safetensors")
    pair = table.iloc[0]
    again = model.predict_proba("talk", [(pair["source"], pair["target"])])[0]
    assert again == pytest.approx(pair["probability"], abs=1e-5)
    assert "What counts most" in capsys.readouterr().out


def test_candidates_can_be_opened_in_gephi(friends: Path, tmp_path: Path) -> None:
    target = tmp_path / "links"
    assert run("links", friends, "--layer", "talk", "--top", 5, "--gephi", "--out", target) == 0
    assert read(target / "links.gexf").layers["talk (candidates)"].num_edges == 5


def test_given_pairs_are_scored(friends: Path, tmp_path: Path, capsys) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("layer,source,target\ntalk,n0,n4\nmail,n0,n1\n")
    target = tmp_path / "links"
    assert run("links", friends, "--pairs", pairs, "--json", "--out", target) == 0
    assert json.loads(capsys.readouterr().out)["links"] == 2
    table = pd.read_csv(target / "links.csv")
    assert sorted(table["layer"]) == ["mail", "talk"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--layer", "tlak"], "did you mean 'talk'?"),
        (["--node", "nobody"], "there is no node 'nobody'"),
        (["--pairs", "missing.csv"], "there is no file 'missing.csv'"),
    ],
)
def test_a_mistake_is_one_message(friends, tmp_path, capsys, arguments, message) -> None:
    target = tmp_path / "links"
    assert run("links", friends, *arguments, "--out", target) == 2
    assert message in capsys.readouterr().err.replace("\n", " ")
    assert not target.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("layer,source,target\ntalk,n0,n4\nchat,n0,n1\n", "line 3: links of the layer 'chat'"),
        ("layer,source,target\nmail,n0,n4\n", "line 2: links of the layer 'mail'"),
        ("source,target\nn0,n4\nn0,nobody\n", "line 3: there is no node 'nobody'"),
        ("source,target\nn0,n4\nn3,n3\n", "line 3: 'n3' is paired with itself"),
        ("first,second\nn0,n4\n", "has no column 'source'"),
    ],
)
def test_a_wrong_row_of_pairs_is_named_before_anything_is_learned(
    friends, tmp_path, capsys, monkeypatch, text, message
) -> None:
    """A row of another layer once vanished without a word."""
    monkeypatch.setattr(GrammeLinks, "fit", lambda *_, **__: pytest.fail("learned first"))
    pairs, target = tmp_path / "pairs.csv", tmp_path / "links"
    pairs.write_text(text)
    assert run("links", friends, "--layer", "talk", "--pairs", pairs, "--out", target) == 2
    assert message in capsys.readouterr().err.replace("\n", " ")
    assert not target.exists()


# Files of pairs: names as the graph has them, a layer or all of them, and what is wrong with its line.


def test_nodes_that_are_numbers_are_found_by_their_text(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("source,target\n1,2\n")
    table = _read_pairs(path, {"1": 1, "2": 2}, ["talk"])
    assert table[["source", "target"]].to_numpy().tolist() == [[1, 2]]
    assert table["layer"].tolist() == [""], "no layer means every layer"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "has no column 'source'"),
        ("source,target\n1,2\n1,zz\n", "line 3: there is no node 'zz' in the data"),
        ("", "is no CSV file of pairs"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(tmp_path, text, message):
    path = tmp_path / "pairs.csv"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=message):
        _read_pairs(path, {"1": 1, "2": 2}, ["talk"])


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match="there is no file"):
        _read_pairs(tmp_path / "none.csv", {}, [])
