"""Where a dataset's files are: the user's data folder, then the cache, then the public address."""

from __future__ import annotations

import atexit
import hashlib
import http.client
import os
import shutil
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO, Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from gramme._progress import advance
from gramme.errors import DataError, GrammeWarning
from gramme.io.atomic import write_files

from .record import DataFile

# Download one file: checked by its sha256, written whole or not at all.
TIMEOUT_SECONDS = 30.0
"""Seconds to wait for the server to connect or to send more, and over which its speed is judged."""
MIN_BYTES_PER_SECOND = 1000.0
"""Bytes per second below which a download is given up."""
MAX_REASON_CHARACTERS = 200
"""Characters of a server's reason that are shown."""
PATIENCE_SECONDS = 1.0
"""Seconds of download before a progress bar is worth its place on the screen."""


def fetch(address: str, target: Path, *, sha256: str, size: int) -> None:
    """Download ``address`` to ``target``, which appears whole, with the right checksum, or not at all.

    A server that sends less than ``MIN_BYTES_PER_SECOND`` is given up.
    """
    if not address.startswith(("http://", "https://")):
        raise DataError(f"{address} is not a web address: it must begin with http:// or https://")

    def fill(stream: IO[bytes]) -> None:
        found_sha256 = _receive(address, stream, size)
        if found_sha256 != sha256:
            raise _unexpected(address, f"its sha256 is {found_sha256[:12]}..., not {sha256[:12]}...")

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_files({target: fill})
    except OSError as error:
        raise DataError(
            f"nothing can be written to {target.parent} ({error.strerror}): set GRAMME_CACHE to a folder that can"
        ) from error


def _unexpected(address: str, why: str) -> DataError:
    return DataError(f"{address} is not the file that is expected: {why}")


def _in_short(reason: object) -> str:
    """What went wrong, on one line: a server may have written any number of words."""
    text = " ".join(str(reason).split())
    return text if len(text) <= MAX_REASON_CHARACTERS else f"{text[:MAX_REASON_CHARACTERS]} ..."


def _receive(address: str, stream: IO[bytes], size: int) -> str:
    """Write what the server sends, and return its sha256.

    A thread does the reading, since a server that sends its header byte by byte never runs into a socket's timeout.
    """
    download = _Download(address, stream, size)
    download.start()
    try:
        with _progress(address) as show:
            began, before = time.monotonic(), 0
            while download.is_alive():
                download.join(0.05)
                show(download.received, size)
                if time.monotonic() - began >= TIMEOUT_SECONDS and download.is_alive():
                    if download.received - before < MIN_BYTES_PER_SECOND * TIMEOUT_SECONDS:
                        raise DataError(
                            f"{address} could not be downloaded: timed out, with {download.received:,} of "
                            f"{size:,} bytes received"
                        )
                    began, before = time.monotonic(), download.received
    finally:
        download.given_up = True
    if download.problem is not None:
        raise download.problem
    return download.digest.hexdigest()


class _Download(threading.Thread):
    """Reads from the server and writes to the stream, never more than the size that is known."""

    def __init__(self, address: str, stream: IO[bytes], size: int) -> None:
        super().__init__(daemon=True)
        self.address, self.stream, self.size = address, stream, size
        self.digest = hashlib.sha256()
        self.received = 0
        self.given_up = False
        self.problem: DataError | None = None

    def run(self) -> None:
        try:
            self._run()
        except DataError as error:
            self.problem = error
        except urllib.error.HTTPError as error:
            self.problem = DataError(f"{self.address}: the server answered {error.code} {_in_short(error.reason)}")
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            self.problem = DataError(f"{self.address} could not be downloaded: {_in_short(reason)}")

    def _run(self) -> None:
        request = urllib.request.Request(self.address, headers={"User-Agent": "gramme"})
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as reply:
            announced = int(reply.headers.get("Content-Length") or self.size)
            if announced != self.size:
                raise _unexpected(self.address, f"it has {announced:,} bytes, {self.size:,} are known")
            while (chunk := reply.read1(1 << 16)) and not self.given_up:
                self.received += len(chunk)
                if self.received > self.size:
                    raise _unexpected(self.address, f"it has more than {self.size:,} bytes")
                self.digest.update(chunk)
                self.stream.write(chunk)
        if self.received < self.size:
            raise DataError(
                f"{self.address}: the connection was cut after {self.received} of {self.size} bytes; try again"
            )


class _Show(Protocol):
    def __call__(self, received: int, total: int) -> None: ...


@contextmanager
def _progress(address: str) -> Iterator[_Show]:
    """A progress bar on standard error, shown only once the download has taken a while."""
    table_columns: list[Any] = [TextColumn("{task.description}"), BarColumn()]
    table_columns += [DownloadColumn(), TransferSpeedColumn()]
    bar = Progress(*table_columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(address.rpartition("/")[2], total=None)
    begun = time.monotonic()

    def show(received: int, total: int) -> None:
        advance(received / max(total, 1))
        bar.update(task, completed=received, total=total)
        if bar.console.is_terminal and not bar.live.is_started and time.monotonic() - begun > PATIENCE_SECONDS:
            bar.start()

    try:
        yield show
    finally:
        if bar.live.is_started:
            bar.stop()


def data_folder() -> Path | None:
    """The folder ``$GRAMME_DATA`` names, or None."""
    value = os.environ.get("GRAMME_DATA")
    return Path(value).expanduser() if value else None


def cache_folder() -> Path:
    """Where downloads are kept: ``$GRAMME_CACHE``, or ``gramme`` in the platform's cache folder."""
    value = os.environ.get("GRAMME_CACHE")
    if value:
        return Path(value).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base).expanduser() / "gramme"
    try:
        home = Path.home()
    except RuntimeError:  # in a container: no HOME, and a user that nobody knows
        return _folder_of_this_process()
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "gramme"
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"]) / "gramme" / "Cache"
    return home / ".cache" / "gramme"


@cache
def _folder_of_this_process() -> Path:
    """A folder that ends with the process, where there is no home to keep a cache in."""
    folder = Path(tempfile.mkdtemp(prefix="gramme-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    warnings.warn(
        "there is no home folder, so nothing is cached from one run to the next; set GRAMME_CACHE to a folder to "
        "keep downloads and embeddings",
        GrammeWarning,
        stacklevel=3,
    )
    return folder


def address_of(file: DataFile) -> str | None:
    """Where to download a file: its public address, or its place below ``$GRAMME_MIRROR``.

    A mirror is any web server that has the files as ``folder/name``, for machines that cannot reach the public ones.
    """
    mirror = os.environ.get("GRAMME_MIRROR")
    return f"{mirror.rstrip('/')}/{file.folder}/{file.name}" if mirror else file.address


def checksum(path: Path) -> str:
    """The sha256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def local_path(file: DataFile) -> Path | None:
    """Where the file is on this machine, or None; a damaged file in the cache counts as not there."""
    folder = data_folder()
    if folder is not None:
        given = folder / file.folder / file.name
        if given.is_file():
            if checksum(given) != file.sha256:
                if file.exact and os.environ.get("GRAMME_ANY_CHECKSUM") != "1":
                    raise DataError(
                        f"{given} is not the file this dataset was described with (its sha256 is not "
                        f"{file.sha256[:12]}...), and a pickle of unknown origin is not read; put the original "
                        "there, or set GRAMME_ANY_CHECKSUM=1 if you made the file yourself"
                    )
                warnings.warn(
                    f"{given} is not the file this dataset was described with (its sha256 is "
                    f"not {file.sha256[:12]}...); it is used as it is",
                    GrammeWarning,
                    stacklevel=2,
                )
            return given
    cached = cache_folder() / file.folder / file.name
    return cached if cached.is_file() and checksum(cached) == file.sha256 else None


def provide(file: DataFile) -> Path:
    """The path of a file, downloaded if need be."""
    found_path = local_path(file)
    if found_path is not None:
        return found_path
    address = address_of(file)
    if address is None:
        raise DataError(
            f"{file.folder}/{file.name} cannot be downloaded: nobody serves it in this form. " + looked_in(file)
        )
    target = cache_folder() / file.folder / file.name
    try:
        fetch(address, target, sha256=file.sha256, size=file.size)
    except DataError as error:
        raise DataError(f"{error}. {looked_in(file)}") from error
    return target


def whereabouts(files: Sequence[DataFile]) -> str:
    """Where files are now: the folder that holds them all, or what must happen to get them."""
    paths = [local_path(file) for file in files]
    found_paths = [path for path in paths if path is not None]
    if len(found_paths) == len(files):
        folders = dict.fromkeys(str(path.parent) for path in found_paths)
        return ", ".join(folders)
    missing_name = [file for file, path in zip(files, paths, strict=True) if path is None]
    if any(address_of(file) is None for file in missing_name):
        return "missing, not downloadable"
    return "to download"


def looked_in(file: DataFile) -> str:
    """Where a file was looked for, and what the user can do."""
    folder = data_folder()
    cache = cache_folder() / file.folder
    where = f"It is not in {cache}"
    if folder is not None:
        where = f"It is neither in {folder / file.folder} (GRAMME_DATA) nor in {cache}"
    return f"{where}. With a copy of the file, put it at FOLDER/{file.folder}/{file.name} and set GRAMME_DATA=FOLDER"
