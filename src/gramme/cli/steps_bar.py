"""A progress bar with the time left, for work that says how far it is; it appears after two seconds."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from gramme._progress import advance, part, share_done, watched
from gramme.cli.console import messages
from gramme.cli.heartbeat import Heartbeat, current

PATIENCE_SECONDS = 2.0
REFRESH_SECONDS = 0.3


def tell_steps(done: int, total: int) -> None:
    """Say how far the work is, in the form in which library functions call their ``tell``."""
    advance(done / max(total, 1))


@contextmanager
def steps_bar(
    title: str, share: float = 1.0, *, silent: bool = False
) -> Iterator[Callable[[int, int], None]]:
    """A bar for one piece of work; only if standard error is a terminal.

    It shows the share that is done and the time left of the whole command, which the sign of life knows
    (:mod:`gramme.cli.heartbeat`). The share of the command that the piece is lets both be told, also in a log.
    """
    if silent or not sys.stderr.isatty():
        with part(title, share):
            yield tell_steps
        return
    end = threading.Event()
    with _heard(title) as beat, part(title, share):
        shown = threading.Thread(target=_show, args=(title, share_done(), beat, end), daemon=True)
        shown.start()
        try:
            yield tell_steps
        finally:
            end.set()
            shown.join()


@contextmanager
def _heard(title: str) -> Iterator[Heartbeat]:
    """The command's sign of life, or one of this piece alone where the command gives none."""
    if (beat := current()) is not None:
        yield beat
        return
    beat = Heartbeat(title)
    with watched(beat.tell):
        yield beat


def _show(title: str, done: Callable[[], float], beat: Heartbeat, end: threading.Event) -> None:
    """Draw the bar until the end, in a thread of its own: a step may take long."""
    if end.wait(PATIENCE_SECONDS):
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[left]}"),
    )

    def left() -> str:
        return beat.line(time.monotonic()).rpartition("... ")[2]

    with Progress(*columns, console=messages, transient=True) as bar:
        task = bar.add_task(title, total=1.0, completed=done(), left=left())  # type: ignore[arg-type]
        while not end.wait(REFRESH_SECONDS):
            bar.update(task, completed=done(), left=left())
