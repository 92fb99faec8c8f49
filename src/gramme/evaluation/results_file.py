"""A sqlite file of results: what the two ledgers share, from the checks of its path to its closing."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from gramme.errors import DataError
from gramme.io.names import proper_text


class ResultsFile:
    """A file of results that is closed at the end of a ``with`` block; a subclass opens ``_connection``.

    Parameters
    ----------
    path : path-like
    create : bool, default=True
        With False, the file must be there.
    """

    _connection: sqlite3.Connection

    def __init__(self, path: Any, *, create: bool = True) -> None:
        self.path = Path(path)
        if self.path.is_dir():
            raise DataError(f"{self.path} is a folder; a file of results is needed")
        if not create and not self.path.is_file():
            raise DataError(f"{self.path}: there is no such file; gramme benchmark writes it")
        if create and not self.path.absolute().parent.is_dir():
            raise DataError(f"there is no folder {self.path.parent} to write {self.path.name} into")

    @contextlib.contextmanager
    def _errors_in_words(self) -> Iterator[None]:
        """Turn sqlite's errors into messages that say what is wrong with the file and what is safe."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "full" not in str(error) and "I/O" not in str(error):
                raise DataError(f"{self.path} cannot be used: {error}") from error
            raise DataError(
                f"{self.path} cannot be written: {error}. What was recorded before is safe; make room and give the "
                "same command again, and it goes on from there"
            ) from error
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            # sqlite quotes what it cannot read of a damaged file, and Python then cannot read the quotation
            why = "it is damaged" if isinstance(error, UnicodeDecodeError) else error
            raise DataError(
                f"{self.path} cannot be used as a file of results of gramme benchmark ({why})"
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def storable(values: Iterable[Any]) -> list[Any]:
    """Values of a row as sqlite can hold them: names that are not valid Unicode are written with escapes."""
    return [proper_text(value) if isinstance(value, str) else value for value in values]


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction that waits for the write lock first, so it cannot fail halfway for lack of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
