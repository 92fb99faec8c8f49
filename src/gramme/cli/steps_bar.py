"""A progress bar with the time left, for work in steps; it appears after two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from gramme._progress import advance, part
from gramme.cli.console import messages

PATIENCE_SECONDS = 2.0


class StepsBar:
    """Called with the steps done and in all, as library functions call their ``tell``."""

    def __init__(self, title: str, wanted: bool) -> None:
        self.title, self.wanted = title, wanted
        self.began = time.monotonic()
        self.bar: Progress | None = None

    def __call__(self, done: int, total: int) -> None:
        """Note how far the work is."""
        advance(done / max(total, 1))
        if not self.wanted:
            return
        if self.bar is None and time.monotonic() - self.began > PATIENCE_SECONDS:
            self.bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                console=messages,
                transient=True,
            )
            self.bar.start()
            self.task = self.bar.add_task(self.title, total=total)
        if self.bar is not None:
            self.bar.update(self.task, completed=done, total=total)


@contextmanager
def steps_bar(title: str, share: float = 1.0, *, silent: bool = False) -> Iterator[StepsBar]:
    """A bar for one piece of work; only if standard error is a terminal.

    The share of the whole command that the piece is lets the sign of life tell the time left, also in a log.
    """
    made = StepsBar(title, not silent and sys.stderr.isatty())
    try:
        with part(title, share):
            yield made
    finally:
        if made.bar is not None:
            made.bar.stop()
