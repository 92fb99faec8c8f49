"""What the scripts of the paper share: where things go, the data they need, and a benchmark with a progress display."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

from gramme.datasets import info, load
from gramme.datasets.files import local_path
from gramme.errors import GrammeError
from gramme.evaluation import Ledger, benchmark
from gramme.graph import MultilayerGraph
from gramme.report.benchmark_tables import LiveTable

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "reproduction"
"""What is kept with the project: csv files, figures, tables."""
WORK = ROOT / "build" / "paper"
"""Ledgers of single runs, from which a script that was killed goes on."""
PAPER_SETTINGS = {"features": "random", "weight_decay": 0.0, "score_bound": None}
"""Where ablations and figures follow the paper: nothing but random features, no decay, scores that may grow."""
console = Console(stderr=True, highlight=False, soft_wrap=True)


def options(about: str | None, **more: Any) -> argparse.ArgumentParser:
    """The options that all scripts have."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter, **more)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for csv and figures")
    parser.add_argument("--work", type=Path, default=WORK, help="folder for what makes it resume")
    parser.add_argument("--quick", action="store_true", help="tiny settings on embedded data, to see that it runs")
    return parser


def parsed(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The chosen options; the folders are there afterwards."""
    chosen = parser.parse_args()
    if chosen.quick and chosen.out == RESULTS:
        # what is kept with the project must never come from tiny settings
        chosen.out, chosen.work = WORK / "quick", WORK / "quick"
    chosen.out.mkdir(parents=True, exist_ok=True)
    chosen.work.mkdir(parents=True, exist_ok=True)
    return chosen


def graphs(names: Iterable[str]) -> dict[str, MultilayerGraph]:
    """Datasets by name, or the end of the program with one message that says what is missing."""
    names = list(names)
    missing = [
        f"{file.folder}/{file.name}"
        for name in names
        for file in info(name).files
        if local_path(file) is None and file.address is None
    ]
    if missing:
        sys.exit(
            "These files are missing and cannot be downloaded:\n  "
            + "\n  ".join(missing)
            + "\nSet GRAMME_DATA to the folder that holds them: make paper GRAMME_DATA=/path/to/data"
        )
    found = {}
    for name in names:
        try:
            found[name] = load(name)
        except GrammeError as error:
            sys.exit(
                f"{name}: {error}\nSet GRAMME_DATA to a folder with the datasets: make paper GRAMME_DATA=/path/to/data"
            )
    return found


def run(data: Mapping[str, MultilayerGraph], methods: Iterable[Any], ledger: Path, **how: Any) -> pd.DataFrame:
    """A benchmark with progress on standard error; what the ledger has already is not done again."""
    with LiveTable(console) as live:
        return benchmark(data, methods, out=ledger, on_start=live.start, on_result=live.add, **how)


def runs(ledger: Path) -> pd.DataFrame:
    """All runs of a ledger."""
    with Ledger(ledger, create=False) as opened:
        return opened.runs()


def guarded(work: Callable[[], None]) -> None:
    """Run a script; a mistake in its data or options is one message, not a traceback."""
    try:
        work()
    except GrammeError as error:
        sys.exit(f"Error: {error}")
    except KeyboardInterrupt:
        sys.exit("Interrupted; what was finished is kept, and the same command goes on from there.")
