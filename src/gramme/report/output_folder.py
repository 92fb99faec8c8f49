"""A folder of results that appears whole or not at all, whatever happens while it is written.

Beside the place of the result, ``.NAME.gramme`` is made in one step. That takes the name: a second run into the same
place is refused. It holds

- ``run.json``, the marker: process id, start time and target. It is locked while the run lives. A folder without it is
  not ours, whatever its name, and is never touched.
- ``new``, which is filled and moved into place at the end. An earlier result is exchanged for it in a single step of
  the file system, so there is no moment at which neither stands there.
- ``old``, only where a system has no such step: the earlier result, put aside. Should the run die in between, the next
  one brings it back.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import json
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from gramme._locks import LOCKS, is_abandoned, lock, unlock
from gramme._wording import setting
from gramme.errors import DataError, GrammeWarning

MARKER = "run.json"
_MARKER_SECONDS = 2.0  # how long to wait for the marker of a run that is just starting
_RENAME_NOREPLACE, _RENAME_EXCHANGE, _AT_FDCWD = 1, 2, -100  # of Linux's renameat2


@dataclass(frozen=True)
class OutputFolder:
    """A reserved name for a result: fill ``folder``, which will be moved to ``target``."""

    target: Path
    folder: Path


@contextlib.contextmanager
def output_folder(target: Path, *, overwrite: bool = False) -> Iterator[OutputFolder]:
    """Reserve the name ``target`` now. If all goes well, the filled folder appears there; otherwise nothing changes.

    Parameters
    ----------
    target : Path
        A link is followed: what it points to is replaced.
    overwrite : bool, default=False
        Whether a result that stands there may be replaced.

    Raises
    ------
    DataError
        If the target exists and may not be replaced, or if another run is writing to it.
    """
    check_name(target)
    place = target.resolve()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        recover(place)
        if os.path.lexists(place) and not overwrite:
            raise exists_already(target)
        hidden, handle = _take(place)
    except OSError as error:
        raise cannot_write(target, error) from error
    try:
        fresh = hidden / "new"
        fresh.mkdir()
        yield OutputFolder(target, fresh)
        _to_disk(fresh)
        if not _put_in_place(fresh, place, hidden, overwrite=overwrite):
            raise exists_already(target)
    except OSError as error:
        raise cannot_write(target, error) from error
    finally:
        _clean(hidden, place)
        unlock(handle)


def check_name(target: Path) -> None:
    """Refuse a name that could not be written into the result itself, before any work is done."""
    try:
        str(target).encode("utf-8")
    except UnicodeEncodeError:
        raise DataError(f"the name {str(target)!r} is not UTF-8; choose another") from None


def exists_already(target: Path) -> DataError:
    """The error for a result that may not be replaced."""
    return DataError(
        f"{target} exists already; name another folder or say {setting('overwrite', True)}"
    )


def cannot_write(target: Path, error: OSError) -> DataError:
    """The error for a place that cannot be written, with what to do about it."""
    reason = error.strerror or str(error)
    return DataError(
        f"{target} cannot be written: {reason}. Nothing was left half done; choose another place with --out, or make "
        "room there"
    )


def check_writable(target: Path) -> None:
    """Fail at once, not after an hour of work, if a folder cannot be made."""
    check_name(target)
    above = target.absolute()
    while not above.exists() and above != above.parent:
        above = above.parent
    if above != target.absolute() and not above.is_dir():
        raise DataError(f"{target} cannot be made: {above} is a file, not a folder")
    place = above if above != target.absolute() else above.parent
    try:
        Path(tempfile.mkdtemp(dir=place, prefix=".gramme-")).rmdir()
    except OSError as error:
        raise cannot_write(target, error) from error


def recover(place: Path) -> None:
    """Clean up after a run into this place that was killed, bringing back a result it had put aside, and say so."""
    hidden = _hidden(place)
    marker = hidden / MARKER
    if not _is_ours(marker) or not is_abandoned(marker):
        return
    if _clean(hidden, place):
        what = "the result it had put aside was brought back"
    else:
        what = "what it left unfinished was removed"
    warnings.warn(
        f"an earlier run into {place} did not end properly; {what}", GrammeWarning, stacklevel=3
    )


def _clean(hidden: Path, place: Path) -> bool:
    """Remove the hidden folder; True if an earlier result had to be brought back from it."""
    aside = hidden / "old"
    lost = aside.is_dir() and not os.path.lexists(place)
    if lost:
        aside.replace(place)
    shutil.rmtree(hidden, ignore_errors=True)
    return lost


def _hidden(place: Path) -> Path:
    return place.with_name(f".{place.name[:100]}.gramme")


def _is_ours(marker: Path) -> bool:
    try:
        record = json.loads(marker.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(record, dict) and {"gramme", "process", "started"} <= set(record)


def _take(place: Path) -> tuple[Path, int | None]:
    """Make the hidden folder, which only one run can, and mark it as ours."""
    hidden = _hidden(place)
    try:
        hidden.mkdir()
    except FileExistsError:
        raise _taken(place, hidden) from None
    try:
        return hidden, _mark(hidden, place)
    except BaseException:
        shutil.rmtree(hidden, ignore_errors=True)
        raise


def _mark(hidden: Path, place: Path) -> int | None:
    """Put the marker into the hidden folder: it appears whole and locked, or not at all."""
    handle, name = tempfile.mkstemp(dir=hidden)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(
            {
                "gramme": "a result is being written here",
                "process": os.getpid(),
                "started": datetime.now().isoformat(timespec="seconds"),
                "target": str(place),
            },
            file,
        )
    held = lock(Path(name))
    Path(name).replace(hidden / MARKER)
    return held


def _taken(place: Path, hidden: Path) -> DataError:
    marker = hidden / MARKER
    deadline = time.monotonic() + _MARKER_SECONDS
    while not marker.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    if not _is_ours(marker):
        return DataError(
            f"{hidden} is in the way and not gramme's own; move it, or name another folder"
        )
    record = json.loads(marker.read_text(encoding="utf-8"))
    who = f"process {record['process']}, started {record['started']}"
    if LOCKS:
        return DataError(
            f"another run is writing to {place} ({who}); wait for it, or name another folder"
        )
    return DataError(
        f"another run is or was writing to {place} ({who}); if it has ended, delete {hidden}"
    )


def _put_in_place(fresh: Path, place: Path, hidden: Path, *, overwrite: bool) -> bool:
    """Give the new folder its name; False if somebody else has given it to something meanwhile."""
    if os.path.lexists(place) and overwrite:
        if not _rename(fresh, place, _RENAME_EXCHANGE):
            place.replace(hidden / "old")
            fresh.replace(place)
        return True
    try:
        if _rename(fresh, place, _RENAME_NOREPLACE):
            return True
    except FileExistsError:
        return False
    if os.path.lexists(place):
        return False
    fresh.rename(place)
    return True


def _rename(source: Path, target: Path, how: int) -> bool:
    """Linux's ``renameat2``; False where the system has no such call."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    if rename(_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target), how) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS):
        return False
    raise OSError(number, os.strerror(number), str(target))


def _to_disk(folder: Path) -> None:
    """Wait until the files are on the disk: a full one must be noticed before the folder is moved."""
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
