"""The command line: it parses, calls the library and prints. ``main`` is the entry point."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; Ctrl-C while it is still being imported ends it as at any other time."""
    if arguments is None and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)
    try:
        from .app import main as run

        run(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("Error: interrupted\n")
        sys.exit(130)


def _interrupted(number: int, frame: FrameType | None) -> None:
    """Ctrl-C; while torch is being imported its compiled code answers an exception by aborting the process."""
    if getattr(getattr(sys.modules.get("torch"), "__spec__", None), "_initializing", False):
        os.write(2, b"Error: interrupted\n")
        os._exit(130)
    signal.default_int_handler(number, frame)
