"""Where a dataset's files are: the user's data folder, then the cache, then the public address."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from gramme.datasets.fetch import fetch
from gramme.datasets.record import DataFile
from gramme.errors import DataError, GrammeWarning


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
    found = local_path(file)
    if found is not None:
        return found
    address = address_of(file)
    if address is None:
        raise DataError(
            f"{file.folder}/{file.name} cannot be downloaded: nobody serves it in this form. "
            + looked_in(file)
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
    found = [path for path in paths if path is not None]
    if len(found) == len(files):
        folders = dict.fromkeys(str(path.parent) for path in found)
        return ", ".join(folders)
    missing = [file for file, path in zip(files, paths, strict=True) if path is None]
    if any(address_of(file) is None for file in missing):
        return "missing, not downloadable"
    return "to download"


def looked_in(file: DataFile) -> str:
    """Where a file was looked for, and what the user can do."""
    folder = data_folder()
    cache = cache_folder() / file.folder
    where = f"It is not in {cache}"
    if folder is not None:
        where = f"It is neither in {folder / file.folder} (GRAMME_DATA) nor in {cache}"
    return (
        f"{where}. With a copy of the file, put it at FOLDER/{file.folder}/{file.name} and set "
        "GRAMME_DATA=FOLDER"
    )
