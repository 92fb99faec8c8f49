"""The page of a benchmark: every result with its interval, beside the paper's, and what they come to together."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from gramme.errors import DataError
from gramme.evaluation import Ledger, Ranking, rank_methods, summarise
from gramme.evaluation.link_benchmark import NEGATIVES, rank_link_methods, summarise_links

from .charts import COLOURS, Series, chart, legend
from .fit_facts import FORMAT, VERSION
from .html import for_templates, render, shorten, there

_GUESS = "majority"


@for_templates
def compared(data: Mapping[str, Any]) -> dict[str, Any]:
    """What was compared: datasets, percentages, numbers of splits, and whether methods had all of them alike."""
    result_rows = data["rows"]
    dataset_names = sorted({row["dataset"] for row in result_rows})
    train_percents = sorted({row["train_percent"] for row in result_rows})
    repeat_counts: dict[tuple[str, float], set[int]] = {}
    for row in result_rows:
        repeat_counts.setdefault((row["dataset"], row["train_percent"]), set()).add(row["repeats"])
    return {
        "datasets": dataset_names,
        "percents": [f"{percent:g}" for percent in train_percents],
        "repeats": sorted({row["repeats"] for row in result_rows}),
        "whole": len(result_rows) == len(data["methods"]) * len(dataset_names) * len(train_percents),
        "shared": all(len(found) == 1 for found in repeat_counts.values()),
    }


@for_templates
def unsettled(data: Mapping[str, Any]) -> dict[str, int] | None:
    """In how many comparisons no method is the best by the test, and how many splits these had; None if in none."""
    rows_by_place: dict[tuple[str, float], list[dict[str, Any]]] = {}
    for row in data["rows"]:
        if there(row["accuracy_mean"]):
            rows_by_place.setdefault((row["dataset"], row["train_percent"]), []).append(row)
    contested_places = [rows for rows in rows_by_place.values() if len(rows) > 1]
    open_places = [rows for rows in contested_places if not any(row.get("best") for row in rows)]
    if not open_places:
        return None
    split_counts = [row["repeats"] for rows in open_places for row in rows]
    return {
        "open": len(open_places),
        "contested": len(contested_places),
        "least": min(split_counts),
        "most": max(split_counts),
    }


@for_templates
def accuracy_plots(data: Mapping[str, Any]) -> dict[str, Any]:
    """A small chart per dataset, one line per method, and what its colours mean."""
    method_styles = _styles(data["methods"])
    dataset_figures = []
    for dataset in sorted({row["dataset"] for row in data["rows"]}):
        dataset_rows = [row for row in data["rows"] if row["dataset"] == dataset and there(row["accuracy_mean"])]
        method_series = []
        for method in data["methods"]:
            method_rows = sorted(
                (row for row in dataset_rows if row["method"] == method), key=lambda row: row["train_percent"]
            )
            if not method_rows:
                continue
            half_widths = [row["accuracy_ci95"] if there(row["accuracy_ci95"]) else 0.0 for row in method_rows]
            method_series.append(
                Series(
                    method,
                    [row["train_percent"] for row in method_rows],
                    [row["accuracy_mean"] for row in method_rows],
                    [max(0.0, row["accuracy_mean"] - one) for row, one in zip(method_rows, half_widths, strict=True)],
                    [min(100.0, row["accuracy_mean"] + one) for row, one in zip(method_rows, half_widths, strict=True)],
                    style=method_styles[method][0],
                    dashed=method_styles[method][1],
                )
            )
        figure = chart(
            method_series,
            title=f"Accuracy of each method on {shorten(dataset, 60)} by training percentage",
            x_label="training nodes, %",
            y_label="accuracy, %",
            ticks_x=sorted({row["train_percent"] for row in dataset_rows}),
        )
        dataset_figures.append((dataset, figure))
    legend_titles = {_GUESS: f"guessing ({_GUESS})"}
    legend_series = [
        Series(shorten(legend_titles.get(one, one), 60), [], [], style=style, dashed=dashed)
        for one, (style, dashed) in ((one, method_styles[one]) for one in data["methods"])
    ]
    return {"figures": dataset_figures, "legend": legend(legend_series)}


@for_templates
def time_figure(data: Mapping[str, Any]) -> dict[str, Any] | None:
    """Processor time against accuracy, means over what all methods have been run on; None if there is nothing."""
    timed_rows = [row for row in data["rows"] if there(row["accuracy_mean"]) and there(row["cpu_seconds_mean"])]
    runs_of = {
        method: {(row["dataset"], row["train_percent"]) for row in timed_rows if row["method"] == method}
        for method in data["methods"]
    }
    methods_run = [method for method in data["methods"] if runs_of[method]]
    common_places = set.intersection(*(runs_of[method] for method in methods_run)) if methods_run else set()
    if not common_places:
        return None
    method_styles = _styles(data["methods"])
    method_points = []
    for method in methods_run:
        method_rows = [
            row
            for row in timed_rows
            if row["method"] == method and (row["dataset"], row["train_percent"]) in common_places
        ]
        mean_seconds = math.exp(
            sum(math.log(max(row["cpu_seconds_mean"], 1e-6)) for row in method_rows) / len(method_rows)
        )
        method_points.append(
            (sum(row["accuracy_mean"] for row in method_rows) / len(method_rows), mean_seconds, method)
        )
    method_points.sort(reverse=True)
    figure = chart(
        [
            Series(method, [seconds], [accuracy], style=method_styles[method][0])
            for accuracy, seconds, method in method_points
        ],
        title="Mean accuracy against processor time per run, one point per method",
        x_label="processor seconds per run",
        y_label="accuracy, %",
        log_x=True,
        lines=False,
        numbered=True,
    )
    return {"figure": figure, "points": method_points, "datasets": len({dataset for dataset, _ in common_places})}


def _styles(methods: list[str]) -> dict[str, tuple[int, bool]]:
    """A colour for each method, and dashes once all colours are taken; guessing is grey and dashed."""
    styles = {
        method: (1 + place % COLOURS, place >= COLOURS)
        for place, method in enumerate(one for one in methods if one != _GUESS)
    }
    return styles | ({_GUESS: (0, True)} if _GUESS in methods else {})


_SHOWN = [
    "train_percent",
    "repeats",
    "accuracy_mean",
    "accuracy_std",
    "accuracy_ci95",
    "paper_accuracy",
    "peak_mean",
    "macro_f1_mean",
    "cpu_seconds_mean",
    "missed_class_repeats",
    "failed",
    "best",
    "level_with_best",
]


def benchmark_page(ledger: Path) -> str:
    """The page of all runs in a ledger, as text."""
    with Ledger(ledger, create=False) as opened:
        runs, commands = opened.runs(), opened.commands()
    if not len(runs):
        raise DataError(f"{ledger} holds no runs yet; gramme benchmark fills it")
    return render(benchmark_data(runs, ledger.name, commands))


def benchmark_data(runs: pd.DataFrame, name: str, commands: Sequence[str] = ()) -> dict[str, Any]:
    """Everything the page of a benchmark shows, as plain values, from the runs of a ledger."""
    summary_table = summarise(runs)
    # a method whose settings were changed is a competitor of its own
    changed_settings = summary_table["settings"].astype(str)
    full_names = summary_table["method"].where(
        changed_settings == "", summary_table["method"] + " (" + changed_settings + ")"
    )
    result_rows = [
        {"dataset": dataset, "method": method, **values}
        for dataset, method, values in zip(
            summary_table["dataset"], full_names, summary_table[_SHOWN].to_dict(orient="records"), strict=True
        )
    ]
    result_rows.sort(key=lambda row: (row["dataset"], row["train_percent"], -_or_zero(row["accuracy_mean"])))
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": "benchmark",
        "name": name,
        "runs": len(runs),
        "rows": result_rows,
        "several_labels": bool(runs["micro_f1"].notna().any()),
        "methods": _in_order(full_names),
        "rankings": _rankings(
            "train_percent",
            sorted(runs["train_percent"].astype(float).unique().tolist()),
            lambda percent: rank_methods(runs, percent),
        ),
        "failures": failed_runs(runs),
        "versions": _versions(runs),
        "commands": list(commands),
        "command": _command(runs, out="results.sqlite"),
    }


def _in_order(names: pd.Series) -> list[str]:
    """Distinct names, ours first, then by the alphabet."""
    return sorted(set(names), key=lambda name: (not name.startswith("gramme"), name))


def _rankings(what: str, values: Iterable[Any], rank: Callable[[Any], Ranking]) -> list[dict[str, Any]]:
    """Average ranks for each value for which enough has been run, as plain values for :func:`.charts.rank_figure`."""
    ranking_records = []
    for value in values:
        try:
            ranking = rank(value)
        except DataError:
            continue  # too few methods or datasets
        ranking_records.append(
            {
                what: value,
                "methods": ranking.methods,
                "ranks": ranking.ranks.tolist(),
                "datasets": ranking.datasets,
                "p_value": ranking.p_value,
                "critical_difference": ranking.critical_difference,
                "groups": [list(group) for group in ranking.groups()],
            }
        )
    return ranking_records


def failed_runs(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """How many runs ended with which error, by dataset and method."""
    failed_rows = runs[runs["status"] != "done"]
    failure_counts = failed_rows.groupby(["dataset", "method", "error"], dropna=False).size().reset_index(name="runs")
    failure_rows: list[dict[str, Any]] = failure_counts.to_dict(orient="records")  # type: ignore[assignment]
    return [row | {"error": str(row["error"]), "runs": int(row["runs"])} for row in failure_rows]


def _versions(runs: pd.DataFrame) -> list[dict[str, str]]:
    """The distinct sets of versions that runs were made with."""
    distinct_versions = []
    for text in runs["versions"].unique().tolist():
        try:
            versions = json.loads(text)
        except ValueError:
            versions = {"unknown": str(text)}
        distinct_versions.append(versions if isinstance(versions, dict) else {"unknown": str(versions)})
    return distinct_versions


def _command(runs: pd.DataFrame, given: Sequence[str] = (), *, out: str) -> str:
    """A command for runs that were asked for in Python: does the same but for settings that were changed."""
    command_words = ["gramme", "benchmark", *given]
    for column, option in (("dataset", "--datasets"), ("method", "--methods"), ("train_percent", "--train")):
        if column in runs:
            option_values = sorted(set(runs[column]))
            command_words += [
                option,
                ",".join(f"{one:g}" if isinstance(one, float) else str(one) for one in option_values),
            ]
    return shlex.join([*command_words, "--repeats", str(int(runs["realisation"].max()) + 1), "--out", out])


def _or_zero(value: float) -> float:
    return value if value == value else 0.0


# The page of a benchmark of links.


def link_benchmark_page(ledger: Path) -> str:
    """The page of all rows in a ledger of links."""
    with Ledger(ledger, "links", create=False) as opened:
        result_rows = opened.runs()
    if not len(result_rows):
        raise DataError(f"{ledger} holds no runs yet; gramme benchmark --task links fills it")
    return render(link_benchmark_data(result_rows, ledger.name))


def link_benchmark_data(rows: pd.DataFrame, title: str) -> dict[str, Any]:
    """Everything the page shows, as plain values."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": "link-benchmark",
        "name": title,
        "runs": len(rows),
        "protocols": sorted(set(rows["protocol"])),
        "rows": summarise_links(rows).to_dict(orient="records"),
        "rankings": _rankings("negatives", NEGATIVES, lambda kind: rank_link_methods(rows, kind)),
        "failures": failed_runs(rows[rows["negatives"] == NEGATIVES[0]]),
        "versions": sorted({str(version) for version in rows["version"]}),
        "command": _command(rows, ["--task", "links"], out="links.sqlite"),
    }
