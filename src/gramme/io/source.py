"""Getting at the bytes and lines of a user's file: every way this can fail is one clear message."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from gramme._runtime import free_bytes
from gramme._text import setting
from gramme.errors import DataError, FileFormatError


# What is found out while a file is read, gathered for the report: anything in the reading may add a sentence.
@dataclass
class Notes:
    """Sentences about one reading; the doubts among them are guesses that a user should look at."""

    all: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    said: set[str] = field(default_factory=set, repr=False)
    """The same as in ``all``, to look them up: a file may have thousands of columns, with a sentence about each."""


_running: ContextVar[Notes | None] = ContextVar("notes of the running reading", default=None)


def tell(sentence: str, *, doubt: bool = False) -> None:
    """Add a sentence to the report of the running reading; said twice, it stands there once."""
    notes = _running.get()
    if notes is None or sentence in notes.said:
        return
    notes.said.add(sentence)
    notes.all.append(sentence)
    if doubt:
        notes.doubts.append(sentence)


@contextmanager
def gathered() -> Iterator[Notes]:
    """Gather what is told inside; within another gathering everything goes to that one."""
    outer = _running.get()
    notes = Notes() if outer is None else outer
    mark = _running.set(notes)
    try:
        yield notes
    finally:
        _running.reset(mark)


#: Nodes, layers and the like that a file may declare beyond what its own length could spell out.
MAX_DECLARED_BEYOND_FILE = 1_000_000
#: The encoding that means "find out".
AUTO = "auto"
OLDER_ENCODING = "cp1252"
_PACKED_STARTS = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"PK\x03\x04")  # gzip, bzip2, xz, zstd, zip


def checked_file(path: str | os.PathLike[str], what: str = "file") -> Path:
    """The path, if an ordinary file that can be read is there; else an error that says what is."""
    try:
        file_path = Path(path)
        kind = file_path.stat()
    except FileNotFoundError:
        raise DataError(f"there is no {what} {os.fspath(path)!r}") from None
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"the {what} {path!r} cannot be read: {_reason(error)}") from None
    if stat.S_ISDIR(kind.st_mode):
        raise DataError(f"{file_path} is a folder; name a {what} in it")
    if not stat.S_ISREG(kind.st_mode):
        raise DataError(f"{file_path} is not an ordinary file (a device or a pipe); save it to a file first")
    return file_path


def read_bytes(path: str | os.PathLike[str], what: str = "file") -> bytes:
    """The whole file; an empty one is an error."""
    file_path = checked_file(path, what)
    byte_size = file_path.stat().st_size
    # Bytes of a file above which it is asked whether there is memory for it, which takes longer than to read a
    # small one.
    free = free_bytes() if byte_size > (1 << 20) else None
    if free is not None and byte_size > free:
        raise DataError(
            f"the {what} {file_path} has {byte_size / 1e9:,.1f} GB, and {free / 1e9:,.1f} GB of memory are free; "
            "split it, or "
            "use a machine with more memory"
        )
    try:
        file_bytes = file_path.read_bytes()
    except OSError as error:
        raise DataError(f"the {what} {file_path} cannot be read: {_reason(error)}") from None
    if not file_bytes:
        raise FileFormatError("the file is empty", file=file_path)
    return file_bytes


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def decode(data: bytes, path: Path, encoding: str = AUTO) -> str:
    """The bytes as text; a byte order mark is skipped.

    With ``encoding="auto"`` a file is UTF-8, or UTF-16 where its byte order mark says so; bytes that are neither are
    read as Windows-1252, the usual encoding of older files, and the report says it.
    """
    if encoding == AUTO:
        return _detected(data, path)
    try:
        kind = codecs.lookup(encoding).name
        if kind == "utf-8" and data.startswith(codecs.BOM_UTF8):
            data = data[len(codecs.BOM_UTF8) :]
        file_text = data.decode(kind)
    except LookupError:
        raise DataError(f"there is no text encoding {encoding!r}; try 'utf-8' or 'latin-1'") from None
    except UnicodeError as error:
        older = f"; if it is an older text file, say {setting('encoding', 'latin-1')}"
        hint = older if "utf" in encoding else ""
        error_text = f"the bytes here are not {encoding} text{hint}"
        raise FileFormatError(error_text, file=path, line=_line(data, error)) from None
    if not isinstance(file_text, str):
        raise DataError(f"{encoding!r} is not a text encoding; try 'utf-8' or 'latin-1'")
    return file_text


def _detected(data: bytes, path: Path) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            file_text = data.decode("utf-16")
        except UnicodeError:
            raise FileFormatError("the bytes are not UTF-16 text", file=path) from None
        tell(f"{path.name}: read as UTF-16")
        return file_text
    order = _unmarked_utf16(data)
    if order is not None:
        tell(f"{path.name}: read as UTF-16 without a byte order mark", doubt=True)
        return data.decode(order)
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeError as error:
        line = _line(data, error)
    if data.startswith(_PACKED_STARTS):
        raise FileFormatError("the file is compressed; unpack it first", file=path)
    try:
        if b"\0" in data:
            raise UnicodeError
        file_text = data.decode(OLDER_ENCODING)
    except UnicodeError:
        error_text = (
            f"the bytes here are not text in UTF-8 or Windows-1252; name another encoding with {setting('encoding')}"
        )
        raise FileFormatError(error_text, file=path, line=line) from None
    tell(f"{path.name}: read as Windows-1252, since it is not UTF-8", doubt=True)
    return file_text


def _unmarked_utf16(data: bytes) -> str | None:
    """The order of bytes where every other byte at the start is zero, as in UTF-16 for most languages in use."""
    start = data[:2048]
    if b"\0" not in start or len(data) % 2:
        return None
    for order, zeros in (("utf-16-le", start[1::2]), ("utf-16-be", start[::2])):
        if zeros.count(0) > 0.8 * len(zeros) and start.count(0) == zeros.count(0):
            try:
                data.decode(order)
            except UnicodeError:
                return None
            return order
    return None


def _line(data: bytes, error: UnicodeError) -> int:
    place = error.start if isinstance(error, UnicodeDecodeError) else 0
    return data.count(b"\n", 0, place) + 1


def read_text(path: str | os.PathLike[str], encoding: str = AUTO, what: str = "file") -> str:
    """The whole file as text."""
    return decode(read_bytes(path, what), Path(path), encoding)


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    r"""Lines with their numbers from 1, without line ends; blank ones are left out.

    Only ``\n`` and ``\r\n`` end a line: other characters that Unicode counts as line ends may stand in names.
    """
    for line_number, line_text in enumerate(text.split("\n"), start=1):
        if line_text.endswith("\r"):
            line_text = line_text[:-1]
        if line_text.strip(" \t"):
            yield line_number, line_text


def beside(path: Path, *names: str) -> Path | None:
    """The first of the named files that stands in the same folder, if any."""
    for file_name in names:
        candidate = path.with_name(file_name)
        if candidate != path and candidate.is_file():
            return candidate
    return None


def check_declared(count: int, what: str, size: int, path: Path, line: int) -> None:
    """Refuse a declared number that would fill the memory though the file holds next to nothing."""
    largest = MAX_DECLARED_BEYOND_FILE + size
    if not 0 <= count <= largest:
        raise FileFormatError(
            f"{count} {what} are declared, but a file of {size} bytes may declare at most {largest}",
            file=path,
            line=line,
        )
