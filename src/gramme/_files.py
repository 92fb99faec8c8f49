"""Folders for the time of a run. One that a killed run left behind is removed by the next run."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

# Locks on files that end with the process that holds them, so that a leftover can be told from work under way.
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


# Open files that have no name yet: whatever ends the process leaves nothing of them behind.
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


# Names that a run takes while it writes, so that what a killed run left is known, and nothing else is touched.
_MARKER_SECONDS = 2.0  # how long a marker may stay empty where files cannot appear whole


@dataclass(frozen=True)
class Claim:
    """What a marker says: who takes the place, since when, and the path of what is made there."""

    process: int
    started: str
    work: Path


def marker_of(place: Path) -> Path:
    """The marker of a place."""
    return place.with_name(f".{place.name[:100]}.gramme")


@contextmanager
def taken(place: Path) -> Iterator[Path]:
    """Take a place; yields a free path beside it, to make a file or folder of, which is removed in the end.

    Raises FileExistsError if another run has taken the place or something else is in the way: see :func:`holder`.
    """
    marker = marker_of(place)
    work = marker.with_name(f"{marker.stem}.{secrets.token_hex(4)}.gramme")
    lock_handle = _claim(marker, work.name)
    try:
        yield work
    finally:
        remove(work)
        marker.unlink(missing_ok=True)
        unlock(lock_handle)


def holder(place: Path) -> Claim | None:
    """Who has taken a place; None if what is in the way is not a marker of ours."""
    deadline = time.monotonic() + _MARKER_SECONDS
    marker = marker_of(place)
    while (found_claim := _read(marker)) is None and time.monotonic() < deadline:
        if not marker.is_file() or marker.stat().st_size > 0:
            return None
        time.sleep(0.05)
    return found_claim


def sweep(place: Path, clean: Callable[[Path], None] | None = None) -> bool:
    """Remove what a run that was killed left at a place; True if there was something.

    ``clean`` is called with the path of what it made, and removes that; where the work of a run is a single file or
    folder that nobody misses, it need not be given.
    """
    marker = marker_of(place)
    if _read(marker) is None:
        return False
    try:
        lock_handle = lock(marker)
    except OSError:  # it lives, or has just ended
        return False
    if lock_handle is None:
        return False
    try:
        found_claim = _read(marker)
        if found_claim is None or not _is(marker, lock_handle):  # another run has swept it, and perhaps begun
            return False
        (clean or remove)(found_claim.work)
        marker.unlink(missing_ok=True)
    finally:
        unlock(lock_handle)
    return True


def remove(work: Path) -> None:
    """Remove a file or folder, if it is there."""
    if work.is_dir() and not work.is_symlink():
        shutil.rmtree(work, ignore_errors=True)
    else:
        with suppress(OSError):
            work.unlink(missing_ok=True)


def _claim(marker: Path, work: str) -> int | None:
    record = {
        "gramme": "something is being written here",
        "process": os.getpid(),
        "started": datetime.now().isoformat(timespec="seconds"),
        "work": work,
    }
    content = json.dumps(record).encode()
    handle = open_nameless(marker.parent, 0o644)
    if handle is None:
        handle = os.open(marker, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o644)
        os.write(handle, content)
        os.close(handle)
        return lock(marker)
    try:
        os.write(handle, content)
        lock_handle = lock(Path(f"/proc/self/fd/{handle}"))
        try:
            give_name(handle, marker)
        except OSError:
            unlock(lock_handle)
            raise
    finally:
        os.close(handle)
    return lock_handle


def _read(marker: Path) -> Claim | None:
    """What a marker says; None unless it is ours. A work that has not the name we would give is none of ours."""
    try:
        record = json.loads(marker.read_text(encoding="utf-8")) if marker.is_file() else None
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not {"gramme", "process", "started", "work"} <= set(record):
        return None
    work = str(record["work"])
    if not re.fullmatch(rf"{re.escape(marker.stem)}\.[0-9a-f]{{8}}\.gramme", work):
        return None
    return Claim(record["process"], record["started"], marker.with_name(work))


def _is(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except OSError:
        return False


@contextmanager
def scratch_folder(purpose: str) -> Iterator[Path]:
    """A folder in the system's temporary place that is gone after the block."""
    scratch_path = Path(tempfile.gettempdir()) / f"gramme-{purpose}"
    for marker in scratch_path.parent.glob(f"{marker_of(scratch_path).stem}-*.gramme"):
        sweep(marker.with_name(marker.stem.removeprefix(".")))
    with taken(scratch_path.with_name(f"{scratch_path.name}-{secrets.token_hex(4)}")) as folder:
        folder.mkdir(mode=0o700)
        yield folder
