"""Writing several files so that either all of them stand there whole or none was touched."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from gramme._wording import setting
from gramme.errors import DataError

#: The text of a file, its bytes, a function that writes it, or None for a file that must not stay.
Content = str | bytes | Callable[[BinaryIO], None] | None


def write_files(files: Mapping[Path, Content], *, overwrite: bool = True) -> None:
    """Write all the files, each through a temporary one in its own folder, and put them in place at the end."""
    if not overwrite:
        for path in files:
            if path.exists():
                raise DataError(
                    f"{path} exists already; choose another name, or say {setting('overwrite', True)}"
                )
    finished: list[tuple[Path, Path]] = []
    try:
        for path, content in files.items():
            if path.is_dir():
                raise DataError(f"{path} is a folder; name a file in it")
            if content is not None:
                with _temporary(path) as (name, file):
                    finished.append((name, path))
                    _fill(file, content, path)
        for name, path in finished:
            name.replace(path)
        finished.clear()
        for path, content in files.items():
            if content is None:
                path.unlink(missing_ok=True)
    finally:
        for name, _ in finished:
            with contextlib.suppress(OSError):
                name.unlink()


@contextlib.contextmanager
def _temporary(path: Path) -> Iterator[tuple[Path, BinaryIO]]:
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
    with os.fdopen(handle, "wb") as file:
        # mkstemp makes files private; a result is as readable as any new file of the user's.
        mask = os.umask(0)
        os.umask(mask)
        with contextlib.suppress(OSError):
            name.chmod(0o666 & ~mask)
        yield name, file


def _fill(file: BinaryIO, content: Content, path: Path) -> None:
    if callable(content):
        content(file)
    elif isinstance(content, str):
        try:
            file.write(content.encode("utf-8"))
        except UnicodeEncodeError as error:
            broken = content[max(0, error.start - 20) : error.end + 20]
            raise DataError(
                f"{path}: {broken!r} is no proper Unicode text and cannot be written; "
                "the format 'npz' can hold it"
            ) from None
    elif content is not None:
        file.write(content)
