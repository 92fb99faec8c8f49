"""Folders for the time of a run. One that a killed run left behind is removed by the next run."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gramme._leftovers import marker_of, sweep, taken


@contextmanager
def scratch_folder(purpose: str) -> Iterator[Path]:
    """A folder in the system's temporary place that is gone after the block.

    >>> with scratch_folder("example") as folder:
    ...     folder.is_dir()
    True
    >>> folder.is_dir()
    False
    """
    place = Path(tempfile.gettempdir()) / f"gramme-{purpose}"
    for marker in place.parent.glob(f"{marker_of(place).stem}-*.gramme"):
        sweep(marker.with_name(marker.stem.removeprefix(".")))
    with taken(place.with_name(f"{place.name}-{secrets.token_hex(4)}")) as folder:
        folder.mkdir(mode=0o700)
        yield folder
