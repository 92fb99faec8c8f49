"""``gramme benchmark``: methods compared on datasets over random splits. Only the options are here."""

# ruff: noqa: RUF009  # `option` makes a field

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import typer

from gramme.errors import DataError

from .console import warnings_as_notes
from .options import Reading, command_line, option, takes_options


@dataclass(frozen=True)
class BenchmarkOptions:
    """What to compare, and how."""

    target: Path | None = option("Ledger to write to or resume, a sqlite file.", "--out")
    datasets: str | None = option("Names of datasets or files, with commas between them.")
    methods: str | None = option("Names of methods, with commas between them; see gramme methods.")
    task: Literal["labels", "links", "ask"] = option(
        "What is compared: predicting labels, or links, or (ask) choosing whom to label.", default="labels"
    )
    predictors: str | None = option("With --task ask: methods that learn from the chosen nodes.")
    per_class: str | None = option("With --task ask: labels to ask for per class, like 1,2,4.")
    train: str | None = option("Percentages of labelled nodes to learn from, like 10,20,30.")
    splits: Path | None = option(
        "Splits of your own: a CSV with a column of node names and a column per split with train and test in it."
    )
    metric: str | None = option(
        "What decides the best: accuracy, macro_f1, log_loss, calibration_error; several labels: macro_f1, micro_f1, "
        "ranking_loss, accuracy (all right); links: roc_auc, average_precision, hits_at_20; ask: accuracy, macro_f1."
    )
    label_separator: str | None = option("What stands between the labels of a node that has several, like ';' in a;b.")
    repeats: int | None = option("Random splits per percentage; 20 unless --quick.")
    jobs: int | None = option("Runs at a time, each on one thread; one per core if not given.")
    backend: str = option("loky: processes of this machine; ray: a Ray cluster.", default="loky")
    settings: list[str] = option(
        "A parameter as method.name=value, or name=value for all that have it.", "--set", default=[]
    )
    quick: bool = option("A first look in about a minute: 3 realisations of 20 %.", default=False)
    force: bool = option("Do again what is in the ledger already.", default=False)
    quiet: bool = option("Print nothing but errors.", default=False)
    as_json: bool = option("Print the summary as JSON for scripts.", "--json", default=False)

    @property
    def ledger(self) -> Path:
        """The ledger, which has to be named."""
        if self.target is None:
            raise DataError("name with --out the ledger to write to, like results.sqlite")
        return self.target


@takes_options
def benchmark(context: typer.Context, asked: BenchmarkOptions, *, read: Reading) -> None:
    """Compare methods on datasets: the same random splits for all, every run in a ledger, resumed if killed.

    A method learns only from the labels of the training nodes and is scored once on all others (final). For methods
    with epochs, the best test accuracy over the epochs is noted too (peak, optimistic).

    With --task links, edges of each layer are held out while all other layers stay visible. Methods must tell them from
    as many unlinked pairs, drawn uniformly or matched by degree.

    With --task ask, ways to choose whom to label (--methods cover,random,degree,...) choose from a random half of the
    nodes, and what is learned from their labels is tested on the other half.
    """
    from . import benchmark_steps

    task, trained = asked.task, asked.train is not None
    for refused, reason in (
        (task != "ask" and (asked.predictors or asked.per_class), "--predictors and --per-class are for --task ask"),
        (
            asked.splits is not None and (trained or asked.repeats is not None),
            "--splits says which nodes to learn from, so --train and --repeats would say nothing",
        ),
        (
            task == "links" and (trained or asked.settings or asked.splits is not None),
            "--train, --splits and --set are for labels; links are held out by fifths",
        ),
        (task != "labels" and asked.label_separator is not None, "--label-separator is for --task labels"),
        (task == "ask" and (trained or asked.settings), "--train and --set are for --task labels; say --per-class 1,2"),
    ):
        if refused:
            raise DataError(reason)
    ledger = asked.ledger
    with warnings_as_notes():
        graphs = benchmark_steps.graphs(asked.datasets, read, needs_label=task != "links")
    shared = {"out": ledger, "jobs": asked.jobs, "backend": asked.backend, "force": asked.force}
    if task == "labels":
        benchmark_steps.run_labels(graphs, asked, shared | {"command": command_line(context)})
    else:
        benchmark_steps.run_other(graphs, asked, shared)
