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

# what commands import when they run: with torch, more seconds of work than a small fit takes
COMMANDS = (
    "cli.fit_steps", "evaluation.learning_curve", "grouping", "links", "methods.auto", "ranking",
    "report.result_folders",
)  # fmt: skip


def main() -> None:
    """Import, wait for a command, run it."""
    end_with(os.getppid())
    from gramme.cli.app import main as command_line
    from gramme.cli.console import loading

    with loading():
        for module in COMMANDS:
            importlib.import_module(f"gramme.{module}")
    request_line = sys.stdin.readline()
    if not request_line:
        return  # the app has no use for this process any more
    request_record = json.loads(request_line)
    os.chdir(request_record["folder"])
    with noted(Path(request_record["progress"])):
        command_line(request_record["words"])


@contextlib.contextmanager
def noted(path: Path) -> Any:
    """Within this, what the command is doing is written to a file, again and again."""
    from gramme.cli.progress import SignOfLife, listening

    progress_sign = SignOfLife("Starting")
    end_event = threading.Event()

    def note() -> None:
        while not end_event.wait(0.2):
            seconds_left = progress_sign.left.seconds()
            progress_record = {
                "what": progress_sign.what,
                "done": progress_sign.left.done,
                "left": seconds_left,
                "at": time.time(),
            }
            part_path = path.with_suffix(".part")
            with contextlib.suppress(OSError):
                part_path.write_text(json.dumps(progress_record), encoding="utf-8")
                part_path.replace(path)

    thread = threading.Thread(target=note, daemon=True)
    thread.start()
    try:
        with listening(progress_sign):
            yield
    finally:
        end_event.set()
        thread.join(timeout=1.0)


if __name__ == "__main__":
    main()
