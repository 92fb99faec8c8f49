import json
from pathlib import Path

import pandas as pd
import pytest

from gramme.cli.showing import accuracy_told, printer

ESTIMATE = {
    "kind": "holdout",
    "nodes": 50,
    "accuracy": 0.9,
    "accuracy_ci95": [0.8, 0.95],
    "unequal_classes": False,
    "guess": {"class": "a", "accuracy": 0.5},
    "against_guess": "better",
    "note": "measured once",
}
RESULT = {
    "method": "gat",
    "data": "[school]",
    "nodes": 30,
    "training_labels": 10,
    "seconds": 1.25,
    "estimate": ESTIMATE,
}
LAYERS = pd.DataFrame({"layer": ["talk", "play"], "importance": [0.25, 0.75]})


def shown(capsys, result=RESULT, layers=LAYERS, **how):
    printer(**{"as_json": False, "quiet": False} | how)(
        result, layers, Path("out"), ["predictions.csv", "report.html"]
    )
    return capsys.readouterr().out


def test_what_a_person_sees(capsys):
    text = shown(capsys)
    assert "gat on [school]: learned from 10 of 30 nodes in 1.2 s" in text
    assert "predicted the other 20" in text
    assert "accuracy on 50 held-out nodes: 90.0% (95 % interval 80.0% to 95.0%)" in text
    assert text.index("play") < text.index("talk")
    assert "open out/report.html" in text


def test_all_labelled(capsys):
    assert "none left to predict" in shown(capsys, RESULT | {"training_labels": 30})


def test_what_a_script_sees(capsys):
    record = json.loads(shown(capsys, as_json=True))
    assert record["layer_importance"] == {"talk": 0.25, "play": 0.75}
    assert (record["out"], record["files"]) == ("out", ["predictions.csv", "report.html"])
    assert shown(capsys, quiet=True) == ""


def test_many_layers_and_layers_of_no_importance(capsys):
    many = pd.DataFrame({"layer": [str(n) for n in range(25)], "importance": [0.0] * 25})
    assert "and 5 more in layers.csv" in shown(capsys, layers=many)


def test_a_long_name_of_a_layer_stays_whole(capsys, monkeypatch):
    monkeypatch.setattr("gramme.cli.console.out._width", 80)
    name = "export-administration-act-south-africa"
    text = shown(capsys, layers=LAYERS.assign(layer=[name, "play"]))
    assert name in text
    assert max(map(len, text.splitlines()[-5:])) <= 80


def test_rare_classes_are_told_first():
    recall = {f"class {n}": {"found": n, "nodes": 10 + n} for n in range(10)}
    unequal = ESTIMATE | {
        "unequal_classes": True,
        "balanced_accuracy": 0.4,
        "balanced_accuracy_ci95": [0.3, 0.5],
        "recall": recall,
    }
    first, second, *_ = accuracy_told(unequal)
    assert first.startswith("balanced accuracy on 50 held-out nodes: 40.0%")
    assert second.startswith("  found of each class: class 0 0 of 10, class 1 1 of 11")
    assert second.endswith(", ...")


@pytest.mark.parametrize(
    ("against", "words"), [("no better", "no better than"), ("unclear", "not clearly better than")]
)
def test_a_model_that_is_no_better_than_a_guess(against, words):
    lines = accuracy_told(ESTIMATE | {"against_guess": against})
    assert f"  {words} always saying 'a', which is right for 50.0%" in lines
    assert not any("always saying" in line for line in accuracy_told(ESTIMATE))


def test_against_a_guess_it_is_said_by_what_it_is_judged():
    """54 % right against 98 % of a guess is not a draw: the balanced accuracy is."""
    unequal = ESTIMATE | {
        "unequal_classes": True,
        "balanced_accuracy": 0.52,
        "balanced_accuracy_ci95": [0.3, 0.7],
        "recall": {"a": {"found": 48, "nodes": 88}, "b": {"found": 1, "nodes": 2}},
        "against_guess": "unclear",
    }
    said = "by balanced accuracy not clearly better than always saying 'a', which has 50.0%"
    assert any(said in line for line in accuracy_told(unequal))


def test_no_accuracy():
    lines = accuracy_told({"kind": "none", "note": "it was not asked for"})
    assert lines == ["accuracy: not known (it was not asked for)"]
