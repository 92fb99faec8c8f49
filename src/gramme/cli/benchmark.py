"""``gramme benchmark``: methods compared on datasets over random splits. Only the options are here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from gramme.errors import DataError

from .console import warnings_as_notes
from .options import Quiet, Reading, takes_reading_options


@takes_reading_options
def benchmark(
    context: typer.Context,
    target: Path = typer.Option(..., "--out", help="Ledger to write to or resume, a sqlite file."),
    datasets: str | None = typer.Option(
        None, "--datasets", help="Names of datasets or files, with commas between them."
    ),
    methods: str | None = typer.Option(
        None, "--methods", help="Names of methods, with commas between them; see gramme methods."
    ),
    task: str = typer.Option(
        "labels", "--task", help="What is compared: predicting labels, or links, or (ask) choosing whom to label."
    ),
    predictors: str | None = typer.Option(
        None, "--predictors", help="With --task ask: methods that learn from the chosen nodes."
    ),
    per_class: str | None = typer.Option(
        None, "--per-class", help="With --task ask: labels to ask for per class, like 1,2,4."
    ),
    train: str | None = typer.Option(
        None, "--train", help="Percentages of labelled nodes to learn from, like 10,20,30."
    ),
    splits: Path | None = typer.Option(
        None,
        "--splits",
        help="Splits of your own: a CSV with a column of node names and a column per split with train and test in it.",
    ),
    metric: str | None = typer.Option(
        None,
        "--metric",
        help="What decides the best: accuracy, macro_f1, log_loss, calibration_error; links: roc_auc, "
        "average_precision, hits_at_20; ask: accuracy, macro_f1.",
    ),
    repeats: int | None = typer.Option(None, "--repeats", help="Random splits per percentage; 20 unless --quick."),
    jobs: int | None = typer.Option(
        None, "--jobs", help="Runs at a time, each on one thread; one per core if not given."
    ),
    backend: str = typer.Option("loky", "--backend", help="loky: processes of this machine; ray: a Ray cluster."),
    settings: list[str] = typer.Option(
        [], "--set", help="A parameter as method.name=value, or name=value for all that have it."
    ),
    quick: bool = typer.Option(False, "--quick", help="A first look in about a minute: 3 realisations of 20 %."),
    force: bool = typer.Option(False, "--force", help="Do again what is in the ledger already."),
    quiet: Quiet = False,
    as_json: bool = typer.Option(False, "--json", help="Print the summary as JSON for scripts."),
    *,
    read: Reading,
) -> None:
    """Compare methods on datasets: the same random splits for all, every run in a ledger, resumed if killed.

    A method learns only from the labels of the training nodes and is scored once on all others (final). For methods
    with epochs, the best test accuracy over the epochs is noted too (peak, optimistic).

    With --task links, edges of each layer are held out while all other layers stay visible. Methods must tell them from
    as many unlinked pairs, drawn uniformly or matched by degree.

    With --task ask, ways to choose whom to label (--methods cover,random,degree,...) choose from a random half of the
    nodes, and what is learned from their labels is tested on the other half.
    """
    from . import benchmark_steps
    from .options import command_line

    if task not in ("labels", "links", "ask"):
        raise DataError(f"--task cannot be {task!r}; say labels, links or ask")
    if task != "ask" and (predictors is not None or per_class is not None):
        raise DataError("--predictors and --per-class are for --task ask")
    if splits is not None and (train is not None or repeats is not None):
        raise DataError("--splits says which nodes to learn from, so --train and --repeats would say nothing")
    with warnings_as_notes():
        graphs = benchmark_steps.graphs(datasets, read, needs_label=task != "links")
    shared: dict[str, Any] = {
        "methods": methods,
        "repeats": repeats,
        "metric": metric,
        "splits": splits,
        "target": target,
        "jobs": jobs,
        "backend": backend,
        "quick": quick,
        "force": force,
        "quiet": quiet,
        "as_json": as_json,
    }
    if task == "links" and (train is not None or settings or splits is not None):
        raise DataError("--train, --splits and --set are for labels; links are held out by fifths")
    if task == "ask" and (train is not None or settings):
        raise DataError("--train and --set are for --task labels; say --per-class 1,2")
    if task == "labels":
        command = command_line(context)
        benchmark_steps.run_labels(graphs, train=train, settings=settings, command=command, **shared)
    else:
        benchmark_steps.run_other(task, graphs, predictors=predictors, per_class=per_class, **shared)
