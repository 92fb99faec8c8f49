"""Open files that have no name yet: whatever ends the process leaves nothing of them behind."""

from __future__ import annotations

import os
from pathlib import Path


def open_nameless(folder: Path, mode: int = 0o666) -> int | None:
    """A new file in a folder, open for reading and writing; None where the system or the folder has no such files."""
    if not hasattr(os, "O_TMPFILE") or not Path("/proc/self/fd").is_dir():
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_RDWR, mode)
    except (OSError, ValueError):  # whoever asks finds the reason when the usual way fails as well
        return None


def give_name(handle: int, path: Path) -> None:
    """Let a nameless file appear under a name, whole; FileExistsError if the name is taken."""
    # only with a folder named does Python follow the link that stands for the open file
    os.link(f"/proc/self/fd/{handle}", path, src_dir_fd=handle, follow_symlinks=True)
