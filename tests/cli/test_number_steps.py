"""``gramme fit --label-kind number``: from a table with an amount to predictions with intervals and a page."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.cli.test_fit import run
from tests.cli.test_said import again


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
        (table["known"] - table["out_of_fold_predicted"])[known].abs().mean(),
        config["mean_absolute_error"],
        rtol=1e-4,
    )
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "<h1><bdi>incomes</bdi></h1>" in page
    assert f"<strong>{config['mean_absolute_error']:.4g}</strong> off on average" in page
    assert "a linear model of who belongs to which group" in page, "there is nothing but groups"
    weights = re.findall(r'<td class="number">([\d.]+)%</td>', page)
    heaviest_first = sorted(config["ingredients"].values(), reverse=True)
    assert weights == [f"{100 * weight:.1f}" for weight in heaviest_first]
    assert again(out / "report.html", incomes.parent / "b") == 0
    assert (out / "predictions.csv").read_bytes() == (
        incomes.parent / "b" / "predictions.csv"
    ).read_bytes()


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--method", "label-propagation"], "--method label-propagation is for classes"),
        (["--holdout", "20%"], "--holdout is for classes"),
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
    assert np.allclose(found["high"] - found["low"], (old["high"] - old["low"])[0], rtol=1e-4)
    capsys.readouterr()
    page = folder / "report.html"
    half = (old["high"] - old["low"])[0] / 2
    said = re.search(r"For 80% of nodes .*? lies within ([\d.]+) of", page.read_text())
    assert float(said[1]) == pytest.approx(half, rel=1e-3)
    assert run("report", folder, "--out", incomes.parent / "same.html") == 0
    assert (incomes.parent / "same.html").read_text() == page.read_text()
    assert run("report", folder, "--data", incomes, "--out", incomes.parent / "new.html") == 0
    assert (incomes.parent / "new.html").read_text() == page.read_text()


def test_rows_that_share_nothing_are_strangers(
    incomes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, new = incomes.parent / "out", incomes.parent / "new.csv"
    assert run("fit", incomes, *OPTIONS, "--out", folder) == 0
    pd.DataFrame({"id": ["p", "q"], "job": ["k", "l"], "city": ["u", "v"]}).to_csv(new, index=False)
    assert run("predict", folder, new, "--out", incomes.parent / "p.csv") == 2
    assert "none of the 2 nodes can be told from another" in capsys.readouterr().err
