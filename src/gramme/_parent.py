"""Ends a process soon after the one that started it: it might compute for hours, and nobody would take the result."""

from __future__ import annotations

import os
import threading
import time
from functools import lru_cache

PARENT = "GRAMME_PARENT"
"""The environment variable that names who started a process of a fit."""
WATCH_SECONDS = 1.0
"""How often a process looks whether its parent lives."""


@lru_cache(maxsize=1)
def end_with(parent: int) -> None:
    """End this process soon after its parent, also where that was killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
