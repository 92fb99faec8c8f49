"""The work of ``gramme benchmark``: words from the command line become datasets, methods and numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import pandas as pd
import typer

from gramme._progress import advance, part
from gramme._text import escape
from gramme.errors import DataError
from gramme.evaluation import Ledger, RunResult, RunSpec, benchmark
from gramme.evaluation.ask_benchmark import (
    DEFAULT_BUDGETS,
    DEFAULT_PREDICTORS,
    ask_benchmark,
    strategy_ranks,
    summarise_asking,
)
from gramme.evaluation.ask_strategies import ASK_STRATEGIES
from gramme.evaluation.benchmark import (
    DEFAULT_DATASETS,
    DEFAULT_REPEATS,
    DEFAULT_TRAIN_PERCENTS,
    QUICK_REPEATS,
    QUICK_TRAIN_PERCENTS,
    chosen_methods,
    default_methods,
)
from gramme.evaluation.link_benchmark import link_benchmark, summarise_links
from gramme.evaluation.link_methods import DEFAULT_LINK_METHODS
from gramme.evaluation.splits import read_splits
from gramme.graph import MultilayerGraph
from gramme.methods import Method
from gramme.report.benchmark_tables import LiveTable, format_results

from . import data as reading
from .benchmark import BenchmarkOptions
from .console import messages, note, out, warnings_as_notes
from .options import Reading, make_model, words_of
from .progress import saying, seconds_left, tell_steps


def graphs(datasets: str | None, read: Reading, *, needs_label: bool = True) -> dict[str, MultilayerGraph]:
    """The graphs by name: a file's name without folder and suffix, or its whole path if two would be the same."""
    dataset_words = list(DEFAULT_DATASETS) if datasets is None else words_of(datasets, "--datasets")
    given_options = read.used()
    if given_options and len(dataset_words) > 1:
        raise DataError(
            f"{given_options[0]} is about one file, and {len(dataset_words)} datasets are named; run them one "
            "after the other into the same ledger, or convert each file with its labels to .mpx"
        )
    short_names = [Path(word).stem if Path(word).is_file() else word for word in dataset_words]
    graph_by_name: dict[str, MultilayerGraph] = {}
    for word, name in zip(dataset_words, short_names, strict=True):
        key = name if short_names.count(name) == 1 else word
        if key in graph_by_name:
            raise DataError(f"the dataset {word!r} is named twice")
        graph_by_name[key] = reading.open_data(word, read, needs_label=needs_label, quiet=False).graph
    return graph_by_name


def _methods(asked: BenchmarkOptions, default: Iterable[str]) -> list[str]:
    return list(default) if asked.methods is None else words_of(asked.methods, "--methods")


def _splitting(asked: BenchmarkOptions) -> dict[str, Any]:
    """How often and how nodes are split."""
    repeats = QUICK_REPEATS if asked.quick else DEFAULT_REPEATS
    return {
        "repeats": repeats if asked.repeats is None else asked.repeats,
        "splits": None if asked.splits is None else read_splits(asked.splits),
        "metric": asked.metric,
    }


def run_labels(graphs: dict[str, MultilayerGraph], asked: BenchmarkOptions, shared: dict[str, Any]) -> None:
    """Run the benchmark with a live table, and print the summary."""
    compared_methods = chosen_methods(_methods(asked, default_methods()))
    target, quiet, as_json = asked.ledger, asked.quiet, asked.as_json
    live_table = LiveTable(messages, wanted=not quiet and not as_json, left=seconds_left)
    run_share = RunShare()

    def start(specs: list[RunSpec], done: int, jobs: int) -> None:
        run_share.start(specs)
        live_table.start(specs, done, jobs)

    def add(result: RunResult) -> None:
        live_table.add(result)
        advance(run_share.add(result))

    try:
        with warnings_as_notes(), live_table, saying(live_table.words, silent=messages.is_terminal), part("Runs", 1.0):
            table = benchmark(
                graphs,
                compared_methods,
                train=_percents(asked.train, QUICK_TRAIN_PERCENTS if asked.quick else DEFAULT_TRAIN_PERCENTS),
                settings=parsed_settings(compared_methods, asked.settings),
                label_separator=asked.label_separator,
                on_start=start,
                on_result=add,
                **_splitting(asked),
                **shared,
            )
    except KeyboardInterrupt:
        note(
            f"{live_table.finished:,} of {live_table.total:,} runs were done and are kept in {target}; the same "
            "command "
            f"{'without --force ' if asked.force else ''}goes on with the others, gramme results {target} shows "
            "these"
        )
        raise
    if as_json:
        typer.echo(format_results(table, "json"))
    elif not quiet:
        out.print(escape(format_results(table, "table")))
        messages.print(escape(f"\nAll runs are in {target}; gramme results {target} shows them again."))


class RunShare:
    """The share of a benchmark that is done: a run counts for as long as runs of its method took on its dataset.

    Runs of a kind that has none yet count as the mean of all so far.
    """

    def __init__(self) -> None:
        self.waiting: Counter[tuple[str, str]] = Counter()
        self.took: dict[tuple[str, str], list[float]] = {}

    def start(self, specs: Iterable[RunSpec]) -> None:
        """Take note of the runs that are to be done."""
        self.waiting = Counter((spec.dataset, spec.method) for spec in specs)

    def add(self, result: RunResult) -> float:
        """Count a run; returns the share of the work that is done."""
        run_kind = (result.spec.dataset, result.spec.method)
        self.waiting[run_kind] -= 1
        self.took.setdefault(run_kind, []).append(result.cost.wall_seconds)
        all_seconds = [seconds for some in self.took.values() for seconds in some]
        left_seconds = sum(count * mean(self.took.get(kind, all_seconds)) for kind, count in self.waiting.items())
        return sum(all_seconds) / max(sum(all_seconds) + left_seconds, 1e-9)


def parsed_settings(methods: Sequence[Method], settings: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Parameters by method, from ``method.name=value``, or ``name=value`` for every method that has it."""
    settings_by_method: dict[str, dict[str, Any]] = {one.name: {} for one in methods}
    for setting in settings:
        setting_key, equals_sign, value = setting.partition("=")
        method_name, _, name = setting_key.strip().rpartition(".")
        if not equals_sign:
            raise DataError(f"--set {setting!r}: write it as method.name=value or name=value")
        if method_name and method_name not in settings_by_method:
            raise DataError(
                f"--set {setting}: {method_name!r} is none of the methods of this benchmark: "
                f"{', '.join(settings_by_method)}"
            )
        methods_with_it = [one for one in methods if one.name == method_name] or [
            one for one in methods if name in one.create().get_params()
        ]
        if not methods_with_it:
            raise DataError(f"--set {setting}: none of {', '.join(settings_by_method)} has a parameter {name!r}")
        for one in methods_with_it:
            model = make_model(one, [f"{name}={value}"])
            settings_by_method[one.name][name] = model.get_params()[name]
    return settings_by_method


def _percents(text: str | None, default: Sequence[float]) -> list[float]:
    if text is None:
        return list(default)
    percentages = []
    for word in words_of(text, "--train"):
        try:
            percentages.append(float(word.removesuffix("%")))
        except ValueError:
            raise DataError(f"--train: {word!r} is not a percentage; write it like 10,20,30") from None
    return percentages


STYLES = ("table", "csv", "json")


def run_other(graphs: dict[str, MultilayerGraph], asked: BenchmarkOptions, shared: dict[str, Any]) -> None:
    """Run the benchmark of links or of asking, and print its summary."""
    task, target, quiet, as_json = asked.task, asked.ledger, asked.quiet, asked.as_json
    shared |= {"tell": tell_steps}
    with warnings_as_notes(), part("Runs", 1.0):
        if task == "links":
            table = link_benchmark(
                graphs,
                _methods(asked, DEFAULT_LINK_METHODS),
                repeats=1 if asked.repeats is None else asked.repeats,
                metric=asked.metric or "roc_auc",
                **shared,
            )
        else:
            table = ask_benchmark(
                graphs,
                _methods(asked, ASK_STRATEGIES),
                predictors=DEFAULT_PREDICTORS
                if asked.predictors is None
                else words_of(asked.predictors, "--predictors"),
                per_class=_counts(asked.per_class),
                **(_splitting(asked) | {"metric": asked.metric or "accuracy"}),
                **shared,
            )
    if as_json or not quiet:
        _show(table, task, "json" if as_json else "table")
    if not quiet and not as_json:
        again = f"gramme report {target} --out page.html makes a page"
        if task == "ask":
            again = f"gramme results {target} shows them again"
        messages.print(escape(f"All runs are in {target}; {again}."))


def show_ledger(ledger: Path, task: str, style: str, shown: str = "summary", metric: str | None = None) -> None:
    """Print what a ledger of links or of asking holds: its summary, all rows, or those of failed runs."""
    with Ledger(ledger, task, create=False) as opened:
        rows = opened.runs()
    if not len(rows):
        raise DataError(f"{ledger} holds no runs yet; {opened.kind.command} fills it")
    if shown in ("runs", "failures"):
        typer.echo(format_results(rows if shown == "runs" else rows[rows["status"] == "failed"], style))
    elif shown != "summary":
        raise DataError(f"a ledger of {opened.kind.about} has no {shown}; say --show summary, runs or failures")
    elif task == "links":
        _show(summarise_links(rows, metric=metric or "roc_auc"), task, style)
    else:
        _show(summarise_asking(rows, metric=metric or "accuracy"), task, style)


def _show(table: pd.DataFrame, task: str, style: str) -> None:
    if style not in STYLES:
        raise DataError(f"a ledger of links or of asking is shown as {', '.join(STYLES)}, not as {style!r}")
    if style == "csv":
        shown_text = table.to_csv(index=False, float_format="%.4g")
    elif style == "json":
        shown_text = table.to_json(orient="records", double_precision=4)
    elif task == "links":
        shown_text = table.round(1).to_string(index=False, na_rep="")
    else:
        shown_columns = [name for name in table if name not in ("failed", "cpu_seconds")]
        shown_text = table[shown_columns].round(2).to_string(index=False, na_rep="")
        if table["dataset"].nunique() > 1 and "against_random" in table:
            metric = "macro_f1" if "macro_f1" in table else "accuracy"
            shown_text += "\n\n" + strategy_ranks(table, metric=metric).round(2).to_string(index=False, na_rep="")
    typer.echo(shown_text)


def _counts(text: str | None) -> list[int]:
    if text is None:
        return list(DEFAULT_BUDGETS)
    count_words = words_of(text, "--per-class")
    for word in count_words:
        if not word.isdecimal() or int(word) < 1:
            raise DataError(f"--per-class: {word!r} is not a whole number from 1; write it like 1,2")
    return [int(word) for word in count_words]
