import json
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.cli.test_fit import run
from tests.cli.test_said import again

import gramme
from gramme.cli.fit_steps import (
    EstimatePlan,
    FitRequest,
    SetPlan,
    estimate_plan,
    fit_graph,
    fit_stages,
    parse_share,
    show_fit,
    table_record,
)
from gramme.cli.options import Output
from gramme.datasets import load
from gramme.errors import DataError, FileFormatError
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.graph.table import LayerPlan, TablePlan
from gramme.methods import LabelPropagation, Majority
from gramme.report.page.html import sentences

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
    first, second = sentences("sets", FACTS)
    assert first.endswith("95 % of new nodes; one class for 7 of 10 nodes to predict")
    assert second == "  undecided: a or b 3"
    assert "alone is right for about 97 %" in sentences("sets", FACTS | {"expected": 0.97, "alone": True})[0]
    every = sentences("sets", FACTS | {"expected": 1.0, "alone": True})[0]
    assert f"alone was right for all {FACTS['tested']} labels tested" in every
    (few,) = sentences("sets", FACTS | {"enough": False, "tested": 3})
    assert "3 labels are too few to guarantee 95 % (19 are needed)" in few
    assert "every set holds that" in sentences("sets", FACTS | {"unsettled": ["rare"]})[-1]
    assert "none to give a set to" in sentences("sets", FACTS | {"sizes": {}, "undecided": []})[0]


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
    show_fit(result, layers, Output(Path("out"), **how), ["predictions.csv", "report.html"])
    return capsys.readouterr().out


def test_what_a_person_sees(capsys):
    text = shown(capsys)
    assert "gat on [school]: learned from 10 of 30 nodes in 1.2 s" in text
    assert "predicted the other 20" in text
    assert "accuracy on 50 held-out nodes: 90.0 % (95 % interval 80.0 to 95.0 %)" in text
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
    first, second, *_ = sentences("accuracy", unequal)
    assert first.startswith("balanced accuracy on 50 held-out nodes: 40.0 %")
    assert second.startswith("  identified of each class: class 0: 0 of 10, class 1: 1 of 11")
    assert second.endswith(", ...")


def test_classes_that_were_not_tested_are_named_and_numbers_are_marked_as_classes():
    unequal = ESTIMATE | {
        "unequal_classes": True,
        "balanced_accuracy": 1.0,
        "balanced_accuracy_ci95": [0.3, 1.0],
        "recall": {"3": {"found": 1, "nodes": 1, "recall": 1.0}},
    }
    lines = sentences("accuracy", unequal, ["3", "4", "oak"])
    assert "  identified of each class: class 3: 1 of 1" in lines
    assert "  2 of 3 classes were not tested, for lack of labels: class 4, oak" in lines


@pytest.mark.parametrize(
    ("against", "words"), [("no better", "no better than"), ("unclear", "not clearly better than")]
)
def test_a_model_that_is_no_better_than_a_guess(against, words):
    lines = sentences("accuracy", ESTIMATE | {"against_guess": against})
    assert f"  {words} always saying 'a', which is right for 50.0 %" in lines
    assert not any("always saying" in line for line in sentences("accuracy", ESTIMATE))


def test_against_a_guess_it_is_said_by_what_it_is_judged():
    """54 % right against 98 % of a guess is not a draw: the balanced accuracy is."""
    unequal = ESTIMATE | {
        "unequal_classes": True,
        "balanced_accuracy": 0.52,
        "balanced_accuracy_ci95": [0.3, 0.7],
        "recall": {"a": {"found": 48, "nodes": 88}, "b": {"found": 1, "nodes": 2}},
        "against_guess": "unclear",
    }
    said = "by balanced accuracy not clearly better than always saying 'a', which has 50.0 %"
    assert any(said in line for line in sentences("accuracy", unequal))


def test_no_accuracy():
    lines = sentences("accuracy", {"kind": "none", "note": "it was not asked for"})
    assert lines == ["accuracy: not known (it was not asked for)"]


@pytest.mark.parametrize(("text", "share"), [("20%", 0.2), ("0.2", 0.2), ("99.5%", 0.995)])
def test_a_share(text, share):
    assert parse_share(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["0", "1", "100%", "-5%", "half", "", "nan"])
def test_what_is_no_share(text):
    with pytest.raises(DataError, match="is not a share; write 20% or"):
        parse_share(text)


def test_how_the_accuracy_is_to_be_estimated():
    assert estimate_plan("20%", None, wanted=True).share == 0.2
    assert estimate_plan(None, 3, wanted=True).folds == 3
    assert not estimate_plan(None, None, wanted=False).wanted


@pytest.mark.parametrize(
    ("holdout", "folds", "wanted", "words"),
    [
        ("20%", 5, True, "choose one"),
        (None, 1, True, "at least 2 are needed"),
        ("20%", None, False, "--no-estimate cannot go with"),
        (None, 5, False, "--no-estimate cannot go with"),
    ],
)
def test_wishes_that_exclude_each_other(holdout, folds, wanted, words):
    with pytest.raises(DataError, match=words):
        estimate_plan(holdout, folds, wanted=wanted)


def test_the_record_of_a_table_stands_beside_the_model(tmp_path):
    model, config = tmp_path / "model.safetensors", tmp_path / "config.json"
    assert table_record(model) is None
    plan = TablePlan({"age": LayerPlan(["age"], "bins", [18.0])}, label="party").record()
    for text, record in [(json.dumps({"table": plan}), plan), ('{"table": 3}', None), ("[]", None)]:
        config.write_text(text)
        assert table_record(model) == record
    for text in ("{", "[" * 100_000):
        config.write_text(text)
        with pytest.raises(DataError, match=r"config\.json cannot be read"):
            table_record(model)
    for change in (
        {"layers": {"age": {"columns": ["age"], "way": "bins", "choice": "x"}}},
        {"label": ["x"]},
        {"missing": {}},
        {"missing_values": 5},
    ):
        config.write_text(json.dumps({"table": plan | change}))
        with pytest.raises(FileFormatError, match=r"config\.json: .* take another copy"):
            table_record(model)


def fitted(graph, folder, *, raw_csv=False, **options):
    """The record of a fit and its files."""
    described = {"data": "d", "method": "majority"}
    output = Output(folder, raw_csv=raw_csv, quiet=True)
    return fit_graph(graph, Majority(), FitRequest(output, described, EstimatePlan(**options)))


@pytest.fixture
def graph():
    labels = [*"ababababab", None]
    return MultilayerGraph({"l": EdgeLayer(11, [0, 2], [1, 3])}, labels=labels)


def test_a_fit_ends_in_a_folder_and_a_record(graph, tmp_path):
    target = tmp_path / "out"
    result, files = fitted(graph, target, folds=2)
    assert {path.name for path in target.iterdir()} == set(files)
    assert (result["nodes"], result["training_labels"], result["classes"]) == (11, 10, ["a", "b"])
    assert result["estimate"]["kind"] == "cross-validation"
    assert json.loads((target / "config.json").read_text())["method"] == "majority"


def test_labels_held_out_are_not_learned_from(graph, tmp_path):
    result, *_ = fitted(graph, tmp_path / "out", share=0.2)
    assert (result["training_labels"], result["estimate"]["nodes"]) == (8, 2)


def test_no_estimate_and_no_labels(graph, tmp_path):
    assert fitted(graph, tmp_path / "a", wanted=False)[0]["estimate"]["kind"] == "none"
    with pytest.raises(DataError, match="no labels to learn from"):
        fitted(graph.replace(labels=None), tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_warnings_are_shown_as_before_afterwards(graph, tmp_path):
    before = warnings.showwarning
    fitted(graph, tmp_path / "out", wanted=False)
    assert warnings.showwarning is before


def test_names_that_are_no_unicode_are_escaped_or_refused_before_the_work(tmp_path):
    given = {"nodes": ["=1+1", "b\ud800", "c"], "labels": ["x", "y", None]}
    edges = EdgeLayer(3, [0, 1], [1, 2])
    fitted(MultilayerGraph({"a": edges}, **given), tmp_path / "nodes")
    written = (tmp_path / "nodes" / "predictions.csv").read_text("utf-8")
    assert "\n'=1+1," in written
    assert "\nb\\ud800," in written
    fitted(MultilayerGraph({"a": edges}, **given), tmp_path / "raw", raw_csv=True)
    assert "\n=1+1," in (tmp_path / "raw" / "predictions.csv").read_text("utf-8")
    with pytest.raises(DataError, match=r"the layer 'a\\ud800' is not valid Unicode"):
        fitted(MultilayerGraph({"a\ud800": edges}, **given), tmp_path / "layer")
    labels = {"labels": ["x\ud800", "y", None]}
    with pytest.raises(DataError, match=r"the label 'x\\ud800' is not valid Unicode"):
        fitted(MultilayerGraph({"a": edges}, **given | labels), tmp_path / "label")
    assert {path.name for path in tmp_path.iterdir()} == {"nodes", "raw"}


def test_the_stages_of_a_fit_count_by_how_many_fits_they_are() -> None:
    graph = load("balance_scale")
    fit, tests, writing = fit_stages(graph, LabelPropagation(), EstimatePlan(folds=4), "quick")
    assert fit[0] == "Fitting quick"
    assert tests[1] == pytest.approx(4 * fit[1])
    assert fit[1] + tests[1] + writing[1] == pytest.approx(1)
    assert fit_stages(graph, LabelPropagation(), EstimatePlan(wanted=False), "quick")[1][1] == 0


@pytest.fixture
def incomes(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    job, city = random.choice(list("abcd"), 150), random.choice(list("xyz"), 150)
    income = 100.0 * np.array([ord(one) - 96 for one in job]) + random.normal(0, 10, 150)
    income[100:] = np.nan
    table = pd.DataFrame({"id": [f"n{k}" for k in range(150)], "job": job, "city": city})
    income = income.round(5)  # no two persons earn the same, as it is with amounts
    assert len(set(income[:100])) == 100
    table.assign(income=income).to_csv(tmp_path / "incomes.csv", index=False)
    return tmp_path / "incomes.csv"


QUICK = ["--set", "ensemble=1", "--set", "epochs=20"]
OPTIONS = ["--table", "--label", "income", "--id", "id", "--label-kind", "number", *QUICK]


def test_numbers_are_predicted_with_intervals_and_the_page_says_the_same(
    incomes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = incomes.parent / "out"
    assert run("fit", incomes, *OPTIONS, "--out", out) == 0
    printed = capsys.readouterr().out
    config = json.loads((out / "config.json").read_text())
    assert config["r2"] > 0.9
    assert f"R2 {config['r2']:.3f}, {config['mean_absolute_error']:.4g} off on average" in printed
    table = pd.read_csv(out / "predictions.csv").set_index("node")
    job = pd.read_csv(incomes).set_index("id")["job"]
    truth = 100.0 * job.map(ord) - 9600
    assert (table["predicted"] - truth)[100:].abs().max() < 30
    assert ((table["low"] <= truth) & (truth <= table["high"]))[100:].mean() > 0.8
    known = table["known"].notna()
    assert np.allclose(
        (table["known"] - table["out_of_fold_predicted"])[known].abs().mean(), config["mean_absolute_error"], rtol=1e-4
    )
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "<h1><bdi>incomes</bdi></h1>" in page
    assert f"<strong>{config['mean_absolute_error']:.4g}</strong> off on average" in page
    assert "a linear model of who belongs to which group" in page, "there is nothing but groups"
    for section, shares in (("layers", config["layer_importance"]), ("ingredients", config["ingredients"])):
        part = page.split(f'<section id="{section}"')[1].split("</section>")[0]
        shown = re.findall(r'<td class="number">([\d.]+) %</td>', part)
        assert shown == [f"{100 * share:.1f}" for share in sorted(shares.values(), reverse=True)]
    assert again(out / "report.html", incomes.parent / "b") == 0
    assert (out / "predictions.csv").read_bytes() == (incomes.parent / "b" / "predictions.csv").read_bytes()


def test_numbers_set_aside_are_told_and_marked(incomes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = incomes.parent / "aside"
    assert run("fit", incomes, *OPTIONS, "--holdout", "20%", "--out", out) == 0
    printed = capsys.readouterr().out
    config = json.loads((out / "config.json").read_text())
    table = pd.read_csv(out / "predictions.csv").set_index("node")
    truth = pd.read_csv(incomes).set_index("id")["income"]
    assert config["held_out"]["nodes"] == table["held_out"].sum() == 20
    assert config["training_labels"] == 80
    assert table["known"][table["held_out"]].isna().all()
    np.testing.assert_allclose(table["true_label"][table["held_out"]], truth[table["held_out"]])
    missed = (table["predicted"] - truth)[table["held_out"]].abs().mean()
    assert config["held_out"]["mean_absolute_error"] == pytest.approx(missed, rel=1e-4)
    assert f"on 20 nodes set aside: R2 {config['held_out']['r2']:.3f}" in printed
    assert max(config["layer_importance"], key=config["layer_importance"].get) == "job"
    assert "Of the layers, job counts most" in printed


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--method", "label-propagation"], "--method label-propagation is for classes"),
        (["--folds", "3"], "--folds is for classes"),
        (["--no-estimate"], "--no-estimate is for classes"),
        (["--class-weight", "balanced"], "--class-weight is for classes"),
        (["--coverage", "80%", "--coverage-by-class"], "--coverage-by-class is for classes"),
        (["--set", "heads=3"], "gramme-regressor has no parameter 'heads'"),
    ],
)
def test_what_has_no_meaning_for_numbers_is_refused(
    incomes: Path, option: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("fit", incomes, *OPTIONS, *option, "--out", incomes.parent / "out") == 2
    assert said in capsys.readouterr().err
    assert not (incomes.parent / "out").exists()


def test_a_model_of_numbers_predicts_new_rows_and_makes_its_page_again(
    incomes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = incomes.parent / "out"
    assert run("fit", incomes, *OPTIONS, "--coverage", "80%", "--out", folder) == 0
    new = incomes.parent / "new.csv"
    pd.DataFrame({"id": ["p", "q"], "job": ["a", "d"], "city": ["x", "x"]}).to_csv(new, index=False)
    options = ["--coverage", "80%", "--out", incomes.parent / "new_predictions.csv"]
    assert run("predict", folder, new, *options) == 0
    found = pd.read_csv(incomes.parent / "new_predictions.csv")
    assert found.columns.tolist() == ["node", "known", "predicted", "low", "high", "basis"]
    assert found["node"].tolist() == ["p", "q"]
    assert found["predicted"].tolist() == pytest.approx([100, 400], abs=60)
    assert (found["basis"] == "groups").all()
    old = pd.read_csv(folder / "predictions.csv")
    assert ((found["high"] - found["low"]) > 0).all(), "each node has a width of its own"
    assert (old["low"] < old["high"]).all()
    capsys.readouterr()
    page = folder / "report.html"
    halves = (old["high"] - old["low"]) / 2
    said = re.search(r"For 80 % of rows .*? lies within ([\d.]+) of", page.read_text())
    assert halves.min() <= float(said[1]) <= halves.max(), "the typical width of the nodes' own"
    assert run("report", folder, "--out", incomes.parent / "same.html") == 0
    assert (incomes.parent / "same.html").read_text() == page.read_text()
    assert run("report", folder, "--data", incomes, "--out", incomes.parent / "new.html") == 0
    assert (incomes.parent / "new.html").read_text() == page.read_text()


def test_rows_that_share_nothing_are_strangers(incomes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, new = incomes.parent / "out", incomes.parent / "new.csv"
    assert run("fit", incomes, *OPTIONS, "--out", folder) == 0
    pd.DataFrame({"id": ["p", "q"], "job": ["k", "l"], "city": ["u", "v"]}).to_csv(new, index=False)
    assert run("predict", folder, new, "--out", incomes.parent / "p.csv") == 2
    assert "none of the 2 nodes can be distinguished" in capsys.readouterr().err
