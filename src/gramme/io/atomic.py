"""Writing several files so that either all of them appear whole or none is touched."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gramme._wording import setting
from gramme.errors import DataError

#: The text of a file, its bytes, a function that writes it, or None for a file that must not stay.
Content = str | bytes | Callable[[BinaryIO], None] | None


def write_files(files: Mapping[Path, Content], *, overwrite: bool = True) -> None:
    """Write all the files, each through a temporary one in its own folder, and put them in place at the end.

    Where the system has files without a name, a process that is killed while it writes leaves nothing behind.
    """
    if not overwrite:
        for path in files:
            if path.exists():
                raise DataError(
                    f"{path} exists already; choose another name, or say {setting('overwrite', True)}"
                )
    with contextlib.ExitStack() as parts:
        finished: list[_Part] = []
        for path, content in files.items():
            if path.is_dir():
                raise DataError(f"{path} is a folder; name a file in it")
            if content is not None:
                part = parts.enter_context(_part_of(path))
                _fill(part.file, content, path)
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
        if self.name is None:
            with contextlib.suppress(FileExistsError):
                self._link(self.path)
                return
            name = self.path.with_name(f".{self.path.name[:50]}.{secrets.token_hex(4)}.part")
            self._link(name)
            self.name = name
        self.name.replace(self.path)
        self.name = None

    def _link(self, name: Path) -> None:
        number = self.file.fileno()
        # only with a folder named does Python follow the link that stands for the open file
        os.link(f"/proc/self/fd/{number}", name, src_dir_fd=number, follow_symlinks=True)


@contextlib.contextmanager
def _part_of(path: Path) -> Iterator[_Part]:
    handle, name = _nameless(path), None
    if handle is None:
        handle, name = _named(path)
    with os.fdopen(handle, "w+b") as file:
        part = _Part(path, file, name)
        try:
            yield part
        finally:
            if part.name is not None:
                with contextlib.suppress(OSError):
                    part.name.unlink()


def _nameless(path: Path) -> int | None:
    """An open file without a name, in the folder of another: if the process ends, nothing of it is left behind."""
    if not hasattr(os, "O_TMPFILE") or not Path("/proc/self/fd").is_dir():
        return None
    try:
        return os.open(path.parent, os.O_TMPFILE | os.O_RDWR, 0o666)
    except (
        OSError,
        ValueError,
    ):  # some file systems have no such files; else the reason is found below
        return None


def _named(path: Path) -> tuple[int, Path]:
    try:
        handle, made = tempfile.mkstemp(
            prefix=f".{path.name[:50]}.", suffix=".part", dir=path.parent
        )
    except FileNotFoundError:
        raise DataError(f"there is no folder {path.parent} to write {path.name} into") from None
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}") from None
    except ValueError as error:
        raise DataError(f"{str(path)!r} cannot be written: {error}") from None
    name = Path(made)
    # mkstemp makes files private; a result is as readable as any new file of the user's.
    mask = os.umask(0)
    os.umask(mask)
    with contextlib.suppress(OSError):
        name.chmod(0o666 & ~mask)
    return handle, name


def _fill(file: BinaryIO, content: Content, path: Path) -> None:
    if callable(content):
        content(file)
    elif isinstance(content, str):
        try:
            file.write(content.encode("utf-8"))
        except UnicodeEncodeError as error:
            broken = content[max(0, error.start - 20) : error.end + 20]
            raise DataError(
                f"{path}: {broken!r} is not valid Unicode text and cannot be written; "
                "the format 'npz' can hold it"
            ) from None
    elif content is not None:
        file.write(content)
