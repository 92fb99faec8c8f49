"""The sign of life of a command: what it is doing after two seconds, and how long it will still take."""

from __future__ import annotations

import json
import math
import re
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from gramme._progress import advance, part, share_done, unwatched, watched
from gramme._text import escape, rough_duration

from .console import messages

# How long reading some files takes, and how much is in them, judged by their size alone.


START_SECONDS = 0.3
SECONDS_PER_BYTE = 1.7e-7
"""Of text, on one core; binary formats are as fast per byte, as they have fewer."""
EXCEL_SECONDS_PER_BYTE = 2e-6
BYTES_PER_ENTRY = 7.0
"""Of an edge list or a table, for each end of an edge or cell."""
OTHER_BYTES_PER_ENTRY = {
    ".graphml": 37.0,
    ".gexf": 37.0,
    ".gml": 30.0,
    ".json": 30.0,
    ".npz": 3.5,
    ".parquet": 2.5,
}
USUAL_SECONDS = {
    "fit": (5.0, 1.5e-4, 400.0),
    "predict": (3.0, 2e-6, 500.0),
    "info": (1.0, 1e-7, 60.0),
    "convert": (1.0, 1e-6, 60.0),
    "demo": (5.0, 0.0, 0.0),
    "report": (3.0, 0.0, 0.0),
}
"""By command: seconds whatever the data, seconds for each end of an edge or cell, and those at most."""
_ADDRESS = re.compile(r"^(?:sqlite|duckdb):([^?]*)")


def usual_seconds(command: str, names: Sequence[str]) -> float | None:
    """About how long a command usually takes with its default options, starting included; None if nobody can tell."""
    if command not in USUAL_SECONDS:
        return None
    start, per_entry, most = USUAL_SECONDS[command]
    return start + reading_seconds(names) + min(per_entry * expected_entries(names), most)


def reading_seconds(names: Sequence[str]) -> float:
    """About how long it takes to read files and make a graph of them, on one core."""
    return START_SECONDS + sum(
        size * (EXCEL_SECONDS_PER_BYTE if suffix.startswith(".xls") else SECONDS_PER_BYTE)
        for suffix, size in _sizes(names)
    )


def expected_entries(names: Sequence[str]) -> float:
    """About how many nodes, memberships and ends of edges files hold."""
    return sum(
        size / OTHER_BYTES_PER_ENTRY.get(suffix, BYTES_PER_ENTRY) for suffix, size in _sizes(names)
    )


def _sizes(names: Sequence[str]) -> Iterator[tuple[str, int]]:
    """The suffix and the size of each file; nothing for what is none."""
    for name in names:
        address = _ADDRESS.match(name)
        for path in _files(name if address is None else address[1]):
            try:
                yield path.suffix.lower(), path.stat().st_size
            except OSError:
                continue


def _files(name: str) -> list[Path]:
    """The files that a name stands for: itself, those of a folder, or those that match a pattern."""
    if not name:
        return []
    try:
        path = Path(name)
        if path.is_dir():
            return [one for one in path.iterdir() if one.is_file()]
        return [path] if path.is_file() else [Path(one) for one in glob(name)]  # noqa: PTH207
    except (OSError, ValueError):
        return []


# How long the work under way will still take: a plan of steps with costs, revised by what the
# steps so far have taken.


SURE_SHARE = 0.01
"""The share of the work that must be done before the time left is told from it alone, where there is no plan."""
PLAN_SHARE = 0.15
"""The share of a step for which the plan counts as if it had been done as planned."""
CAUTION_SECONDS = 1.0
"""Of work as fast as planned that each step is credited with: a slow first second says little about the rest."""
OVERDUE_SHARE = 0.3
"""Of the time that a step has shown nothing new, which it is given at least: what is late is seldom about to end."""
RECENT_SECONDS = 15.0
"""Over which it is measured how busy the machine is."""
LEAST_RUN_SECONDS = 0.3
"""Of work in that time, below which it is not known: who sleeps does not wait for a turn."""


def waited_seconds() -> float:
    """Seconds in which the main thread could have worked, had it not been another program's turn; 0 if unknown."""
    try:
        return int(Path("/proc/self/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


@dataclass
class WorkClock:
    """Seconds of work so far, and how many seconds on the clock one of them takes at present."""

    clock: Callable[[], float] = time.monotonic
    waited: Callable[[], float] = waited_seconds
    seen: deque[tuple[float, float]] = field(default_factory=deque)
    turn: threading.Lock = field(default_factory=threading.Lock)

    def now(self) -> float:
        """Seconds of work since some moment in the past."""
        clock = self.clock()
        worked = clock - self.waited()
        with self.turn:  # the work and who tells about it are two threads
            while len(self.seen) > 1 and clock - self.seen[1][0] > RECENT_SECONDS:
                self.seen.popleft()
            if not self.seen or clock - self.seen[-1][0] > RECENT_SECONDS / 50:
                self.seen.append((clock, worked))
        return worked

    def slowness(self) -> float:
        """Seconds on the clock for one of work, of late; 1 on an idle machine."""
        clock = self.clock()
        worked = clock - self.waited()
        with self.turn:
            first = self.seen[0] if self.seen else (clock, worked)
        passed, done = clock - first[0], worked - first[1]
        return max(1.0, passed / done) if done >= LEAST_RUN_SECONDS else 1.0


@dataclass
class TimeLeft:
    """Takes note of plan and progress; :meth:`seconds` says what is left.

    Parameters
    ----------
    work : WorkClock, optional
    """

    work: WorkClock = field(default_factory=WorkClock)
    planned: float | None = None
    planned_at: float = 0.0
    planned_from: float = 0.0
    what: str = ""
    started: float | None = None
    done: float = 0.0
    until: float = 1.0
    moved: float = 0.0
    step_began: float = 0.0
    step_start: float = 0.0
    paces: list[float] = field(default_factory=list)

    def expect(self, seconds: float) -> None:
        """Take note of how long all that is not done yet should take on one core of an idle machine."""
        now = self.work.now()
        self.planned, self.planned_at, self.planned_from = seconds, now, self.done
        self.moved = self.step_began = now
        self.step_start = self.done
        self.paces.clear()

    def forget(self) -> None:
        """Drop the plan, as something else begins."""
        self.planned = None

    def tell(self, what: str, done: float, until: float) -> None:
        """Take note of where the work is: the step, the share of the whole that is done, and that after the step."""
        now = self.work.now()
        self.started = now if self.started is None else self.started
        if what != self.what:
            if done > self.step_start and self.planned is not None:
                taken, plan = now - self.step_began, self._plan(self.step_start, done)
                self.paces.append((taken + CAUTION_SECONDS) / (plan + CAUTION_SECONDS))
            self.step_began, self.step_start = now, done
        if done > self.done or what != self.what:
            self.moved = now
        self.what, self.done, self.until = what, done, until

    def seconds(self) -> float | None:
        """Seconds left on the clock, None if nothing tells."""
        now = self.work.now()
        since = now - self.moved
        if self.planned is None:
            if self.done < SURE_SHARE or self.started is None:
                return None
            rest, after = (self.moved - self.started) * (1 - self.done) / self.done, 0.0
        else:
            # the plan counts as one step: the first may be an exception
            pace = math.exp(median([0.0, *map(math.log, self.paces)]))
            rest = self._step_left(pace)
            after = self._plan(max(self.until, self.done), 1.0) * pace
        # as it was when something was last done, less the time since
        return (max(rest - since, OVERDUE_SHARE * since) + after) * self.work.slowness()

    def _plan(self, start: float, end: float) -> float:
        """Seconds that the plan gives to the work between two shares of the whole."""
        return (self.planned or 0.0) * max(end - start, 0.0) / max(1 - self.planned_from, 1e-9)

    def _step_left(self, pace: float) -> float:
        """What the step under way needed when something of it was last done."""
        width = self.until - self.step_start
        if width <= 0:
            return 0.0
        plan = self._plan(self.step_start, self.until) * pace
        share = min(max((self.done - self.step_start) / width, 0.0), 1.0)
        whole = (self.moved - self.step_began + PLAN_SHARE * plan) / (share + PLAN_SHARE)
        return whole * (1 - share)


# A sign of life: what a command is doing after two seconds, how long it will take before ten, and
# both as it goes on.


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


# A progress bar with the time left, for work that says how far it is; it appears after two
# seconds.


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
    (:mod:`gramme.cli.progress`). The share of the command that the piece is lets both be told, also in a log.
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


# The sign of life of a fit in several processes: the first of them notes how far it is, the
# command reads it.


NOTE_SECONDS = 0.2
"""Between two notes on the same step."""


def note_beside(folder: str | Path) -> Path:
    """Where the note on a fit into a folder is."""
    return Path(folder).with_name("progress.json")


class Notes:
    """What the first process would tell the user, written to a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.facts: dict[str, Any] = {"plans": 0, "seconds": 0.0, "place": None}
        self.written = float("-inf")

    def expect(self, seconds: float) -> None:
        """Note how long the work may take from now on."""
        self.facts |= {"plans": self.facts["plans"] + 1, "seconds": seconds}
        self._write()

    def tell(self, what: str, done: float, until: float) -> None:
        """Note where the work is."""
        place, before = [what, done, until], self.facts["place"]
        self.facts["place"] = place
        if before is None or before[0] != what or time.monotonic() - self.written > NOTE_SECONDS:
            self._write()

    def _write(self) -> None:
        try:
            self.path.write_text(json.dumps(self.facts), encoding="utf-8")
        except OSError:
            return  # whoever wanted to read it is gone, which others find out
        self.written = time.monotonic()


@contextmanager
def noted(path: Path) -> Iterator[None]:
    """Within this, all progress is noted in a file."""
    notes = Notes(path)
    with listening(notes), watched(notes.tell):
        yield


class NoteReader:
    """The other end: passes on what is new in the note."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.plans, self.place = 0, None

    def look(self) -> None:
        """Pass on what has been noted since the last look."""
        try:
            facts = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return  # nothing yet, or half of a note
        if facts["plans"] != self.plans:
            self.plans = facts["plans"]
            expect(facts["seconds"])
        if facts["place"] not in (None, self.place):
            self.place = facts["place"]
            relay(*facts["place"])
