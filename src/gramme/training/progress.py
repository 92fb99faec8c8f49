"""A progress bar on the terminal for trainings that take longer than two seconds."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress as ProgressBar,
    TextColumn,
    TimeRemainingColumn,
)

from gramme._progress import advance

PATIENCE_SECONDS = 2.0
"""Seconds after which a training shows its progress."""


class ProgressDisplay:
    """Shows a bar with the time left, once a training has taken two seconds.

    Parameters
    ----------
    total : int
        Epochs in all.
    title : str
    wanted : bool, optional
        Show it or not; if not given, only if standard error is a terminal.
    """

    def __init__(self, total: int, title: str, wanted: bool | None) -> None:
        self.total, self.title = total, title
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self.done = 0
        self._bar: ProgressBar | None = None

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        return self

    def advance(self, epochs: int, loss: float) -> None:
        """Note that epochs were done; the loss is shown beside the bar."""
        self.done += epochs
        advance(self.done / max(self.total, 1))
        if not self.wanted:
            return
        if self._bar is None and time.monotonic() - self._began > PATIENCE_SECONDS:
            self._bar = ProgressBar(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("loss {task.fields[loss]:.3f}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(self.title, total=self.total, loss=loss)
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, loss=loss)

    def finish(self, epochs: int) -> None:
        """Count epochs that were not needed as done."""
        self.done += epochs
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
