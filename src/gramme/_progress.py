"""Progress of long work: parts within parts, reported to a watcher.

Long work says what it is doing and what share of the whole that is. It need not know what it is a part of:

    with part("label propagation", 0.2):
        for number in range(folds):
            with part(f"fold {number + 1} of {folds}", 1 / folds):
                ...

Without a watcher all of this costs next to nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

Watcher = Callable[[str, float, float], None]


@dataclass
class _Watch:
    """Where the work is: a stack of parts, each with where it starts and how wide it is, and how much is done."""

    tell: Watcher
    done: float = 0.0
    stack: list[tuple[str, float, float]] = field(default_factory=lambda: [("", 0.0, 1.0)])

    def moved(self, done: float) -> None:
        self.done = min(max(done, self.done), 1.0)
        named = [one for one in self.stack if one[0]] or self.stack[:1]
        _, start, width = named[-1]
        self.tell(": ".join(name for name, _, _ in named), self.done, start + width)


_WATCH: ContextVar[_Watch | None] = ContextVar("watch", default=None)


_DEADLINE: ContextVar[float] = ContextVar("deadline", default=math.inf)


class TimeLimitError(Exception):
    """The time that some work may take is over."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Within this, the next part of the work that begins when the time is over raises a TimeLimitError instead."""
    before = _DEADLINE.set(min(_DEADLINE.get(), time.perf_counter() + seconds))
    try:
        yield
    finally:
        _DEADLINE.reset(before)


def check_time() -> None:
    """End work whose time is over."""
    if time.perf_counter() > _DEADLINE.get():
        raise TimeLimitError


@contextmanager
def watched(tell: Watcher) -> Iterator[None]:
    """Within this, ``tell`` is called with what is being done, the share of the whole done, and the share after it."""
    before = _WATCH.set(_Watch(tell))
    try:
        yield
    finally:
        _WATCH.reset(before)


@contextmanager
def unwatched() -> Iterator[None]:
    """Within this, nobody hears of parts: the whole of it is one step of whatever is watched."""
    before = _WATCH.set(None)
    try:
        yield
    finally:
        _WATCH.reset(before)


@contextmanager
def part(name: str, share: float) -> Iterator[None]:
    """A part of the work: its share of the enclosing part, starting where the last part ended.

    A part without a name divides the one that it is in; whoever watches hears of that one.

    >>> told = []
    >>> with watched(lambda name, done, until: told.append((name, round(done, 2)))):
    ...     with part("fit", 0.5):
    ...         with part("one", 0.4):
    ...             advance(0.5)
    ...     with part("write", 0.5):
    ...         pass
    >>> told[1:4]
    [('fit: one', 0.0), ('fit: one', 0.1), ('fit', 0.2)]
    >>> told[-1]
    ('', 1.0)
    """
    check_time()
    watch = _WATCH.get()
    if watch is None:
        yield
        return
    width = watch.stack[-1][2] * share
    start = watch.done
    watch.stack.append((name, start, width))
    watch.moved(start)
    try:
        yield
    finally:
        watch.stack.pop()
        watch.moved(start + width)


def advance(share: float) -> None:
    """Say what share of the innermost part is done."""
    check_time()
    watch = _WATCH.get()
    if watch is not None:
        _, start, width = watch.stack[-1]
        watch.moved(start + width * share)
