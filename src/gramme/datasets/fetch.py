"""Download one file: checked by its sha256, written whole or not at all."""

from __future__ import annotations

import hashlib
import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol
from uuid import uuid4

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from gramme.errors import DataError

TIMEOUT = 30.0
"""Seconds to wait for the server to connect or to send more."""
CHUNK = 1 << 16
PATIENCE = 1.0
"""Seconds of download before a progress bar is worth its place on the screen."""


def fetch(address: str, target: Path, *, sha256: str, size: int) -> None:
    """Download ``address`` to ``target``.

    The bytes go to a temporary file beside the target, which takes the target's place only when it is complete and
    its checksum is right. Whatever happens on the way, an interrupt included, the temporary file is removed.
    """
    if not address.startswith(("http://", "https://")):
        raise DataError(f"{address} is no web address: it must begin with http:// or https://")
    part = target.with_name(f".{target.name}.{uuid4().hex[:8]}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        stream = part.open("xb")
    except OSError as error:
        raise DataError(
            f"nothing can be written to {target.parent} ({error.strerror}): set GRAMME_CACHE to "
            "a folder that can"
        ) from error
    try:
        with stream:
            found = _receive(address, stream, size)
        if found != sha256:
            raise DataError(
                f"{address} is not the file that is expected: its sha256 is {found[:12]}..., "
                f"not {sha256[:12]}..."
            )
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _receive(address: str, stream: IO[bytes], size: int) -> str:
    """Write what the server sends, and return its sha256."""
    digest, received = hashlib.sha256(), 0
    request = urllib.request.Request(address, headers={"User-Agent": "gramme"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as reply, _progress(address) as show:
            announced = int(reply.headers.get("Content-Length") or size)
            while chunk := reply.read(CHUNK):
                received += len(chunk)
                if received > max(size, announced):
                    break  # a wrong file, however long it may be; the checksum says so
                digest.update(chunk)
                stream.write(chunk)
                show(received, announced)
    except urllib.error.HTTPError as error:
        raise DataError(f"{address}: the server answered {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise DataError(f"{address} could not be downloaded: {reason}") from error
    if received < announced:
        raise DataError(
            f"{address}: the connection was cut after {received} of {announced} bytes; try again"
        )
    return digest.hexdigest()


class _Show(Protocol):
    def __call__(self, received: int, total: int) -> None: ...


@contextmanager
def _progress(address: str) -> Iterator[_Show]:
    """A progress bar on standard error, shown only once the download has taken a while."""
    columns: list[Any] = [TextColumn("{task.description}"), BarColumn()]
    columns += [DownloadColumn(), TransferSpeedColumn()]
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(address.rpartition("/")[2], total=None)
    begun = time.monotonic()

    def show(received: int, total: int) -> None:
        bar.update(task, completed=received, total=total)
        if not bar.live.is_started and time.monotonic() - begun > PATIENCE:
            bar.start()

    try:
        yield show
    finally:
        if bar.live.is_started:
            bar.stop()
