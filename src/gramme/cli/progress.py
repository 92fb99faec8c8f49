"""The sign of life of a command: what it is doing after two seconds, and the time left as far as it can be measured.

Work says in parts what share of it is done (:mod:`gramme._progress`). The time left follows from how fast that share
grows; nothing is said about it before something was done. A terminal shows a bar, a log a line now and then.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn

from gramme._progress import advance, unwatched, watched
from gramme._text import escape, rough_duration

from .console import messages

FIRST_SECONDS = 1.5
"""When it is first said what is being done; imports and the machine's load come on top."""
LINE_SECONDS = 20.0
"""Between two lines in a log; after ten minutes a minute."""
REFRESH_SECONDS = 0.2
MIN_SHARE, MIN_SECONDS = 0.02, 1.0
"""The share of the work, and the time it took, from which the time left can be told."""
PLAN_SHARE = 0.1
"""Of a step, for which the pace of the work before it counts as if it had been seen in the step itself."""
LATE_SHARE = 0.2
"""Of the time that a step has said nothing, which it is given at least: what is late is seldom about to end."""

SILENT_OPTIONS = ("--quiet", "--json", "--help", "--version")
QUICK_COMMANDS = ("methods", "results", "help", "new", "app")  # the last two wait for a person


@dataclass
class TimeLeft:
    """How long work will still take: the step under way at its own pace, what comes after it at the usual one so far.

    The usual pace is the median over the work done, so that one step whose share was misjudged does not mislead.
    """

    clock: Callable[[], float] = time.monotonic
    what: str | None = None
    began: float = 0.0
    moved: float = 0.0
    done: float = 0.0
    until: float = 1.0
    step_began: float = 0.0
    step_start: float = 0.0
    paces: list[tuple[float, float]] = field(default_factory=list)

    def tell(self, what: str, done: float, until: float) -> None:
        """Take note of the step, of the share of the work that is done, and of that after the step."""
        now = self.clock()
        if self.what is None:
            self.began = now
        if what != self.what:
            if done > self.step_start:
                share = done - self.step_start
                self.paces.append(((now - self.step_began) / share, share))
            self.step_began, self.step_start, self.moved = now, done, now
        elif done > self.done:
            self.moved = now
        self.what, self.done, self.until = what, done, until

    def seconds(self) -> float | None:
        """Seconds left, None if too little is done to tell."""
        if self.done < MIN_SHARE or self.moved - self.began < MIN_SECONDS:
            return None
        current_time, step_width, step_done = self.clock(), self.until - self.step_start, self.done - self.step_start
        planned_share = PLAN_SHARE * step_width if self.paces else 0.0
        heard_seconds = self.moved - self.step_began
        step_pace = (heard_seconds + planned_share * self._usual_pace(self.paces)) / max(
            step_done + planned_share, 1e-9
        )
        silent_seconds = current_time - self.moved
        step_rest = max(step_pace * (self.until - self.done) - silent_seconds, LATE_SHARE * silent_seconds)
        return step_rest + (1 - self.until) * self._usual_pace([*self.paces, (step_pace, step_width)])

    @staticmethod
    def _usual_pace(paces: list[tuple[float, float]]) -> float:
        """Seconds for the whole, the median over all shares."""
        half_share, passed_share = sum(share for _, share in paces) / 2, 0.0
        for pace, share in sorted(paces):
            passed_share += share
            if passed_share >= half_share:
                return pace
        return 0.0


@dataclass
class SignOfLife:
    """What a command is doing; :meth:`line` says it, and :meth:`refresh` shows it where it is due."""

    what: str
    clock: Callable[[], float] = time.monotonic
    left: TimeLeft = field(init=False)
    words: Callable[[], str] | None = None
    silent: bool = False
    in_part: bool = False
    next_line: float = 0.0
    vague: bool = False
    bar: Progress | None = None
    turn: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.began = self.clock()
        self.left = TimeLeft(self.clock)

    def tell(self, what: str, done: float, until: float) -> None:
        """Take note of where the work is; called by the work itself."""
        self.left.tell(what, done, until)
        self.what, self.in_part = what or self.what, bool(what)
        if not what:  # what is printed between two parts must not meet the bar
            self.close_bar()

    def line(self) -> str:
        """What is being done and the time left, in words."""
        what = self.what if self.words is None else self.words()
        return f"{what} ... {self.time_told()}"

    def time_told(self) -> str:
        """The time left, or else the time so far."""
        left = self.left.seconds()
        if left is None:
            return f"{rough_duration(self.clock() - self.began)} so far"
        return f"about {rough_duration(left)} left"

    def refresh(self) -> None:
        """Show the bar of a terminal, or print a line if one is due."""
        passed_seconds = self.clock() - self.began
        if self.silent or passed_seconds < FIRST_SECONDS:
            return
        if messages.is_terminal and self.in_part:
            self._draw_bar()
            return
        first_estimate = self.vague and self.left.seconds() is not None
        if passed_seconds >= self.next_line or first_estimate:
            self.vague = self.left.seconds() is None
            self.next_line = passed_seconds + (LINE_SECONDS if passed_seconds < 600 else 60.0)
            messages.print(escape(self.line()))

    def _draw_bar(self) -> None:
        with self.turn:
            if not self.in_part:
                return
            if self.bar is None:
                columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
                told = TextColumn("{task.fields[told]}")
                self.bar = Progress(
                    *columns, told, console=messages, transient=True, auto_refresh=False, redirect_stdout=False
                )
                self.bar.add_task("", total=1.0, told="")
                self.bar.start()
            facts = {"description": escape(self.what), "told": self.time_told()}
            self.bar.update(TaskID(0), completed=self.left.done, refresh=True, **facts)  # type: ignore[arg-type]

    def close_bar(self) -> None:
        """Remove the bar, if there is one."""
        with self.turn:
            if self.bar is not None:
                self.bar.stop()
                self.bar = None


_current: list[SignOfLife] = []


@contextmanager
def listening(sign: SignOfLife) -> Iterator[None]:
    """Within this, a sign of life hears of the work; whoever made it shows it."""
    _current.append(sign)
    try:
        with watched(sign.tell):
            yield
    finally:
        _current.remove(sign)


@contextmanager
def sign_of_life(arguments: Sequence[str]) -> Iterator[None]:
    """Within this, a command that takes longer than two seconds says what it is doing."""
    command_words = [word for word in arguments if not word.startswith("-")]
    is_quick = not command_words or command_words[0] in QUICK_COMMANDS
    if is_quick or any(option in arguments for option in SILENT_OPTIONS):
        yield
        return
    sign, end_event = SignOfLife(f"Starting gramme {command_words[0]}"), threading.Event()

    def show() -> None:
        while not end_event.wait(REFRESH_SECONDS):
            sign.refresh()

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        with listening(sign):
            yield
    finally:
        end_event.set()
        thread.join(timeout=1.0)
        sign.close_bar()


def tell_steps(done: int, total: int) -> None:
    """Say how far the work is, in the form in which library functions call their ``tell``."""
    advance(done / max(total, 1))


def relay(what: str, done: float, until: float) -> None:
    """Say where the work is that another process does for this one."""
    if _current:
        _current[-1].tell(what, done, until)


@contextmanager
def saying(words: Callable[[], str] | None, *, silent: bool = False) -> Iterator[None]:
    """Within this, lines say these words; with ``silent`` nothing is shown, since something else shows them."""
    if not _current:
        yield
        return
    sign = _current[-1]
    sign.words, sign.silent = words, silent
    try:
        yield
    finally:
        sign.words, sign.silent = None, False


def seconds_left() -> float | None:
    """Seconds left of the command, None if they are unknown."""
    return _current[-1].left.seconds() if _current else None


@contextmanager
def reading(names: Sequence[str]) -> Iterator[None]:
    """Say that files are read."""
    if not _current or not names:
        yield
        return
    other_files = len(names) - 1
    _current[-1].what = f"Reading {names[0]}" + (f" and {other_files} more" if other_files else "")
    with unwatched():  # a download is no step of the work
        yield
    _current[-1].what = "The data are read"


# A fit in several processes: the first of them writes how far it is to a file, which the command reads.


def progress_file(folder: str | Path) -> Path:
    """Where the progress of a fit into a folder is written."""
    return Path(folder).with_name("progress.json")


@contextmanager
def writing_progress(path: Path) -> Iterator[None]:
    """Within this, all progress is written to a file."""
    written, step = float("-inf"), ""

    def tell(what: str, done: float, until: float) -> None:
        nonlocal written, step
        if what == step and time.monotonic() - written < REFRESH_SECONDS:
            return
        written, step = time.monotonic(), what
        try:
            path.write_text(json.dumps([what, done, until]), encoding="utf-8")
        except OSError:
            return  # whoever wanted to read it is gone, which others find out

    with watched(tell):
        yield


def relay_progress(path: Path) -> None:
    """Pass on what the file says of the work of another process."""
    try:
        what, done, until = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return  # nothing yet, or half of it
    relay(what, done, until)
