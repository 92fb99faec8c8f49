import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from tests.evaluation.runs import CONTRACT, done, failed, spec

from gramme.errors import DataError
from gramme.evaluation import Ledger, summarise
from gramme.report.results_formats import STYLES, format_results


@pytest.fixture
def summary(tmp_path):
    noise = np.random.default_rng(0).normal(0, 0.01, 10)
    with Ledger(tmp_path / "r.sqlite") as ledger:
        for r in range(10):
            ledger.record(
                done(spec("gramme-sg", r, dataset="balance_scale"), 0.9 + noise[r], peak=0.95)
            )
            ledger.record(done(spec("majority", r, dataset="balance_scale"), 0.5))
        ledger.record(failed(spec("we[b]|ird_100%", dataset="balance_scale")))
        return summarise(ledger)


@pytest.mark.parametrize("style", STYLES)
def test_every_format_has_the_contracts_columns_and_the_papers_figure(summary, style):
    text = format_results(summary, style)
    for name in CONTRACT:
        assert (name.replace("_", r"\_") if style == "latex" else name) in text
    assert "77.67" in text
    assert "gramme-sg" in text


def test_csv_and_json_are_the_whole_table(summary):
    rows = list(csv.DictReader(io.StringIO(format_results(summary, "csv"))))
    assert list(rows[0]) == list(summary)
    assert float(rows[0]["accuracy_mean"]) == summary["accuracy_mean"][0]
    objects = json.loads(format_results(summary, "json"))
    assert objects[0]["best"] is True
    assert objects[0]["p_value"] is None
    assert objects[1]["paper_accuracy"] is None
    assert objects[1]["repeats"] == 10


def test_the_best_is_marked_and_nothing_else(summary):
    mean = f"{summary['accuracy_mean'][0]:.2f}"
    assert format_results(summary, "markdown").count("**") == 2
    assert f"**{mean}**" in format_results(summary, "markdown")
    assert format_results(summary, "latex").count(rf"\textbf{{{mean}}}") == 1
    assert f"{mean} *" in format_results(summary, "table")
    unsure = format_results(summary.assign(best=False), "markdown")
    assert "**" not in unsure


def test_names_are_shown_as_they_are(summary):
    assert "we[b]|ird_100%" in format_results(summary, "table")
    assert r"we[b]\|ird_100%" in format_results(summary, "markdown")
    assert r"we[b]|ird\_100\%" in format_results(summary, "latex")
    lines = format_results(summary, "markdown").splitlines()
    assert len({line.replace(r"\|", "").count("|") for line in lines}) == 1


def test_latex_has_a_cell_for_every_column(summary):
    lines = [line for line in format_results(summary, "latex").splitlines() if "&" in line]
    assert len(lines) == 1 + len(summary)
    assert len({line.replace(r"\&", "").count("&") for line in lines}) == 1


def test_columns_without_news_are_left_out_for_people(summary):
    assert "failed" in format_results(summary, "markdown")
    assert "failed" not in format_results(summary.head(2), "markdown")
    assert "failed" in format_results(summary.head(2), "csv")


@pytest.mark.parametrize("style", STYLES)
def test_an_empty_table(style):
    assert isinstance(format_results(pd.DataFrame({"dataset": [], "method": []}), style), str)


def test_unknown_format(summary):
    with pytest.raises(DataError, match="did you mean 'latex'"):
        format_results(summary, "latecs")
