"""A benchmark under way on the terminal: how far each method is, how fast it goes, and the time left."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from gramme._durations import rough_duration
from gramme._terminal import escape
from gramme.evaluation import RunResult, RunSpec


class LiveTable:
    """One row per dataset and method, and a line with runs done, rate and time left.

    On a terminal it is redrawn in place. Elsewhere, in a log file for instance, it says only what there is to do.

    Parameters
    ----------
    console : Console
    wanted : bool, default=True
        With False, nothing is shown.
    left : callable, optional
        Returns the seconds left, None if they are unknown.
    """

    def __init__(
        self,
        console: Console,
        *,
        wanted: bool = True,
        left: Callable[[], float | None] = lambda: None,
    ) -> None:
        self.console, self.wanted, self.left = console, wanted, left
        self.total = self.finished = self.failed = 0
        self._began = time.monotonic()
        self._rows: dict[tuple[str, str], _Row] = {}
        self._live: Live | None = None

    def start(self, specs: Sequence[RunSpec], done: int, jobs: int) -> None:
        """Take note of what is to be done; ``done`` runs are in the ledger already."""
        self.total = len(specs)
        self._began = time.monotonic()
        for spec in specs:
            self._rows.setdefault((spec.dataset, spec.method), _Row()).total += 1
        if not self.wanted:
            return
        already = f", {done:,} are done already" if done else ""
        self.console.print(f"{self.total:,} runs to do{already}; {jobs} at a time")
        if self.total and self.console.is_terminal:
            self._live = Live(
                get_renderable=self.render, console=self.console, refresh_per_second=2
            )
            self._live.start()

    def add(self, result: RunResult) -> None:
        """Count a run that has ended."""
        self.finished += 1
        row = self._rows[result.spec.dataset, result.spec.method]
        row.finished += 1
        if result.scores is None:
            self.failed += 1
            row.failed += 1
        else:
            row.accuracy += result.scores.accuracy

    def words(self) -> str:
        """Runs done and their rate."""
        words = [f"{self.finished:,} of {self.total:,} runs"]
        if self.finished:
            spent = max(time.monotonic() - self._began, 1e-9)
            words.append(f"{60 * self.finished / spent:.1f} per minute")
        if self.failed:
            words.append(f"{self.failed} failed")
        return ", ".join(words)

    def line(self) -> str:
        """Runs done, rate and time left, in words."""
        left = self.left() if self.finished < self.total else None
        return self.words() + ("" if left is None else f", about {rough_duration(left)} left")

    def render(self) -> Group:
        """The table as it is now; finished rows go first when there are more than the screen holds."""
        table = Table("dataset", "method", box=None, pad_edge=False, header_style="bold")
        table.add_column("runs", justify="right")
        table.add_column("")
        table.add_column("accuracy so far", justify="right")
        table.add_column("failed", justify="right")
        room = max(3, self.console.size.height - 4)
        open_rows = [key for key, row in self._rows.items() if row.finished < row.total]
        closed = [key for key in self._rows if key not in open_rows]
        spare = max(0, room - len(open_rows))
        shown = (closed[-spare:] if spare else []) + open_rows[:room]
        for key in shown:
            row = self._rows[key]
            good = row.finished - row.failed
            table.add_row(
                *(escape(word) for word in key),
                f"{row.finished}/{row.total}",
                ProgressBar(total=row.total, completed=row.finished, width=20),
                f"{100 * row.accuracy / good:.1f}" if good else "",
                str(row.failed) if row.failed else "",
            )
        return Group(table, Text(self.line()))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None


class _Row:
    def __init__(self) -> None:
        self.total = self.finished = self.failed = 0
        self.accuracy = 0.0
