import csv
import io
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.browser import Page
from tests.report.page.graphs import HOSTILE, two_blocks

from gramme.errors import DataError
from gramme.evaluation import Ledger, benchmark, summarise
from gramme.graph import MultilayerGraph
from gramme.report.page.benchmark_page import benchmark_data, benchmark_page, render_benchmark
from gramme.report.page.rank_figure import rank_figure

METHODS = ["label-propagation", "majority", "one-hot-logistic"]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory) -> Path:
    """Three quick methods on two graphs, one under the name of a dataset of the paper's, one under a hostile name."""
    path = tmp_path_factory.mktemp("benchmark") / "results.sqlite"
    graphs: dict[str, MultilayerGraph] = {
        "balance_scale": two_blocks(80, labelled=80),
        "<script>window.__pwned = 1</script>": two_blocks(60, labelled=60),
    }
    benchmark(graphs, METHODS, out=path, train=[20, 40], repeats=3, jobs=1)
    return path


@pytest.fixture(scope="module")
def runs(ledger: Path) -> pd.DataFrame:
    with Ledger(ledger, create=False) as opened:
        return opened.runs()


@pytest.fixture(scope="module")
def page_path(ledger: Path) -> Path:
    path = ledger.with_name("page.html")
    path.write_text(benchmark_page(ledger), encoding="utf-8")
    return path


def test_the_page_holds_what_the_summary_says(runs) -> None:
    data = benchmark_data(runs, "results.sqlite")
    table = summarise(runs)
    assert len(data["rows"]) == len(table) == 12
    for row in data["rows"]:
        (one,) = table[
            (table["dataset"] == row["dataset"])
            & (table["method"] == row["method"])
            & (table["train_percent"] == row["train_percent"])
        ].to_dict(orient="records")
        assert row["accuracy_mean"] == one["accuracy_mean"]
        assert row["accuracy_ci95"] == one["accuracy_ci95"]
    assert data["runs"] == 36
    assert [one["train_percent"] for one in data["rankings"]] == [20, 40]
    assert (
        "--methods label-propagation,majority,one-hot-logistic --train 20,40 --repeats 3"
        in data["command"]
    )


def test_every_section_is_there_and_charts_are_well_formed(runs) -> None:
    text = render_benchmark(benchmark_data(runs, "results.sqlite"))
    assert re.findall(r"<h2 [^>]*>([^<]*)", text) == [
        "Results", "Accuracy by training percentage", "Ranks over all datasets", "Time against accuracy",
        "How to repeat this",
    ]  # fmt: skip
    charts = re.findall(r'<svg class="chart".*?</svg>', text)
    assert len(charts) == 2 + 2 + 1
    for drawn in charts:
        ET.fromstring(drawn)
    assert (
        charts[0].count('class="error') == 6
    )  # three methods at two percentages, guessing among them
    assert text.count("guessing (majority)") == 1
    assert "Guessing (majority) always answers" in text


def test_points_sit_on_their_percentage(runs) -> None:
    text = render_benchmark(benchmark_data(runs, "results.sqlite"))
    drawn = re.findall(r'<svg class="chart".*?</svg>', text)[0]
    ticks = {
        one.get("x") for one in ET.fromstring(drawn).iter() if one.get("class") == "tick middle"
    }
    points = {one.get("cx") for one in ET.fromstring(drawn).iter() if one.tag == "circle"}
    assert points
    assert points <= ticks


def test_bold_is_the_best_by_the_test_and_where_none_is_that_is_said(runs) -> None:
    data = benchmark_data(runs, "results.sqlite")
    places = {(row["dataset"], row["train_percent"]) for row in data["rows"]}
    settled = {(row["dataset"], row["train_percent"]) for row in data["rows"] if row["best"]}
    told = re.search(r"In (\d+) of (\d+) comparisons none is", render_benchmark(data))
    assert told is not None
    assert (int(told[1]), int(told[2])) == (len(places - settled), len(places))
    assert "with 3 splits; more splits" in render_benchmark(data)


def test_the_commands_of_the_ledger_are_shown_rather_than_made_up(runs) -> None:
    given = "gramme benchmark --datasets 'a b/votes.csv' --label party --directed --out r.sqlite"
    text = render_benchmark(benchmark_data(runs, "r.sqlite", [given]))
    assert "&#x27;a b/votes.csv&#x27; --label party --directed" in text
    assert "asked for in Python" not in text
    assert "asked for in Python" in render_benchmark(benchmark_data(runs, "r.sqlite"))


def test_failed_runs_are_told_and_a_single_dataset_has_no_ranks(runs) -> None:
    part = runs[runs["dataset"] == "balance_scale"].copy()
    broken = (part["method"] == "majority") & (part["realisation"] == 0)
    part.loc[broken, ["status", "error", "accuracy"]] = ["failed", "it <broke>", np.nan]
    text = render_benchmark(benchmark_data(part, "x"))
    assert "Failed runs" in text
    assert "it &lt;broke&gt;" in text
    assert "there are too few yet" in text


def test_a_ledger_without_runs_is_told(tmp_path: Path) -> None:
    path = tmp_path / "empty.sqlite"
    with Ledger(path):
        pass
    with pytest.raises(DataError, match="no runs yet"):
        benchmark_page(path)


def test_the_rank_figure_joins_what_is_not_told_apart() -> None:
    ranking = {
        "methods": ["a", HOSTILE[0], "c"], "ranks": [1.0, 1.5, 3.0], "critical_difference": 0.8, "groups": [[0, 1]],
    }  # fmt: skip
    tree = ET.fromstring(rank_figure(ranking))
    places = [float(one.get("cx", "nan")) for one in tree.iter() if one.tag == "circle"]
    assert places == sorted(places)
    assert (places[1] - places[0]) * 3 == pytest.approx(places[2] - places[1], abs=0.5)
    assert [one.get("class") for one in tree.iter()].count("rank-group") == 1
    assert not [one for one in tree.iter() if one.tag == "script"]


@pytest.mark.browser
def test_it_opens_sorts_filters_and_exports(tab: Page, page_path: Path, runs) -> None:
    tab.open(page_path)
    assert tab.requests == [page_path.resolve().as_uri()]
    assert len(tab.texts("#runs tbody tr")) == 12
    heads = tab.texts("#runs th")
    assert "Peak" not in heads, "no method here has epochs"
    assert tab.evaluate("document.querySelectorAll('#runs tbody strong').length") == sum(
        summarise(runs)["best"]
    )
    tab.click("#runs th:nth-child(4) button")
    means = [float(text.split()[0]) for text in tab.texts("#runs tbody td:nth-child(4)")]
    assert means == sorted(means, reverse=True)
    tab.choose("#percent", "40")
    assert set(tab.texts("#runs tbody td:nth-child(3)")) == {"40"}
    tab.type("#filter", "major")
    assert set(tab.texts("#runs tbody td:nth-child(2)")) == {"majority"}
    tab.click("#export")
    rows = list(csv.DictReader(io.StringIO(tab.downloaded("results.csv").decode())))
    table = (
        summarise(runs).query("method == 'majority' and train_percent == 40").set_index("dataset")
    )
    assert {row["dataset"]: float(row["accuracy_mean"]) for row in rows} == pytest.approx(
        table["accuracy_mean"].to_dict()
    )
    assert {row["dataset"]: float(row["accuracy_ci95"]) for row in rows} == pytest.approx(
        table["accuracy_ci95"].to_dict()
    )
    assert tab.evaluate("typeof window.__pwned") == "undefined"
    assert tab.console == []
    assert "<script>" in tab.text("#results") or "<script>" in tab.text("#plots")


@pytest.mark.browser
def test_on_a_phone_the_page_does_not_scroll_sideways(tab: Page, page_path: Path) -> None:
    tab.size(375, 800, 2, mobile=True)
    tab.open(page_path)
    assert tab.evaluate("document.documentElement.scrollWidth") == 375
    heights = tab.evaluate(
        "[...document.querySelectorAll('#runs td')].map(cell => cell.offsetHeight)"
    )
    assert max(heights) < 120  # names are not broken into a column of letters
