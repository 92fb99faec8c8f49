"""A sign of life: what a command is doing after two seconds, how long it will take before ten, and both as it goes on.

The lines go to standard error, in a terminal and in a log alike. :mod:`gramme.cli.time_left` finds the time left.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from gramme._durations import rough_duration
from gramme._progress import unwatched, watched
from gramme._terminal import escape
from gramme.cli.console import messages
from gramme.cli.reading_time import expected_entries, reading_seconds, usual_seconds
from gramme.cli.time_left import OVERDUE_SHARE, TimeLeft

FIRST_SECONDS = 1.5
"""When it is first said what is being done; imports and the machine's load come on top."""
SECOND_SECONDS = 8.0
"""When the time left is first said, if not before."""
GUESS_SECONDS = 5.0
"""From then on a command that is still starting, on a busy machine, is judged by the size of its files."""
LATER_SECONDS = 20.0
"""From then on; after ten minutes a line a minute."""

SILENT_OPTIONS = ("--quiet", "--json", "--help", "--version")
QUICK_COMMANDS = ("methods", "results", "help", "new", "app")  # the last two wait for a person


@dataclass
class Heartbeat:
    """What is being done and how long it will still take; :meth:`line` says it."""

    command: str
    what: str = ""
    left: TimeLeft = field(default_factory=TimeLeft)
    began: float = field(default_factory=time.monotonic)
    of: str = ""
    words: Callable[[], str] | None = None
    guess: float | None = None
    silent: bool = False
    news: threading.Event = field(default_factory=threading.Event)

    def expect(self, seconds: float) -> None:
        """Take note of how long the work may take from now on."""
        self.guess = None
        self.left.expect(seconds)
        self.news.set()

    def tell(self, what: str, done: float, until: float) -> None:
        """Take note of where the work is."""
        self.left.tell(what, done, until)
        self.what = what or self.what

    def line(self, now: float) -> str:
        """What is being done and the time left, in words."""
        left = self.left.seconds()
        if left is None and self.guess is not None and now - self.began > GUESS_SECONDS:
            taken = now - self.began
            left = max(self.guess * self.left.work.slowness() - taken, OVERDUE_SHARE * taken)
        what = self.what if self.words is None else self.words()
        if left is None:
            return f"{what} ... {rough_duration(now - self.began)} so far"
        return f"{what} ... about {rough_duration(left)} left{self.of}"


class Listener(Protocol):
    """Whoever is told how far the work is."""

    def expect(self, seconds: float) -> None: ...

    def tell(self, what: str, done: float, until: float) -> None: ...


_current: list[Listener] = []


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Within this, ``listener`` is told what the work expects."""
    _current.append(listener)
    try:
        yield
    finally:
        _current.remove(listener)


def expect(seconds: float) -> None:
    """Say how long the work may take, from how large it is, before any of it is done."""
    if _current:
        _current[-1].expect(seconds)


def current() -> Heartbeat | None:
    """What is known of the command under way; None if it gives no sign of life."""
    beat = _current[-1] if _current else None
    return beat if isinstance(beat, Heartbeat) else None


def relay(what: str, done: float, until: float) -> None:
    """Say where the work is that another process does for this one."""
    if _current:
        _current[-1].tell(what, done, until)


@contextmanager
def saying(words: Callable[[], str], *, silent: bool = False) -> Iterator[None]:
    """Within this, lines say these words; with ``silent`` none is printed, since something else shows them."""
    beat = current()
    if beat is None:
        yield
        return
    beat.words, beat.silent = words, silent
    try:
        yield
    finally:
        beat.words, beat.silent = None, False


def seconds_left() -> float | None:
    """Seconds left of the command, None if they are unknown."""
    beat = current()
    return None if beat is None else beat.left.seconds()


@contextmanager
def reading(names: Sequence[str], then: Callable[[float], float] | None = None) -> Iterator[None]:
    """Say that files are read, and how long that takes and what comes after it.

    Parameters
    ----------
    names : sequence of str
        Of the files; what is no file takes no time.
    then : callable, optional
        Seconds of the work that follows, from about how many nodes, edges and memberships there are; without it, only
        the reading is told about.
    """
    beat = current()
    if beat is None or not names:
        yield
        return
    more = len(names) - 1
    beat.what = f"Reading {names[0]}" + (f" and {more} more" if more else "")
    after = 0.0 if then is None else then(expected_entries(names))
    beat.of = " of reading" if then is None else ""
    beat.expect(reading_seconds(names) + after)
    try:
        with unwatched():  # a download is no step of the work
            yield
    finally:
        beat.of = ""
        beat.what = f"{beat.command}: the data are read"
        beat.left.forget()


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
    beat = Heartbeat(f"gramme {words[0]}", f"Starting gramme {words[0]}")
    beat.guess = usual_seconds(words[0], words[1:])
    beat.left.work.now()  # from here on it is known how busy the machine is
    end = threading.Event()
    thread = threading.Thread(target=_beat, args=(beat, end), daemon=True)
    thread.start()
    try:
        with listening(beat), watched(beat.tell):
            yield
    finally:
        end.set()
        thread.join(timeout=1.0)


def _beat(beat: Heartbeat, end: threading.Event) -> None:
    told = True  # whether the last line said how long it will take
    for moment in moments():
        while (wait := beat.began + moment - time.monotonic()) > 0:
            if end.wait(min(wait, 0.2)):
                return
            # who has only been told how long it has been going on hears at once how long it will take
            if not told and beat.news.is_set():
                told = _say(beat)
        told = _say(beat)


def _say(beat: Heartbeat) -> bool:
    """Print a line; returns whether it says how long the command will take."""
    if beat.silent:
        return True
    line = beat.line(time.monotonic())
    beat.news.clear()
    messages.print(escape(line))
    return line.endswith(" left")


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
