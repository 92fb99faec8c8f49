"""Locks on files that end with the process that holds them, so that a leftover can be told from work under way."""

from __future__ import annotations

import os
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: whether somebody still works on a file is then unknown
    LOCKS = False
else:
    LOCKS = True


def lock(path: Path) -> int | None:
    """Hold a file or folder until the returned handle is closed or the process ends.

    Raises BlockingIOError if another process holds it. None if the system has no such locks.
    """
    if not LOCKS:
        return None
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise
    return handle


def unlock(handle: int | None) -> None:
    """Let go of what :func:`lock` holds."""
    if handle is not None:
        os.close(handle)


def is_abandoned(path: Path) -> bool:
    """Whether nobody holds a file; False where that cannot be known."""
    if not LOCKS:
        return False
    try:
        unlock(lock(path))
    except OSError:
        return False
    return True
