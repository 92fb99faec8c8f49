"""What a fit says about itself, on the terminal and on its page, held against its numbers."""

import json
import re
import shlex
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.cli.test_fit import run

from gramme.methods import GrammeAuto
from gramme.report.page import read_data


def command_of(page: Path) -> list[str]:
    """The words of the command under "The same result again"."""
    text = page.read_text(encoding="utf-8")
    found = re.search(r"The same result again</h3><pre[^>]*><code>(.*?)</code>", text)
    assert found is not None
    return shlex.split(unescape(found[1]))


def again(page: Path, out: Path) -> int:
    """Run the page's command into another place."""
    words = command_of(page)
    assert words[0] == "gramme"
    words[words.index("--out") + 1] = str(out)
    return run(*words[1:])


@pytest.fixture
def payments(tmp_path: Path) -> Path:
    """300 payments, 6 of them fraud, which nothing in the table tells."""
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "id": [f"p{k}" for k in range(300)],
            "shop": random.choice(list("abcd"), 300),
            "day": random.choice(["mo", "tu", "we"], 300),
            "kind": np.where(np.arange(300) % 50 == 7, "fraud", "ok"),
        }
    )
    table.to_csv(tmp_path / "payments.csv", index=False)
    return tmp_path / "payments.csv"


def test_a_rare_class_that_is_never_found_is_said_first(payments: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = payments.parent / "out"
    options = ["--table", "--label", "kind", "--id", "id", "--method", "one-hot-logistic"]
    assert run("fit", payments, *options, "--out", out) == 0
    printed = capsys.readouterr().out.splitlines()
    at = next(k for k, line in enumerate(printed) if "accuracy" in line)
    assert printed[at].startswith("balanced accuracy by cross-validation on 300 labelled nodes: 50.0 %")
    assert "fraud: 0 of 6, ok: 294 of 294" in printed[at + 1]
    assert "accuracy: 98.0 %" in printed[at + 2]
    said = "by balanced accuracy no better than always saying 'ok', which has 50.0 % and is right for 98.0 %"
    assert said in printed[at + 3]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.index("<strong>50.0 %</strong> balanced accuracy") < page.index("98 %")
    assert "no better than always saying “ok”" in page
    estimate = json.loads((out / "config.json").read_text())["estimate"]
    assert estimate["against_guess"] == "no better"


def test_labelled_nodes_have_out_of_fold_predictions(payments: Path) -> None:
    table = pd.read_csv(payments)
    table["shop"] = np.where(table["id"].str[1:].astype(int) % 2 == 0, "x", "y")
    table["kind"] = np.where(table["shop"] == "x", "even", "odd")
    table.loc[10, "kind"] = "odd"  # mislabelled
    table.loc[280:, "kind"] = ""
    table.to_csv(payments, index=False)
    out = payments.parent / "out"
    options = ["--table", "--label", "kind", "--id", "id", "--method", "one-hot-logistic"]
    assert run("fit", payments, *options, "--out", out, "--quiet") == 0
    found = pd.read_csv(out / "predictions.csv").set_index("node")
    assert found["out_of_fold_predicted"].notna().sum() == 280
    assert found.loc["p280":, "out_of_fold_predicted"].isna().all()
    assert found.loc["p10", ["known", "suggested"]].tolist() == ["odd", "even"]
    assert found["suggested"].notna().sum() == 1
    told = json.loads((out / "config.json").read_text())["estimate"]
    assert told["doubtful_labels"] == 1
    row = found.loc["p10"]
    assert row["out_of_fold_probability"] >= told["label_thresholds"]["even"]
    assert row["out_of_fold_probability_of_label"] < 0.5
    data = read_data(out / "report.html")
    assert run("report", out, "--data", payments, "--out", payments.parent / "again.html") == 0
    made = read_data(payments.parent / "again.html")
    for part in ("judged", "doubtful"):
        assert made["nodes"][part] == data["nodes"][part]


def predictions(folder: Path) -> bytes:
    return (folder / "predictions.csv").read_bytes()


@pytest.mark.parametrize(
    "options",
    [["--holdout", "20%", "--seed", "3"], ["--no-estimate"], ["--folds", "2", "--quiet", "--columns", "shop"]],
    ids=["holdout", "no-estimate", "columns"],
)
def test_the_pages_command_gives_the_same_predictions(payments: Path, options: list[str]) -> None:
    here = payments.parent
    table = ["--table", "--label", "kind", "--id", "id", "--method", "label-propagation"]
    assert run("fit", payments, *table, *options, "--out", here / "a") == 0
    assert again(here / "a" / "report.html", here / "b") == 0
    assert predictions(here / "a") == predictions(here / "b")


def test_the_demo_shows_the_default_method_and_its_command_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # both are short here; tests/test_packaging.py runs the demo as it is
    for name, short in (("epochs", 3), ("ensemble", 2), ("folds", 2)):
        monkeypatch.setitem(GrammeAuto.__init__.__kwdefaults__, name, short)
    assert run("demo", "--out", tmp_path / "a", "--seed", 1) == 0
    config = json.loads((tmp_path / "a" / "config.json").read_text())
    assert config["method"] == "gramme-auto"
    assert config["estimate"]["nodes"] == 438
    assert again(tmp_path / "a" / "report.html", tmp_path / "b") == 0
    assert predictions(tmp_path / "a") == predictions(tmp_path / "b")
    title = re.search(r"<title>(.*?)</title>", (tmp_path / "a" / "report.html").read_text())
    assert title is not None
    assert title[1] == "gramme-auto on balance_scale"


def test_the_title_is_the_datas_name(payments: Path) -> None:
    out = payments.parent / "out"
    options = ["--table", "--label", "kind", "--id", "id", "--method", "majority", "--no-estimate"]
    assert run("fit", payments.resolve(), *options, "--out", out) == 0
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "<title>majority on payments</title>" in page
    assert "<h1><bdi>payments</bdi></h1>" in page


def test_predicting_for_strangers_is_said_marked_and_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    school, out, target = tmp_path, tmp_path / "out", tmp_path / "new.csv"
    (school / "club.csv").write_text("layer,source,target\ntalk,A,B\ntalk,W,X\nplay,A,B\n")
    (school / "labels.csv").write_text("node,label\nA,left\nW,right\n")
    options = ["--labels", school / "labels.csv", "--method", "label-propagation", "--no-estimate"]
    assert run("fit", school / "club.csv", *options, "--out", out) == 0
    (school / "later.csv").write_text("layer,source,target\ntalk,A,N\nplay,Q,R\n")
    assert run("predict", out, school / "later.csv", "--out", target) == 0
    assert "2 of 4 nodes share no neighbour, group or feature" in capsys.readouterr().err
    found = pd.read_csv(target).set_index("node")["basis"]
    assert found.to_dict() == {"A": "neighbours", "N": "neighbours", "Q": "nothing", "R": "nothing"}
    (school / "other.csv").write_text("layer,source,target\ntalk,P,Q\nplay,Q,R\n")
    arguments = ["predict", out, school / "other.csv", "--out", school / "other-out.csv"]
    assert run(*arguments) == 2
    assert "none of the 3 nodes" in capsys.readouterr().err
    assert not (school / "other-out.csv").exists()
    assert run(*arguments, "--allow-unknown") == 0
    assert pd.read_csv(school / "other-out.csv")["basis"].eq("nothing").all()


@pytest.mark.parametrize("method", ["one-hot-logistic", "label-propagation", "majority"])
def test_balanced_classes_are_found_more_often_and_the_model_keeps_it(
    payments: Path, method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pd.read_csv(payments)
    random = np.random.default_rng(1)
    rare = random.random(300) < 0.1
    table["kind"] = np.where(rare, "fraud", "ok")
    table["shop"] = np.where(random.random(300) < np.where(rare, 0.7, 0.2), "x", "y")
    table.to_csv(payments, index=False)
    arguments = ["fit", payments, "--table", "--label", "kind", "--id", "id", "--method", method]
    found = {}
    for name, more in (("plain", []), ("even", ["--class-weight", "balanced"])):
        out = payments.parent / name
        assert run(*arguments, "--folds", 3, *more, "--json", "--out", out) == 0
        found[name] = json.loads(capsys.readouterr().out)["estimate"]["recall"]["fraud"]["found"]
    assert found["even"] > found["plain"]
    even = payments.parent / "even"
    assert "--class-weight balanced" in " ".join(command_of(even / "report.html"))
    assert run("predict", even, payments, "--out", payments.parent / "p.csv") == 0
    one = pd.read_csv(even / "predictions.csv")["probability_fraud"]
    other = pd.read_csv(payments.parent / "p.csv")["probability_fraud"]
    assert np.allclose(one, other, atol=1e-4)


def test_info_and_convert_take_tables_as_fit_does(payments: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read = ["--table", "--label", "kind", "--id", "id", "--columns", "shop"]
    assert run("info", payments, *read, "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert [layer["layer"] for layer in facts["layers"]] == ["shop"]
    assert facts["classes"] == {"fraud": 6, "ok": 294}
    assert run("convert", payments, payments.parent / "g.npz", *read) == 0
    assert run("info", payments.parent / "g.npz", "--json") == 0
    again = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (again["nodes"], again["classes"]) == (300, facts["classes"])
