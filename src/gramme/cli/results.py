"""``gramme results``: what a benchmark found, in the format that is wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gramme.errors import DataError, did_you_mean

SHOWN = ("summary", "pairs", "ranks", "runs", "failures")


def results(
    ledger: Annotated[Path, typer.Argument(help="The ledger of gramme benchmark.")],
    style: str = typer.Option(
        "table", "--format", help="table, csv, json, markdown or latex; csv and json have every column."
    ),
    shown: str = typer.Option(
        "summary",
        "--show",
        help="summary; pairs: every two methods compared; ranks: over the datasets; runs: one by one; failures.",
    ),
    train_percent: float | None = typer.Option(None, "--train", help="Only this percentage of training nodes."),
    metric: str | None = typer.Option(
        None, "--metric", help="What decides the best: accuracy, macro_f1, log_loss, or another that the ledger has."
    ),
    figure: Path | None = typer.Option(
        None, "--figure", help="Write the critical-difference figure: .png, .pdf or .svg."
    ),
) -> None:
    """Print what a benchmark found: ours beside the paper's figures, the best marked where the paired test says so."""
    if shown not in SHOWN:
        raise DataError(f"--show cannot be {shown!r}; {did_you_mean(shown, SHOWN)}")
    from gramme.evaluation.ledger import ledger_task

    ledger_kind = ledger_task(ledger)
    if ledger_kind in ("links", "ask"):
        from .benchmark_steps import show_ledger

        show_ledger(ledger, ledger_kind, style, shown, metric)
        return
    from gramme.evaluation import Ledger, rank_methods
    from gramme.evaluation.summary import default_metric
    from gramme.report.benchmark_tables import STYLES, format_results, results_table, write_critical_difference

    if style not in STYLES:
        raise DataError(f"there is no format {style!r}; {did_you_mean(style, STYLES)}")
    with Ledger(ledger, create=False) as opened:
        runs = opened.runs()
    if train_percent is not None:
        known_percents = sorted(set(runs["train_percent"]))
        runs = runs[runs["train_percent"] == train_percent]
        if not len(runs):
            known_words = ", ".join(f"{percent:g}" for percent in known_percents) or "no runs at all"
            raise DataError(f"{ledger} has no runs at {train_percent:g} %; it has: {known_words}")
    result_table = results_table(runs, shown, metric)
    if figure is not None:
        ranking = rank_methods(runs, train_percent, metric=metric or default_metric(runs))
        shown_percent = runs["train_percent"].min()
        write_critical_difference(ranking, figure, f"average ranks at {shown_percent:g} % labels")
    typer.echo(format_results(result_table, style))
