"""What is found out while a file is read, gathered for the report: anything in the reading may add a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass
class Notes:
    """Sentences about one reading; the doubts among them are guesses that a user should look at."""

    all: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    said: set[str] = field(default_factory=set, repr=False)
    """The same as in ``all``, to look them up: a file may have thousands of columns, with a sentence about each."""


_running: ContextVar[Notes | None] = ContextVar("notes of the running reading", default=None)


def tell(sentence: str, *, doubt: bool = False) -> None:
    """Add a sentence to the report of the running reading; said twice, it stands there once."""
    notes = _running.get()
    if notes is None or sentence in notes.said:
        return
    notes.said.add(sentence)
    notes.all.append(sentence)
    if doubt:
        notes.doubts.append(sentence)


@contextmanager
def gathered() -> Iterator[Notes]:
    """Gather what is told inside; within another gathering everything goes to that one.

    >>> with gathered() as notes:
    ...     tell("read as Windows-1252", doubt=True)
    >>> notes.doubts
    ['read as Windows-1252']
    """
    outer = _running.get()
    notes = Notes() if outer is None else outer
    mark = _running.set(notes)
    try:
        yield notes
    finally:
        _running.reset(mark)
