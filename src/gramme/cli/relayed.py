"""The sign of life of a fit in several processes: the first of them notes how far it is, the command reads it.

The note is a small file beside the folder that the first process fills. One voice tells the user what is going on.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gramme._progress import watched
from gramme.cli.heartbeat import expect, listening, relay

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
