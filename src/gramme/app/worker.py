"""A process that waits, with everything heavy imported, for one command of the command line, runs it, and ends.

Importing torch takes as long as a small fit. So the app keeps such a process ready. It reads one line of JSON from
standard input, ``{"folder": ..., "words": [...], "progress": ...}``, and is from then on ``gramme WORDS`` there.
What the command is doing, and how long it will still take, goes to a small file that appears whole.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from gramme._runtime import end_with

NOTE_SECONDS = 0.2
"""Between two looks at how far the work is."""
COMMANDS = (
    "gramme.cli.fit_steps",
    "gramme.evaluation.learning_curve",
    "gramme.grouping",
    "gramme.links",
    "gramme.methods.auto.gramme_auto",
    "gramme.ranking",
    "gramme.report.result_folders",
)
"""What commands import when they run: with torch, more seconds of work than a small fit takes."""


def main() -> None:
    """Import, wait for a command, run it."""
    end_with(os.getppid())
    from gramme.cli.app import main as command_line
    from gramme.cli.console import loading

    with loading():
        for module in COMMANDS:
            importlib.import_module(module)
    line = sys.stdin.readline()
    if not line:
        return  # the app has no use for this process any more
    request = json.loads(line)
    os.chdir(request["folder"])
    with noted(Path(request["progress"])):
        command_line(request["words"])


@contextlib.contextmanager
def noted(path: Path) -> Any:
    """Within this, what the command is doing is written to a file, again and again."""
    from gramme.cli.progress import SignOfLife, listening

    sign = SignOfLife("Starting")
    end = threading.Event()

    def note() -> None:
        while not end.wait(NOTE_SECONDS):
            left = sign.left.seconds()
            facts = {"what": sign.what, "done": sign.left.done, "left": left, "at": time.time()}
            part = path.with_suffix(".part")
            with contextlib.suppress(OSError):
                part.write_text(json.dumps(facts), encoding="utf-8")
                part.replace(path)

    thread = threading.Thread(target=note, daemon=True)
    thread.start()
    try:
        with listening(sign):
            yield
    finally:
        end.set()
        thread.join(timeout=1.0)


if __name__ == "__main__":
    main()
