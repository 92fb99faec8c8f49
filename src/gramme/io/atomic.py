"""Writing several files so that either all of them appear whole or none is touched."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gramme._files import give_name, open_nameless, sweep, taken
from gramme._text import setting
from gramme.errors import DataError

#: The text of a file, its bytes, a function that writes it, or None for a file that must not stay.
Content = str | bytes | Callable[[BinaryIO], None] | None
_PATIENCE = 2.0  # seconds to wait for another writer that gives a file the same name


def write_files(files: Mapping[Path, Content], *, overwrite: bool = True) -> None:
    """Write all the files, each through a temporary one in its own folder, and put them in place at the end.

    A link is followed: what it points to is replaced. Where the system has files without a name, a process that is
    killed while it writes leaves nothing behind, or, killed while it replaces a file, what the next one to write there
    sweeps.
    """
    files = {followed(path): content for path, content in files.items()}
    if not overwrite:
        for path in files:
            if path.exists():
                raise DataError(f"{path} exists already; choose another name, or say {setting('overwrite', True)}")
    with contextlib.ExitStack() as parts:
        finished: list[_Part] = []
        for path, content in files.items():
            if path.is_dir():
                raise DataError(f"{path} is a folder; name a file in it")
            if path.exists() and not path.is_file():
                raise DataError(f"{path} is not an ordinary file (a device or a pipe); name another")
            if content is not None:
                part = parts.enter_context(_part_of(path))
                if callable(content):
                    content(part.file)
                else:
                    part.file.write(_encoded(content, path) if isinstance(content, str) else content)
                part.file.flush()
                finished.append(part)
        for part in finished:
            part.put_in_place()
        for path, content in files.items():
            if content is None:
                path.unlink(missing_ok=True)


@dataclass
class _Part:
    """A file that is being written, before it has its name; where the system can, it has none at all."""

    path: Path
    file: BinaryIO
    name: Path | None

    def put_in_place(self) -> None:
        """Give it its name, or exchange the file of that name for it, at one stroke."""
        if self.name is not None:
            self.name.replace(self.path)
            self.name = None
            return
        sweep(self.path)
        with contextlib.suppress(FileExistsError):
            give_name(self.file.fileno(), self.path)
            return
        with _name_beside(self.path) as free_path:
            give_name(self.file.fileno(), free_path)
            free_path.replace(self.path)


@contextlib.contextmanager
def _name_beside(path: Path) -> Iterator[Path]:
    """A free name for a moment, known to the next run should this one be killed at it."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        with contextlib.ExitStack() as stack:
            try:
                free_path = stack.enter_context(taken(path))
            except FileExistsError:  # another writer is at the same moment, or something is in the way
                time.sleep(0.01)
                continue
            yield free_path
            return
    yield path.with_name(f".{path.name[:50]}.{secrets.token_hex(4)}.part")


def followed(path: Path) -> Path:
    """Where a path leads; an error for links that lead in a circle."""
    try:
        end = path.resolve()
    except (OSError, RuntimeError):
        raise DataError(f"{path} is a link that leads in a circle") from None
    return end if path.is_symlink() else path


@contextlib.contextmanager
def _part_of(path: Path) -> Iterator[_Part]:
    handle, part_path = open_nameless(path.parent), None
    if handle is None:
        handle, part_path = _named(path)
    part = None
    try:
        with os.fdopen(handle, "w+b") as file:
            part = _Part(path, file, part_path)
            yield part
    except OSError as error:  # such as a full disk, also at the last bytes, when the file is closed
        if error.errno is not None:
            error.filename = error.filename or str(path)
        raise
    finally:
        if part is not None and part.name is not None:
            with contextlib.suppress(OSError):
                part.name.unlink()


def _named(path: Path) -> tuple[int, Path]:
    try:
        handle, made = tempfile.mkstemp(prefix=f".{path.name[:50]}.", suffix=".part", dir=path.parent)
    except FileNotFoundError:
        raise DataError(f"there is no folder {path.parent} to write {path.name} into") from None
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}") from None
    except ValueError as error:
        raise DataError(f"{str(path)!r} cannot be written: {error}") from None
    part_path = Path(made)
    # mkstemp makes files private; a result is as readable as any new file of the user's.
    mask = os.umask(0)
    os.umask(mask)
    with contextlib.suppress(OSError):
        part_path.chmod(0o666 & ~mask)
    return handle, part_path


def _encoded(text: str, path: Path) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        broken = text[max(0, error.start - 20) : error.end + 20]
        raise DataError(
            f"{path}: {broken!r} is not valid Unicode text and cannot be written; the format 'npz' can hold it"
        ) from None
