import csv
import io
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.browser import Page
from tests.links.graphs import planted_links
from tests.report.page.graphs import HOSTILE, section, two_blocks

from gramme.errors import DataError
from gramme.evaluation import Ledger, benchmark, summarise
from gramme.evaluation.link_benchmark import link_benchmark
from gramme.graph import MultilayerGraph
from gramme.report.page.benchmark_page import benchmark_data, benchmark_page, link_benchmark_page
from gramme.report.page.html import macro, read_data, render

failures, plots, ranks = (section("benchmark", name) for name in ("failures", "plots", "ranks"))
repeat, summary, time = (section("benchmark", name) for name in ("repeat", "summary", "time"))


def row(dataset, method, percent, accuracy, seconds=1.0, interval=1.0):
    return {
        "dataset": dataset,
        "method": method,
        "train_percent": percent,
        "repeats": 3,
        "accuracy_mean": accuracy,
        "accuracy_ci95": interval,
        "cpu_seconds_mean": seconds,
    }


@pytest.fixture
def data():
    rows = [
        row(dataset, method, percent, accuracy)
        for dataset in ("cora", "wine")
        for percent in (10.0, 20.0)
        for method, accuracy in (("gat", 80.0), ("majority", 40.0))
    ]
    return {
        "rows": rows,
        "methods": ["gat", "majority"],
        "runs": 24,
        "rankings": [],
        "failures": [],
        "versions": [{"gramme": "1.0"}],
        "command": "gramme benchmark --out <x>",
    }


def test_the_summary_counts(data):
    text = summary(data)
    assert "<strong>2 methods</strong>" in text
    assert "<strong>2 datasets</strong>" in text
    assert "24 runs" in text
    assert "10 and 20 % of the labels" in text
    assert "Each learned from" in text
    assert "3 random splits, the same ones for every method." in text


def test_the_summary_of_runs_that_were_added_one_by_one(data):
    data["rows"][0]["repeats"] = 5
    text = summary(data)
    assert "3 to 5 random splits; a method with fewer of them has some of the same splits" in text
    assert "the same ones for every method" not in text
    del data["rows"][0]
    assert "They learned, not each from all of these, from 10 and 20 % of the labels and were" in summary(data)


def test_the_summary_of_one_method_and_one_split(data):
    alone = [one | {"repeats": 1} for one in data["rows"] if one["method"] == "gat"]
    text = summary(data | {"rows": alone, "methods": ["gat"]})
    assert "<strong>1 method</strong> was run on" in text
    assert "It learned from" in text
    assert "repeated for 1 random split.</dd>" in text


def test_guessing_is_a_grey_dashed_line_that_the_words_and_the_legend_name(data):
    words, _, figures = plots(data).partition('<div class="figures">')
    assert figures.count("<figure>") == 2
    assert "Guessing (majority) always answers with the most common class." in words
    assert words.count("guessing (majority)</li>") == 1
    assert figures.count('<polyline class="line c0 dashed"') == 2
    assert figures.count('<polyline class="line c1"') == 2
    data["methods"].remove("majority")
    assert "uessing" not in plots(data)


def test_an_accuracy_that_is_not_there_leaves_a_gap(data):
    data["rows"][0]["accuracy_mean"] = None
    assert "NaN" not in plots(data)


def test_ranks_need_enough_or_say_so(data):
    assert "there are too few yet" in ranks(data)
    ranking = {"methods": ["gat", "majority"], "ranks": [1.0, 2.0], "critical_difference": 0.5}
    ranking |= {"groups": [], "train_percent": 10.0, "datasets": 2, "p_value": 0.04}
    assert "Friedman p = 0.04" in ranks(data | {"rankings": [ranking]})
    assert "Friedman" not in ranks(data | {"rankings": [ranking | {"p_value": None}]})


def test_time_is_a_geometric_mean_over_what_all_have_run(data):
    data["rows"][0]["cpu_seconds_mean"] = 16.0  # gat: 16, 1, 1, 1
    text = time(data)
    assert '<td class="number">80.0</td><td class="number">2</td>' in text
    data["rows"] = [one for one in data["rows"] if one["method"] == "gat"]
    data["rows"].append(row("digits", "majority", 10.0, 40.0))
    assert time(data) == ""


def test_failures_and_how_to_repeat(data):
    assert failures(data) == ""
    failed = {"dataset": "cora", "method": "gat", "runs": 3, "error": "<b>boom</b>"}
    assert "&lt;b&gt;boom" in failures(data | {"failures": [failed]})
    assert "--out &lt;x&gt;" in repeat(data)
    assert "gramme 1.0" in repeat(data)


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
    assert "--methods label-propagation,majority,one-hot-logistic --train 20,40 --repeats 3" in data["command"]


def test_every_section_is_there_and_charts_are_well_formed(runs) -> None:
    text = render(benchmark_data(runs, "results.sqlite"))
    assert re.findall(r"<h2 [^>]*>([^<]*)", text) == [
        "Results", "Accuracy by training percentage", "Ranks over all datasets", "Time against accuracy",
        "How to repeat this",
    ]  # fmt: skip
    charts = re.findall(r'(?s)<svg class="chart".*?</svg>', text)
    assert len(charts) == 2 + 2 + 1
    for drawn in charts:
        ET.fromstring(drawn)
    assert charts[0].count('class="error') == 6  # three methods at two percentages, guessing among them
    assert text.count("guessing (majority)") == 1
    assert "Guessing (majority) always answers" in text


def test_points_sit_on_their_percentage(runs) -> None:
    text = render(benchmark_data(runs, "results.sqlite"))
    drawn = re.findall(r'(?s)<svg class="chart".*?</svg>', text)[0]
    ticks = {one.get("x") for one in ET.fromstring(drawn).iter() if one.get("class") == "tick middle"}
    points = {one.get("cx") for one in ET.fromstring(drawn).iter() if one.tag == "circle"}
    assert points
    assert points <= ticks


def test_bold_is_the_best_by_the_test_and_where_none_is_that_is_said(runs) -> None:
    data = benchmark_data(runs, "results.sqlite")
    places = {(row["dataset"], row["train_percent"]) for row in data["rows"]}
    settled = {(row["dataset"], row["train_percent"]) for row in data["rows"] if row["best"]}
    told = re.search(r"In (\d+) of (\d+) comparisons none is", render(data))
    assert told is not None
    assert (int(told[1]), int(told[2])) == (len(places - settled), len(places))
    assert "3 splits are too few to separate first from second; more splits" in render(data)


def test_the_commands_of_the_ledger_are_shown_rather_than_made_up(runs) -> None:
    given = "gramme benchmark --datasets 'a b/votes.csv' --label party --directed --out r.sqlite"
    text = render(benchmark_data(runs, "r.sqlite", [given]))
    assert "&#39;a b/votes.csv&#39; --label party --directed" in text
    assert "asked for in Python" not in text
    assert "asked for in Python" in render(benchmark_data(runs, "r.sqlite"))


def test_failed_runs_are_told_and_a_single_dataset_has_no_ranks(runs) -> None:
    part = runs[runs["dataset"] == "balance_scale"].copy()
    broken = (part["method"] == "majority") & (part["realisation"] == 0)
    part.loc[broken, ["status", "error", "accuracy"]] = ["failed", "it <broke>", np.nan]
    text = render(benchmark_data(part, "x"))
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
    tree = ET.fromstring(macro("charts", "rank_figure", ranking))
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
    assert tab.evaluate("document.querySelectorAll('#runs tbody strong').length") == sum(summarise(runs)["best"])
    tab.click("#runs th:nth-child(4) button")
    means = [float(text.split()[0]) for text in tab.texts("#runs tbody td:nth-child(4)")]
    assert means == sorted(means, reverse=True)
    tab.choose("#percent", "40")
    assert set(tab.texts("#runs tbody td:nth-child(3)")) == {"40"}
    tab.type("#filter", "major")
    assert set(tab.texts("#runs tbody td:nth-child(2)")) == {"majority"}
    tab.click("#export")
    rows = list(csv.DictReader(io.StringIO(tab.downloaded("results.csv").decode())))
    table = summarise(runs).query("method == 'majority' and train_percent == 40").set_index("dataset")
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
    heights = tab.evaluate("[...document.querySelectorAll('#runs td')].map(cell => cell.offsetHeight)")
    assert max(heights) < 120  # names are not broken into a column of letters


def test_means_and_layers_are_those_of_the_summary(tmp_path):
    ledger = tmp_path / "links.sqlite"
    table = link_benchmark({HOSTILE[0]: planted_links(30)}, ["repeated"], out=ledger)
    text = link_benchmark_page(ledger)
    path = tmp_path / "page.html"
    path.write_text(text, encoding="utf-8")
    data = read_data(path)
    assert [row["roc_auc"] for row in data["rows"]] == table["roc_auc"].tolist()
    assert data["protocols"] == ["edges of one layer held out, other layers visible"]
    body = text[: text.index('<script type="application/json"')]
    assert HOSTILE[0] not in body
    assert body.count("<table>") == 4, "means and layers, for both kinds of unlinked pairs"


def test_an_empty_ledger_is_said_to_be_empty(tmp_path):
    with Ledger(tmp_path / "links.sqlite", "links"):
        pass
    with pytest.raises(DataError, match="holds no runs yet"):
        link_benchmark_page(tmp_path / "links.sqlite")
