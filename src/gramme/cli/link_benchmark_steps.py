"""The work of ``gramme benchmark --task links`` between its options and the library, and its table in the terminal."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import typer

from gramme._terminal import escape
from gramme.cli.console import messages, note
from gramme.cli.steps_bar import steps_bar
from gramme.errors import DataError
from gramme.evaluation.link_benchmark import link_benchmark
from gramme.evaluation.link_ledger import LinkLedger
from gramme.evaluation.link_methods import DEFAULT_LINK_METHODS
from gramme.evaluation.link_summary import MEAN, summarise_links
from gramme.graph import MultilayerGraph

STYLES = ("table", "csv", "json")


def run(
    graphs: dict[str, MultilayerGraph],
    *,
    methods: str | None,
    repeats: int | None,
    target: Path,
    jobs: int | None,
    backend: str,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run the benchmark of links and print its summary."""
    named = [word.strip() for word in (methods or "").split(",") if word.strip()]
    with steps_bar("Runs", silent=quiet or as_json) as bar:
        table = link_benchmark(
            graphs,
            named or DEFAULT_LINK_METHODS,
            out=target,
            repeats=1 if repeats is None else repeats,
            jobs=jobs,
            backend=backend,
            force=force,
            tell=bar,
        )
    failed = int(table.loc[table["layer"] != MEAN, "failed"].sum())
    if failed:
        note(f"{failed} scores are missing, since runs failed; gramme report {target} says why")
    if as_json or not quiet:
        _show(table, "json" if as_json else "table")
    if not quiet and not as_json:
        messages.print(
            escape(
                f"All runs are in {target}; gramme report {target} --out page.html makes a page."
            )
        )


def show_ledger(ledger: Path, style: str) -> None:
    """Print the summary of a ledger of links."""
    with LinkLedger(ledger, create=False) as opened:
        rows = opened.rows()
    if not len(rows):
        raise DataError(f"{ledger} holds no runs yet; gramme benchmark --task links fills it")
    _show(summarise_links(rows), style)


def _show(table: pd.DataFrame, style: str) -> None:
    if style not in STYLES:
        raise DataError(f"a ledger of links is shown as {', '.join(STYLES)}, not as {style!r}")
    if style == "csv":
        text = table.to_csv(index=False, float_format="%.4g")
    elif style == "json":
        text = table.to_json(orient="records", double_precision=4)
    else:
        text = table.round(1).to_string(index=False, na_rep="")
    typer.echo(text)
