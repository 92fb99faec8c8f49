"""A folder of results that appears whole or not at all, whatever happens while it is written.

The place of the result is taken first (``_files.py``): a second run into it is refused, and what a killed run left
is known by its marker, never by name. The folder that belongs to the marker holds

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
import re
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gramme._files import LOCKS, holder, marker_of, open_nameless, remove, sweep, taken
from gramme._text import setting
from gramme.errors import DataError, GrammeWarning
from gramme.io.atomic import followed

# Which folder may be replaced: one that holds a result of gramme's and nothing else, known by
# name and by content.


RESULT_FILES = re.compile(
    r"config\.json|model\.safetensors|report\.html"
    r"|(predictions|embedding|layers|history|links|ingredients|ranks|seeds|ask|groups)\.csv|embedding\.parquet"
    r"|predictions"  # a folder, of a fit in parts
)
PREDICTIONS_IN_PARTS = re.compile(r"part-\d+\.csv")
GRAPH_PARTS = re.compile(r"manifest\.json|part-\d+\.npz")
OF_THE_SYSTEM = {".DS_Store", "Thumbs.db", "desktop.ini"}  # made by looking into a folder
MAX_SETTINGS_BYTES = 1 << 28


def check_earlier_result(folder: Path) -> None:
    """Refuse to replace a folder with anything in it that ``gramme fit``, ``links`` or ``rank`` did not write.

    An empty folder may be replaced.
    """
    if not _holds_anything(folder):
        return
    settings_record = _json_object(folder / "config.json")
    if not {"versions", "command"} & settings_record.keys():
        raise DataError(f"{folder} holds something else than a gramme fit; name another folder")
    _check_names(folder, RESULT_FILES)
    if (folder / "predictions").is_dir():
        _check_names(folder / "predictions", PREDICTIONS_IN_PARTS)


def check_earlier_parts(folder: Path, format_name: str) -> None:
    """Refuse to replace a folder with anything in it that ``gramme convert --parts`` did not write."""
    if not _holds_anything(folder):
        return
    if _json_object(folder / "manifest.json").get("format") != format_name:
        raise DataError(f"{folder} holds something else than a graph in parts; name another folder")
    _check_names(folder, GRAPH_PARTS)


def _holds_anything(folder: Path) -> bool:
    return any(path.name not in OF_THE_SYSTEM for path in folder.iterdir())


def _check_names(folder: Path, ours: re.Pattern[str]) -> None:
    for path in sorted(folder.iterdir()):
        made_by_gramme = ours.fullmatch(path.name) and not path.is_symlink()
        is_file = path.is_file() or path.name == "predictions"
        if not (made_by_gramme and is_file) and path.name not in OF_THE_SYSTEM:
            raise DataError(
                f"{folder} also holds {path.name!r}, which gramme did not write and would be lost; move it away, "
                "or name another folder"
            )


def _json_object(path: Path) -> dict[str, object]:
    """What a file of settings holds; nothing if it is no such file."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_SETTINGS_BYTES:
            return {}
        json_value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return json_value if isinstance(json_value, dict) else {}


_RENAME_NOREPLACE, _RENAME_EXCHANGE, _AT_FDCWD = 1, 2, -100  # of Linux's renameat2


@dataclass(frozen=True)
class OutputFolder:
    """A reserved name for a result: fill ``folder``, which will be moved to ``target``."""

    target: Path
    folder: Path


@contextlib.contextmanager
def output_folder(target: Path, *, overwrite: bool = False) -> Iterator[OutputFolder]:
    """Reserve the name ``target`` now. If all goes well, the filled folder appears there; otherwise nothing changes.

    A link is followed: what it points to is replaced. A target that exists and may not be replaced, or that another run
    is writing to, is an error.
    """
    check_name(target)
    target_place = followed(target).resolve()
    with contextlib.ExitStack() as exit_stack:
        try:
            target_place.parent.mkdir(parents=True, exist_ok=True)
            recover(target_place)
            if os.path.lexists(target_place) and not overwrite:
                raise exists_already(target)
            hidden_folder = _take(target_place, exit_stack)
            new_folder = hidden_folder / "new"
            new_folder.mkdir(parents=True)
            yield OutputFolder(target, new_folder)
            _to_disk(new_folder)
            if not _put_in_place(new_folder, target_place, hidden_folder, overwrite=overwrite):
                raise exists_already(target)
        except OSError as error:
            raise cannot_write(target, error) from error


def check_name(target: Path) -> None:
    """Refuse a name that could not be written into the result itself, before any work is done."""
    try:
        str(target).encode("utf-8")
    except UnicodeEncodeError:
        raise DataError(f"the name {str(target)!r} is not UTF-8; choose another") from None


def exists_already(target: Path) -> DataError:
    """The error for a result that may not be replaced."""
    return DataError(f"{target} exists already; name another folder or say {setting('overwrite', True)}")


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
    existing_folder = followed(target).absolute()
    while not existing_folder.exists() and existing_folder != existing_folder.parent:
        existing_folder = existing_folder.parent
    if existing_folder != target.absolute() and not existing_folder.is_dir():
        raise DataError(f"{target} cannot be made: {existing_folder} is a file, not a folder")
    parent_folder = existing_folder if existing_folder != target.absolute() else existing_folder.parent
    file_handle = open_nameless(parent_folder)
    try:
        if file_handle is None:
            file_handle, file_name = tempfile.mkstemp(dir=parent_folder, prefix=".gramme-")
            Path(file_name).unlink()
    except OSError as error:
        raise cannot_write(target, error) from error
    os.close(file_handle)


def recover(place: Path) -> None:
    """Clean up after a run into this place that was killed, bringing back a result it had put aside, and say so."""
    brought_back = []
    if not sweep(place, lambda hidden: brought_back.append(_clean(hidden, place))):
        return
    if any(brought_back):
        what_was_done = "the result it had put aside was brought back"
    else:
        what_was_done = "what it left unfinished was removed"
    warnings.warn(f"an earlier run into {place} did not end properly; {what_was_done}", GrammeWarning, stacklevel=3)


def _clean(hidden: Path, place: Path) -> bool:
    """Remove the hidden folder; True if an earlier result had to be brought back from it."""
    old_result = hidden / "old"
    result_is_lost = old_result.is_dir() and not os.path.lexists(place)
    if result_is_lost:
        old_result.replace(place)
    remove(hidden)
    return result_is_lost


def _take(place: Path, stack: contextlib.ExitStack) -> Path:
    """Take the place, which only one run can, until the stack ends; returns the folder for its work."""
    try:
        hidden_folder = stack.enter_context(taken(place))
    except FileExistsError:
        raise _taken(place) from None
    stack.callback(_clean, hidden_folder, place)
    return hidden_folder


def _taken(place: Path) -> DataError:
    marker_path, other_run = marker_of(place), holder(place)
    if other_run is None:
        return DataError(f"{marker_path} is in the way and not gramme's own; move it, or name another folder")
    other_process = f"process {other_run.process}, started {other_run.started}"
    if LOCKS:
        return DataError(f"another run is writing to {place} ({other_process}); wait for it, or name another folder")
    return DataError(
        f"another run is or was writing to {place} ({other_process}); if it has ended, delete {marker_path}"
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
        rename_call = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    if rename_call(_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target), how) == 0:
        return True
    error_number = ctypes.get_errno()
    if error_number in (errno.EINVAL, errno.ENOSYS):
        return False
    raise OSError(error_number, os.strerror(error_number), str(target))


def _to_disk(folder: Path) -> None:
    """Wait until the files are on the disk: a full one must be noticed before the folder is moved."""
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
