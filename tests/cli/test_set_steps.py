import json

import pandas as pd
import pytest
from tests.cli.test_fit import run

import gramme
from gramme import DataError
from gramme.cli.set_steps import SetPlan, sets_told

FACTS = {
    "coverage": 0.95,
    "expected": 0.95,
    "alone": False,
    "by_class": False,
    "tested": 40,
    "needed": 19,
    "enough": True,
    "unsettled": [],
    "sizes": {"1": 7, "2": 3},
    "undecided": [{"classes": ["a", "b"], "nodes": 3}],
}


def test_what_was_asked_for():
    assert SetPlan.of(None, by_class=False) is None
    assert SetPlan.of("90%", by_class=True) == SetPlan(0.9, True)
    with pytest.raises(DataError, match="needs --coverage"):
        SetPlan.of(None, by_class=True)
    with pytest.raises(DataError, match="'90' is not a share"):
        SetPlan.of("90", by_class=False)


def test_what_is_said():
    first, second = sets_told(FACTS)
    assert first.endswith("95 % of new nodes; one class for 7 of 10 nodes to predict")
    assert second == "  undecided: a or b 3"
    assert (
        "alone is right for about 97 %" in sets_told(FACTS | {"expected": 0.97, "alone": True})[0]
    )
    every = sets_told(FACTS | {"expected": 1.0, "alone": True})[0]
    assert f"alone was right for all {FACTS['tested']} labels tested" in every
    (few,) = sets_told(FACTS | {"enough": False, "tested": 3})
    assert "3 labels are too few to promise 95 % (19 are needed)" in few
    assert "every set holds that" in sets_told(FACTS | {"unsettled": ["rare"]})[-1]
    assert "none to give a set to" in sets_told(FACTS | {"sizes": {}, "undecided": []})[0]


def test_from_the_command_line_to_the_folder_and_to_new_predictions(tmp_path, capsys):
    out = tmp_path / "out"
    wanted = ["--coverage", "0.9", "--method", "one-hot-logistic"]
    assert run("fit", "balance_scale", "--holdout", "70%", *wanted, "--out", out) == 0
    assert "hold the true class of 90 % of new nodes" in capsys.readouterr().out
    table = pd.read_csv(out / "predictions.csv", dtype=str, keep_default_na=False)
    model = gramme.load(out / "model.safetensors")
    graph = gramme.datasets.load("balance_scale")
    hit = [label in text.split("|") for label, text in zip(graph.labels, table["set"], strict=True)]
    known = table["known"] != ""
    assert (table["set"] == table["known"])[known].all()
    assert pd.Series(hit)[~known].mean() >= 0.9  # split conformal, on the labels it was set on
    facts = json.loads((out / "config.json").read_text())["sets"]
    assert facts["tested"] == (~known).sum()
    assert "Sets of classes" in (out / "report.html").read_text()
    again = tmp_path / "again.csv"
    assert run("predict", out, "balance_scale", "--coverage", "90%", "--out", again) == 0
    other = pd.read_csv(again, dtype=str, keep_default_na=False)
    assert (other["set"] == table["set"])[~known].all()
    assert list(other.columns)[-2:] == ["set", "basis"]
    assert model.predict_set(coverage=0.9).shape == (625, 3)
