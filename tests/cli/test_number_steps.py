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
    table.assign(income=income.round(2)).to_csv(tmp_path / "incomes.csv", index=False)
    return tmp_path / "incomes.csv"


OPTIONS = ["--table", "--label", "income", "--id", "id", "--label-kind", "number"]


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
    weights = re.findall(r'<td class="number">([\d.]+)%</td>', page)
    assert weights == [f"{100 * weight:.1f}" for weight in config["ingredients"].values()]
    assert again(out / "report.html", incomes.parent / "b") == 0
    assert (out / "predictions.csv").read_bytes() == (
        incomes.parent / "b" / "predictions.csv"
    ).read_bytes()


def test_a_method_for_classes_is_refused(incomes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["fit", incomes, *OPTIONS, "--method", "label-propagation"]
    assert run(*arguments, "--out", incomes.parent / "out") == 2
    assert "predicts classes" in capsys.readouterr().err
