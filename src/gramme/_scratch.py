"""Folders for the time of a run. One that a killed run left behind is removed by the next run."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gramme._locks import is_abandoned, lock, unlock

MARKER = ".gramme-run"
"""A file in each such folder, locked while the run lives: a folder without it is not ours, whatever its name."""


@contextmanager
def scratch_folder(purpose: str) -> Iterator[Path]:
    """A folder in the system's temporary place that is gone after the block.

    >>> with scratch_folder("example") as folder:
    ...     folder.is_dir()
    True
    >>> folder.is_dir()
    False
    """
    prefix = f"gramme-{purpose}-"
    _sweep(prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    try:
        marker = folder / MARKER
        marker.touch()
        held = lock(marker)
        try:
            yield folder
        finally:
            unlock(held)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(prefix: str) -> None:
    for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        if (left / MARKER).is_file() and is_abandoned(left / MARKER):
            shutil.rmtree(left, ignore_errors=True)
