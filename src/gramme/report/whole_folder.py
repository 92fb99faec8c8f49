"""A folder of results that appears whole or not at all, whatever happens while it is written.

It is filled under a hidden name beside its place and moved there at the end. An earlier folder is exchanged for the new
one in a single step of the file system, so there is no moment at which neither stands there; where a system has no such
step, the old folder is put aside first, and found again by the next run should this one die in between. What a killed
run left behind is removed by the next one.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gramme.errors import DataError

try:
    import fcntl

    LOCKS = True
except ImportError:  # Windows, where a folder cannot be locked this way: leftovers then stay
    LOCKS = False

_EXCHANGE, _HERE = 2, -100  # RENAME_EXCHANGE and AT_FDCWD of Linux
_TRIES = 10


@contextlib.contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A folder to fill; when all went well it stands in the place of ``folder``, else nothing has changed."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        recover(folder)
        temporary, lock = _begin(folder)
    except OSError as error:
        raise cannot_write(folder, error) from error
    try:
        yield temporary
        temporary.chmod(0o777 & ~_mask())
        _put_in_place(temporary, folder)
    except OSError as error:
        shutil.rmtree(temporary, ignore_errors=True)
        raise cannot_write(folder, error) from error
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    finally:
        if lock is not None:
            os.close(lock)


def cannot_write(folder: Path, error: OSError) -> DataError:
    """The error for a place that cannot be written, in words one can act on."""
    reason = error.strerror or str(error)
    return DataError(
        f"{folder} cannot be written: {reason}. Nothing was left half done; choose another place with --out, or make "
        "room there"
    )


def check_writable(folder: Path) -> None:
    """Say at once, not after an hour of work, that a folder cannot be made."""
    above = folder.absolute()
    while not above.exists() and above != above.parent:
        above = above.parent
    if above != folder.absolute() and not above.is_dir():
        raise DataError(f"{folder} cannot be made: {above} is a file, not a folder")
    place = above if above != folder.absolute() else above.parent
    try:
        Path(tempfile.mkdtemp(dir=place, prefix=".gramme-")).rmdir()
    except OSError as error:
        raise cannot_write(folder, error) from error


def recover(folder: Path) -> None:
    """Bring back a folder that a killed run had put aside, and remove what killed runs left."""
    if not folder.exists():
        for aside in _leftovers(folder, "old"):
            aside.replace(folder)
            break
    for left in [*_leftovers(folder, "part"), *_leftovers(folder, "old")]:
        with contextlib.suppress(OSError):
            lock = _lock(left)
            shutil.rmtree(left, ignore_errors=True)
            if lock is not None:
                os.close(lock)


def _prefix(folder: Path, kind: str) -> str:
    return f".{folder.name[:100]}.{kind}-"


def _leftovers(folder: Path, kind: str) -> list[Path]:
    if not LOCKS and kind == "part":
        return []  # without locks a folder that is being written cannot be told from a leftover
    prefix = _prefix(folder, kind)
    return sorted(
        path for path in folder.parent.iterdir() if path.name.startswith(prefix) and path.is_dir()
    )


def _begin(folder: Path) -> tuple[Path, int | None]:
    """A new hidden folder that other runs know to be in use."""
    for _ in range(_TRIES):
        made = Path(tempfile.mkdtemp(dir=folder.parent, prefix=_prefix(folder, "part")))
        try:
            lock = _lock(made)
        except OSError:
            continue  # another run took it for a leftover before it was locked
        if made.exists():
            return made, lock
        if lock is not None:
            os.close(lock)
    raise OSError(f"no folder could be made in {folder.parent}")


def _lock(folder: Path) -> int | None:
    """Hold a folder as one's own until the process ends, or fail if another process holds it."""
    if not LOCKS:
        return None
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise
    return handle


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _put_in_place(temporary: Path, folder: Path) -> None:
    _to_disk(temporary)
    for tries_left in reversed(range(_TRIES)):
        # another run may make or replace the folder between a look and a step: then look again
        try:
            if not folder.exists():
                temporary.replace(folder)
            elif _exchanged(temporary, folder):
                shutil.rmtree(temporary, ignore_errors=True)
            else:
                _put_aside_and_replace(temporary, folder)
            return
        except OSError as error:
            taken = error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT)
            if not (taken and tries_left and temporary.exists()):
                raise


def _put_aside_and_replace(temporary: Path, folder: Path) -> None:
    aside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=_prefix(folder, "old")))
    folder.replace(aside)
    temporary.replace(folder)
    shutil.rmtree(aside, ignore_errors=True)


def _to_disk(folder: Path) -> None:
    """Wait until the files are on the disk: a full one must be noticed before the folder is moved."""
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; False where the system cannot."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    return bool(rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0)
