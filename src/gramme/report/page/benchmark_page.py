"""The page of a benchmark: every result with its interval, beside the paper's, and what they come to together."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from gramme.errors import DataError
from gramme.evaluation import Ledger, Ranking, rank_methods, summarise
from gramme.report.page.benchmark_sections import benchmark_body
from gramme.report.page.fit_page import FORMAT, VERSION
from gramme.report.page.html import page

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
    return render_benchmark(benchmark_data(runs, ledger.name, commands))


def render_benchmark(data: dict[str, Any]) -> str:
    """The page as text, from its data alone."""
    return page(f"Benchmark {data['name']}", benchmark_body(data), data)


def benchmark_data(runs: pd.DataFrame, name: str, commands: Sequence[str] = ()) -> dict[str, Any]:
    """Everything the page of a benchmark shows, as plain values, from the runs of a ledger."""
    table = summarise(runs)
    # a method whose settings were changed is a competitor of its own
    changed = table["settings"].astype(str)
    full = table["method"].where(changed == "", table["method"] + " (" + changed + ")")
    rows = [
        {"dataset": dataset, "method": method, **values}
        for dataset, method, values in zip(
            table["dataset"], full, table[_SHOWN].to_dict(orient="records"), strict=True
        )
    ]
    rows.sort(
        key=lambda row: (row["dataset"], row["train_percent"], -_or_zero(row["accuracy_mean"]))
    )
    return {
        "format": FORMAT,
        "version": VERSION,
        "kind": "benchmark",
        "name": name,
        "runs": len(runs),
        "rows": rows,
        "methods": _in_order(full),
        "rankings": _rankings(runs),
        "failures": failed_runs(runs),
        "versions": _versions(runs),
        "commands": list(commands),
        "command": _command(table, runs),
    }


def _in_order(names: pd.Series) -> list[str]:
    """Distinct names, ours first, then by the alphabet."""
    return sorted(set(names), key=lambda name: (not name.startswith("gramme"), name))


def _rankings(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """Average ranks at each training percentage for which enough has been run."""
    found = []
    for percent in sorted(runs["train_percent"].unique()):
        try:
            ranking = rank_methods(runs, percent)
        except DataError:
            continue  # too few methods or datasets at this percentage
        found.append({"train_percent": float(percent)} | ranking_data(ranking))
    return found


def ranking_data(ranking: Ranking) -> dict[str, Any]:
    """Average ranks as plain values, as :func:`gramme.report.page.rank_figure.rank_figure` draws them."""
    return {
        "methods": ranking.methods,
        "ranks": ranking.ranks.tolist(),
        "datasets": ranking.datasets,
        "p_value": ranking.p_value,
        "critical_difference": ranking.critical_difference,
        "groups": [list(group) for group in ranking.groups()],
    }


def failed_runs(runs: pd.DataFrame) -> list[dict[str, Any]]:
    """How many runs ended with which error, by dataset and method."""
    failed = runs[runs["status"] != "done"]
    counted = (
        failed.groupby(["dataset", "method", "error"], dropna=False).size().reset_index(name="runs")
    )
    rows: list[dict[str, Any]] = counted.to_dict(orient="records")  # type: ignore[assignment]
    return [row | {"error": str(row["error"]), "runs": int(row["runs"])} for row in rows]


def _versions(runs: pd.DataFrame) -> list[dict[str, str]]:
    """The distinct sets of versions that runs were made with."""
    found = []
    for text in runs["versions"].unique().tolist():
        try:
            versions = json.loads(text)
        except ValueError:
            versions = {"unknown": str(text)}
        found.append(versions if isinstance(versions, dict) else {"unknown": str(versions)})
    return found


def _command(table: pd.DataFrame, runs: pd.DataFrame) -> str:
    """A command for runs that were asked for in Python: does the same but for settings that were changed."""
    parts = ["gramme", "benchmark"]
    for option, values in (
        ("--datasets", sorted(set(table["dataset"]))),
        ("--methods", sorted(set(table["method"]))),
        ("--train", [f"{value:g}" for value in sorted(set(table["train_percent"]))]),
    ):
        parts += [option, ",".join(map(str, values))]
    parts += ["--repeats", str(int(runs["realisation"].max()) + 1), "--out", "results.sqlite"]
    return shlex.join(parts)


def _or_zero(value: float) -> float:
    return value if value == value else 0.0
