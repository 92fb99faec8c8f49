import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from tests.evaluation.runs import CONTRACT, done, failed, spec

from gramme.errors import DataError
from gramme.evaluation import Ledger, average_ranks, summarise
from gramme.report.benchmark_tables import (
    STYLES,
    LiveTable,
    critical_difference_figure,
    format_results,
    results_table,
    write_critical_difference,
)


@pytest.fixture
def summary(tmp_path):
    noise = np.random.default_rng(0).normal(0, 0.01, 10)
    with Ledger(tmp_path / "r.sqlite") as ledger:
        for r in range(10):
            ledger.record(done(spec("gramme-sg", r, dataset="balance_scale"), 0.9 + noise[r], peak=0.95))
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


@pytest.fixture
def runs(tmp_path):
    with Ledger(tmp_path / "r.sqlite") as ledger:
        for dataset in ("one", "two"):
            for r in range(3):
                ledger.record(done(spec("good", r, dataset=dataset), 0.9 + r / 100))
                ledger.record(done(spec("bad", r, dataset=dataset), 0.5))
        ledger.record(failed(spec("broken", 0), "out of luck"))
        return ledger.runs()


def test_each_table(runs):
    assert len(results_table(runs, "summary")) == 5
    assert len(results_table(runs, "pairs")) == 2
    assert len(results_table(runs, "runs")) == 13
    ranks = results_table(runs, "ranks")
    assert ranks["method"].tolist() == ["good", "bad"]
    assert ranks["average_rank"].tolist() == [1, 2]
    failures = results_table(runs, "failures")
    assert failures["error"].tolist() == ["out of luck"]


RANKING = average_ranks([[90, 80, 70, 10], [95, 85, 75, 20], [60, 61, 50, 30]] * 4, ["a", "b$_x", "c", "d"])


def test_it_shows_every_method_the_critical_difference_and_a_bar_per_group():
    axes = critical_difference_figure(RANKING, "at 10 %").axes[0]
    texts = [text.get_text() for text in axes.texts]
    for method, rank in zip(RANKING.methods, RANKING.ranks, strict=True):
        assert any(method in text and f"{rank:.2f}" in text for text in texts)
    assert any("critical difference 1.35 (12 datasets)" in text for text in texts)
    bars = [line for line in axes.lines if line.get_linewidth() == 3]
    assert len(bars) == len(RANKING.groups()) > 0
    assert axes.get_title() == "at 10 %"


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_files(tmp_path, ending, start):
    path = tmp_path / f"ranks.{ending}"
    write_critical_difference(RANKING, path)
    assert path.read_bytes().startswith(start)


def test_wrong_names(tmp_path):
    with pytest.raises(DataError, match=r"\.png, \.pdf or \.svg"):
        write_critical_difference(RANKING, tmp_path / "ranks.doc")
    with pytest.raises(DataError, match="there is no folder"):
        write_critical_difference(RANKING, tmp_path / "no" / "ranks.png")


SPECS = [spec(method, r) for method in ("[red]", "majority") for r in range(4)]


def screen(**options):
    return Console(file=io.StringIO(), width=120, height=20, highlight=False, **options)


def test_progress_rate_time_left_and_failures():
    live = LiveTable(screen(), left=lambda: 75.0)
    live.start(SPECS, 3, 2)
    assert live.line() == "0 of 8 runs, about 75 s left"
    live.add(done(SPECS[0], 0.5))
    live.add(done(SPECS[1], 0.7))
    live.add(failed(SPECS[4]))
    assert live.line().startswith("3 of 8 runs, ")
    assert "per minute" in live.line()
    assert live.words().endswith("1 failed")
    assert live.line().endswith(", 1 failed, about 75 s left")
    ended = LiveTable(screen(), left=lambda: 75.0)
    ended.start(SPECS[:1], 0, 1)
    ended.add(done(SPECS[0]))
    assert " left" not in ended.line()
    shown = screen()
    shown.print(live.render())
    text = shown.file.getvalue()
    assert "[red]" in text
    assert "2/4" in text
    assert "60.0" in text


def test_a_terminal_is_redrawn_and_a_log_is_told_what_there_is_to_do():
    for terminal in (True, False):
        console = screen(force_terminal=terminal)
        with LiveTable(console) as live:
            live.start(SPECS, 3, 2)
            live.add(done(SPECS[0]))
        text = console.file.getvalue()
        assert "8 runs to do, 3 are done already; 2 at a time" in text
        assert ("1 of 8 runs" in text) is terminal
        assert ("\x1b[" in text) is terminal


def test_quiet_is_silent_and_a_small_screen_is_not_overfilled():
    console = screen(force_terminal=True)
    with LiveTable(console, wanted=False) as live:
        live.start(SPECS, 0, 1)
        live.add(done(SPECS[0]))
    assert console.file.getvalue() == ""
    many = [spec(f"method {number}", dataset=f"data {number}") for number in range(50)]
    live = LiveTable(screen())
    live.start(many, 0, 1)
    live.add(done(many[0]))
    shown = screen()
    shown.print(live.render())
    assert len(shown.file.getvalue().splitlines()) <= 20
