"""The command line: it parses, calls the library and prints. ``main`` is the entry point."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; Ctrl-C while it is still being imported ends it as at any other time."""
    try:
        from .app import main as run

        run(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("Error: interrupted\n")
        sys.exit(130)
