"""Imports that are not searched for garbage.

Python searches for objects that nobody but themselves refers to whenever many new ones have been made. What libraries
make when they are imported, some 300,000 objects with torch, stays to the end of a command. Searching it once and again
took an eighth of the CPU time of ``gramme fit`` on a small table.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loading() -> Iterator[None]:
    """Within this, imports are not searched for garbage; if there were any, what is there then never will be."""
    loaded, searching = len(sys.modules), gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if len(sys.modules) > loaded:  # once in a process: garbage of that moment stays as well
            gc.freeze()
        if searching:
            gc.enable()
