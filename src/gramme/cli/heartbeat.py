"""A sign of life: what a command is doing after two seconds, how long it will take before ten, and both as it goes on.

The lines go to standard error, in a terminal and in a log alike. The time left follows from the share of the work that
is done (:mod:`gramme._progress`): what is under way goes on at its own speed, what comes after it takes as long as the
size of the data lets expect, times how much longer than expected the middle one of the parts so far has taken. Before
the first part is done, that factor is how much longer than its CPU time the command has taken so far: on a busy machine
it must wait for its turn.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median

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
PART_SHARE = 0.05
"""The share of a part that must be done before the time left is told from the part's own speed."""
CAUTION_SECONDS = 3.0
"""Of work as fast as expected that each part is credited with: a slow first second says little about the rest."""
LEAST_CPU_SECONDS = 1.0
"""Of CPU time that must be used before the time on the clock is compared with it."""

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
    until: float = 1.0
    part_began: float = 0.0
    part_start: float = 0.0
    parts: list[tuple[float, float]] = field(default_factory=list)
    expected_at: float = 0.0
    news: threading.Event = field(default_factory=threading.Event)
    cpu_began: float = field(default_factory=time.process_time)

    def expect(self, seconds: float) -> None:
        """Take note of how long the work may take from now on."""
        self.expected_seconds = seconds
        self.expected_at = time.monotonic()
        self.news.set()

    def tell(self, what: str, done: float, until: float) -> None:
        """Take note of where the work is; reading and imports before the first word of it do not count."""
        now = time.monotonic()
        self.started = now if self.started is None else self.started
        if what != self.what:
            if done > self.part_start:
                self.parts.append((now - self.part_began, done - self.part_start))
            self.part_began, self.part_start = now, done
        if done > self.done:
            self.moved = now
        self.what, self.done, self.until = what or self.what, done, until

    def left(self, now: float) -> float | None:
        """Seconds left, None if nothing tells."""
        since = now - self.moved
        if self.expected_seconds is None:
            if self.done < SURE_SHARE or self.started is None:
                return None
            then = (self.moved - self.started) * (1 - self.done) / self.done
        elif self.started is None or not self.moved:
            then, since = self.expected_seconds * self._waiting(now), now - self.expected_at
        else:
            pace = self._pace(self.expected_seconds, now)
            share = (self.done - self.part_start) / max(self.until - self.part_start, 1e-9)
            if PART_SHARE <= share <= 1:
                in_part = (self.moved - self.part_began) * (1 - share) / share
            else:
                in_part = self.expected_seconds * max(self.until - self.done, 0.0) * pace
            then = in_part + self.expected_seconds * (1 - max(self.until, self.done)) * pace
        # as it was when something was last done, less the time since; overdue, it is told from the delay alone
        return max(then - since, 0.2 * since)

    def _pace(self, expected: float, now: float) -> float:
        """How many times longer than expected the parts that are done have taken, by the middle one of them."""
        if not self.parts:
            return self._waiting(now)
        return median(
            (taken + CAUTION_SECONDS) / (expected * share + CAUTION_SECONDS)
            for taken, share in self.parts
        )

    def _waiting(self, now: float) -> float:
        """How many times longer than its CPU time the command has taken so far; 1 on an idle machine."""
        used = time.process_time() - self.cpu_began
        taken = now - self.began
        return max(1.0, taken / used) if used >= LEAST_CPU_SECONDS else 1.0

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
        _current[-1].expect(seconds)


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
    told = True  # whether the last line said how long it will take
    for moment in moments():
        while (wait := beat.began + moment - time.monotonic()) > 0:
            # who has only been told how long it has been going on hears at once how long it will take
            if end.wait(min(wait, 0.2)):
                return
            if not told and beat.news.is_set():
                break
        line = beat.line(time.monotonic())
        told = line.endswith(" left")
        messages.print(escape(line))


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
