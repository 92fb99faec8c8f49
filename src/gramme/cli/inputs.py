"""A command never writes over what it reads, whatever --overwrite says."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gramme.cli.options import Reading
from gramme.errors import DataError


def check_not_read(
    target: Path, sources: Iterable[str | Path], read: Reading | None = None
) -> None:
    """Refuse a target that is one of the files a command reads, or a folder that holds one.

    Parameters
    ----------
    target : Path
    sources : iterable of str or Path
        Files; other words (names of datasets, addresses) are passed over.
    read : Reading, optional
        What else is read: the file of labels, those of relations.
    """
    every = [Path(source) for source in sources]
    if read is not None:
        every += [] if read.labels is None else [read.labels]
        every += map(Path, read.relation_files().values()) if read.relation else []
    for source in every:
        if _is_in(source, target):
            raise DataError(
                f"{target} is or holds {str(source)!r}, which this command reads and which would be lost; "
                "name another place"
            )


def _is_in(source: Path, target: Path) -> bool:
    """Whether a file that is read is the target, or lies in it."""
    try:
        place, path = target.resolve(), source.resolve()
        return path.is_file() and (place == path or place in path.parents)
    except (OSError, ValueError, RuntimeError):
        return False  # a name that no file can have is for others to refuse
