"""A sign of life: what a command is doing after two seconds, how long it will take before ten, and both as it goes on.

The lines go to standard error, in a terminal and in a log alike. The time left follows from the share of the work that
is done (:mod:`gramme._progress`); before any of it is done, from how large the data are, where that is known.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from gramme._durations import rough_duration
from gramme._progress import watched
from gramme._terminal import escape
from gramme.cli.console import messages

FIRST_SECONDS = 1.5
"""When it is first said what is being done; imports and the machine's load come on top."""
SECOND_SECONDS = 8.0
"""When the time left is first said, if not before."""
LATER_SECONDS = 20.0
"""From then on; after ten minutes a line a minute."""
SURE_SHARE = 0.01
"""The share of the work that must be done before the time left is told from it."""

SILENT_OPTIONS = ("--quiet", "--json", "--help", "--version")
QUICK_COMMANDS = (
    "methods",
    "datasets",
    "results",
    "help",
    "new",
    "benchmark",
)  # new asks, the last tells by itself


@dataclass
class Heartbeat:
    """What is being done and how far it is; :meth:`line` says it."""

    what: str
    expected_seconds: float | None = None
    began: float = field(default_factory=time.monotonic)
    done: float = 0.0
    started: float | None = None
    moved: float = 0.0

    def tell(self, what: str, done: float) -> None:
        """Take note of where the work is; reading and imports before the first word of it do not count."""
        now = time.monotonic()
        self.started = now if self.started is None else self.started
        if done > self.done:
            self.moved = now
        self.what, self.done = what or self.what, done

    def left(self, now: float) -> float | None:
        """Seconds left, None if nothing tells."""
        if self.done >= SURE_SHARE and self.started is not None:
            # as it was when something was last done, less the time since; overdue, it is told from the delay alone
            then = (self.moved - self.started) * (1 - self.done) / self.done
            since = now - self.moved
            return max(then - since, 0.2 * since)
        if self.expected_seconds is None:
            return None
        return max(self.expected_seconds - (now - self.began), 1.0)

    def line(self, now: float) -> str:
        """What is being done and the time left, in words."""
        left = self.left(now)
        if left is None:
            return f"{self.what} ... {rough_duration(now - self.began)} so far"
        return f"{self.what} ... about {rough_duration(left)} left"


_current: list[Heartbeat] = []


def expect(seconds: float) -> None:
    """Say how long the work may take, from how large it is, before any of it is done."""
    if _current:
        _current[-1].expected_seconds = time.monotonic() - _current[-1].began + seconds


@contextmanager
def heartbeat(arguments: Sequence[str]) -> Iterator[None]:
    """Within this, a command that takes longer than two seconds says what it is doing."""
    words = [word for word in arguments if not word.startswith("-")]
    if (
        not words
        or words[0] in QUICK_COMMANDS
        or any(option in arguments for option in SILENT_OPTIONS)
    ):
        yield
        return
    beat = Heartbeat(f"gramme {' '.join(words[:2])}")
    _current.append(beat)
    end = threading.Event()
    thread = threading.Thread(target=_beat, args=(beat, end), daemon=True)
    thread.start()
    try:
        with watched(beat.tell):
            yield
    finally:
        end.set()
        thread.join(timeout=1.0)
        _current.remove(beat)


def _beat(beat: Heartbeat, end: threading.Event) -> None:
    for moment in moments():
        if end.wait(max(0.0, beat.began + moment - time.monotonic())):
            return
        messages.print(escape(beat.line(time.monotonic())))


def moments() -> Iterator[float]:
    """Seconds after the start at which a line is due.

    >>> from itertools import islice
    >>> list(islice(moments(), 4))
    [1.5, 8.0, 28.0, 48.0]
    """
    yield FIRST_SECONDS
    moment = SECOND_SECONDS
    while True:
        yield moment
        moment += LATER_SECONDS if moment < 600 else 60.0
