"""The command line: it parses, calls the library and prints. ``main`` is the entry point."""

from .app import main

__all__ = ["main"]
