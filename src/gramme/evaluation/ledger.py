"""The ledger: one sqlite file with a row per run, which survives being killed and several writers at once."""

from __future__ import annotations

import contextlib
import math
import platform
import sqlite3
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from json import dumps
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pandas as pd

from gramme._version import __version__
from gramme.errors import DataError, GrammeWarning
from gramme.io.values import proper_text

from .run import RunResult, RunSpec

# A sqlite file of results: what the two ledgers share, from the checks of its path to its
# closing.


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


# Whether a row of a ledger holds what it should: any program can write into an sqlite file.


MAX_NAMED = 3
"""Rows left out that are named one by one; of the others only the number is said."""


def sound_rows(
    rows: Iterable[tuple[Any, ...]], columns: Mapping[str, str], path: Path
) -> list[tuple[Any, ...]]:
    """The rows whose values are of their columns' kinds; others are left out with a warning that names them.

    Parameters
    ----------
    rows : iterable of tuple
        The row's id, then a value for each column.
    columns : mapping of str to str
        What sqlite was told about each column: ``"REAL"``, ``"TEXT NOT NULL"`` and so on.
    path : Path
        The file, for the warning.
    """
    sound, problems = [], []
    for number, *values in rows:
        problem = _problem(dict(zip(columns, values, strict=True)), columns)
        if problem is None:
            sound.append(tuple(values))
        else:
            problems.append(f"row {number} ({problem})")
    if problems:
        more = len(problems) - MAX_NAMED
        named = ", ".join(problems[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
        warnings.warn(
            f"{path}: left out, as not written by gramme: {named}", GrammeWarning, stacklevel=3
        )
    return sound


def _problem(row: Mapping[str, Any], columns: Mapping[str, str]) -> str | None:
    for name, value in row.items():
        kind = columns[name].split()[0]
        if value is None:
            if "NOT NULL" in columns[name]:
                return f"no {name}"
            if row["status"] == "done" and name in ("accuracy", "macro_f1"):
                return f"no {name}"
        elif not _FITS[kind](value) or (name in _SHARES and not 0 <= value <= 1):
            return f"{name} is {str(value)[:40]!r}"
    return None


_SHARES = ("accuracy", "peak_accuracy", "macro_f1")
_FITS = {
    "TEXT": lambda value: isinstance(value, str),
    "INTEGER": lambda value: isinstance(value, int) and abs(value) < 2**53,
    "REAL": lambda value: isinstance(value, (int, float)) and math.isfinite(value),
}


# A ledger shows its results.


PROTOCOL = 1
"""Raise it when the same run would come to mean something else; rows of another protocol are kept apart."""
APPLICATION_ID = 0x6772616D  # "gram", which tells a ledger from other sqlite files
VERSION = 1
LOCK_WAIT_SECONDS = 60.0
"""Seconds to wait for another process that is writing."""

COLUMNS = {
    "dataset": "TEXT NOT NULL",
    "dataset_checksum": "TEXT NOT NULL",
    "method": "TEXT NOT NULL",
    "settings": "TEXT NOT NULL",
    "settings_hash": "TEXT NOT NULL",
    "changed": "TEXT NOT NULL",
    "train_percent": "REAL NOT NULL",
    "realisation": "INTEGER NOT NULL",
    "protocol": "INTEGER NOT NULL",
    "status": "TEXT NOT NULL CHECK (status IN ('done', 'failed'))",
    "error": "TEXT",
    "accuracy": "REAL",
    "peak_accuracy": "REAL",
    "macro_f1": "REAL",
    "log_loss": "REAL",
    "calibration_error": "REAL",
    "train_nodes": "INTEGER",
    "test_nodes": "INTEGER",
    "classes": "INTEGER",
    "missed_classes": "INTEGER",
    "cpu_seconds": "REAL",
    "wall_seconds": "REAL",
    "peak_memory": "INTEGER",
    "versions": "TEXT NOT NULL",
    "recorded": "TEXT NOT NULL",
}
KEY_COLUMNS = (
    "dataset",
    "dataset_checksum",
    "method",
    "settings_hash",
    "train_percent",
    "realisation",
    "protocol",
)
_PACKAGES = ("torch", "numpy", "scipy", "scikit-learn", "numba", "gensim", "torch-geometric")


class Ledger(ResultsFile):
    """The results of a benchmark in a file.

    Every row is a transaction of its own in sqlite's write-ahead log: it is there whole or not at all, whenever the
    program is killed, and a run has one row however often it is recorded.

    Parameters
    ----------
    path : path-like
        The file; made where it is not there.
    create : bool, default=True
        With False, the file must be there and is only read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder, "r.sqlite")) as ledger:
    ...     len(ledger.runs())
    0
    """

    def __init__(self, path: Any, *, create: bool = True) -> None:
        super().__init__(path, create=create)
        with self._errors_in_words():
            self._connection = self._opened(create)

    def _opened(self, create: bool) -> sqlite3.Connection:
        if not create:
            return self._opened_to_read()
        connection = sqlite3.connect(self.path, timeout=LOCK_WAIT_SECONDS, isolation_level=None)
        try:
            self._check(connection, empty_allowed=True)
            _retried(connection, "PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            self._make(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _opened_to_read(self) -> sqlite3.Connection:
        where = self.path.absolute().as_uri()
        # a folder that cannot be written has no place for the log's index, and then nobody is writing either
        for options in ("mode=ro", "mode=ro&immutable=1"):
            connection = sqlite3.connect(f"{where}?{options}", timeout=LOCK_WAIT_SECONDS, uri=True)
            try:
                self._check(connection, empty_allowed=False)
            except sqlite3.OperationalError:
                connection.close()
                if "immutable" in options:
                    raise
            except BaseException:
                connection.close()
                raise
            else:
                return connection
        raise AssertionError("unreachable")

    def _check(self, connection: sqlite3.Connection, *, empty_allowed: bool) -> None:
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        mark = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if tables == 0 and mark == 0 and empty_allowed:
            return  # new, or killed before anything was written
        if mark != APPLICATION_ID:
            raise DataError(f"{self.path} is not a results file of gramme benchmark")
        if version > VERSION:
            raise DataError(f"{self.path} was written by a newer gramme; upgrade to read it")

    def _make(self, connection: sqlite3.Connection) -> None:
        """The table, all at once; another process may be at it too."""
        columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        with transaction(connection):
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS runs "
                f"(id INTEGER PRIMARY KEY, {columns}, UNIQUE ({', '.join(KEY_COLUMNS)}))"
            )
            connection.execute(
                "CREATE TABLE IF NOT EXISTS commands (command TEXT PRIMARY KEY, recorded TEXT NOT NULL)"
            )
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {VERSION}")

    def done(self) -> set[tuple[Any, ...]]:
        """The keys of all runs that are done, as :attr:`RunSpec.key`; failed ones are not among them."""
        with self._errors_in_words():
            rows = self._connection.execute(
                f"SELECT {', '.join(KEY_COLUMNS[:-1])} FROM runs WHERE status = 'done' AND protocol = ?",
                (PROTOCOL,),
            )
            return set(rows)

    def record(self, result: RunResult, *, replace: bool = False) -> None:
        """Record a run; one that is there already stays as it is, unless it is to be replaced."""
        row = _row(result)
        names = ", ".join(row)
        marks = ", ".join("?" for _ in row)
        changes = ", ".join(f"{name} = excluded.{name}" for name in row if name not in KEY_COLUMNS)
        which = "" if replace else " WHERE runs.status = 'failed'"
        with self._errors_in_words(), transaction(self._connection):
            self._connection.execute(
                f"INSERT INTO runs ({names}) VALUES ({marks}) "
                f"ON CONFLICT ({', '.join(KEY_COLUMNS)}) DO UPDATE SET {changes}{which}",
                storable(row.values()),
            )

    def runs(self) -> pd.DataFrame:
        """All runs of this protocol, one row each, in an order that does not depend on when they were done.

        A row that gramme cannot have written is left out with a warning that names it.
        """
        with self._errors_in_words():
            rows = self._connection.execute(
                f"SELECT id, {', '.join(COLUMNS)} FROM runs WHERE protocol = ? ORDER BY {', '.join(KEY_COLUMNS)}",
                (PROTOCOL,),
            ).fetchall()
        table = pd.DataFrame(sound_rows(rows, COLUMNS, self.path), columns=list(COLUMNS))
        numbers = [name for name, kind in COLUMNS.items() if kind == "REAL"]
        return table.astype(dict.fromkeys(numbers, float))

    def note_command(self, command: str) -> None:
        """Note a command whose runs are in this file."""
        with self._errors_in_words(), transaction(self._connection):
            self._connection.execute(
                "INSERT INTO commands VALUES (?, ?) ON CONFLICT DO NOTHING",
                storable([command, _now()]),
            )

    def commands(self) -> list[str]:
        """The commands that were noted, the first one first; none in a file of an older version."""
        with self._errors_in_words():
            there = "SELECT name FROM sqlite_master WHERE name = 'commands'"
            if self._connection.execute(there).fetchone() is None:
                return []
            rows = self._connection.execute("SELECT command FROM commands ORDER BY recorded, rowid")
            return [str(row[0]) for row in rows]

    def plot_results(
        self,
        *,
        dataset: str | None = None,
        methods: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Any:
        """Draw the accuracies with matplotlib: over the share of labels, a line per method, a panel per dataset.

        Parameters
        ----------
        dataset : str, optional
            One dataset alone; a panel for each if not given.
        methods : sequence of str, optional
            The methods to show; if not given, the ten with the best mean.
        ax : matplotlib axes, optional
            Where to draw a single dataset; a new figure if not given.

        Returns
        -------
        matplotlib axes
            An array of them where there are several datasets.
        """
        from gramme.plots.results import plot_results

        return plot_results(self, dataset=dataset, methods=methods, ax=ax)


def _row(result: RunResult) -> dict[str, Any]:
    spec: RunSpec = result.spec
    scores = result.scores
    return {
        **dict(zip(KEY_COLUMNS, (*spec.key, PROTOCOL), strict=True)),
        "settings": spec.settings,
        "changed": spec.changed,
        "status": result.status,
        "error": result.error,
        "accuracy": scores and scores.accuracy,
        "peak_accuracy": result.peak_accuracy,
        "macro_f1": scores and scores.macro_f1,
        "log_loss": scores and scores.log_loss,
        "calibration_error": scores and scores.calibration_error,
        "train_nodes": int(result.train_nodes),
        "test_nodes": int(result.test_nodes),
        "classes": int(result.classes),
        "missed_classes": int(result.missed_classes),
        "cpu_seconds": result.cost.cpu_seconds,
        "wall_seconds": result.cost.wall_seconds,
        "peak_memory": result.cost.peak_memory,
        "versions": _versions(),
        "recorded": _now(),
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@cache
def _versions() -> str:
    found = {"gramme": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return dumps(found, sort_keys=True)


def _retried(connection: sqlite3.Connection, statement: str) -> None:
    """Change the journal mode, retrying because sqlite itself does not wait for it."""
    until = time.monotonic() + LOCK_WAIT_SECONDS
    while True:
        try:
            connection.execute(statement)
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.05)


# The ledger of a benchmark of links: one sqlite file with a row per split, method and kind of
# unlinked pairs.


APPLICATION = 0x67726C6B  # "grlk", which tells it from other sqlite files
PATIENCE_SECONDS = 60.0
KEY = ("dataset", "checksum", "layer", "method", "realisation", "fold", "negatives")
LINK_LEDGER_COLUMNS = {
    "dataset": "TEXT NOT NULL",
    "checksum": "TEXT NOT NULL",
    "layer": "TEXT NOT NULL",
    "method": "TEXT NOT NULL",
    "realisation": "INTEGER NOT NULL",
    "fold": "INTEGER NOT NULL",
    "negatives": "TEXT NOT NULL",
    "status": "TEXT NOT NULL DEFAULT 'done'",
    "error": "TEXT",
    "roc_auc": "REAL",
    "average_precision": "REAL",
    "hits_at_20": "REAL",
    "calibration_bins": "TEXT",
    "linked": "INTEGER",
    "unlinked": "INTEGER",
    "cpu_seconds": "REAL",
    "protocol": "TEXT",
    "version": "TEXT",
    "recorded": "TEXT",
}


class LinkLedger(ResultsFile):
    """The results of a benchmark of links in a file; every row is written whole or not at all.

    Parameters
    ----------
    path : path-like
    create : bool, default=True
        With False, the file must be there.
    """

    def __init__(self, path: Any, *, create: bool = True) -> None:
        super().__init__(path, create=create)
        fresh = not self.path.exists() or self.path.stat().st_size == 0
        if not fresh and not is_link_ledger(self.path):
            raise DataError(
                f"{self.path} is not a ledger of links; name another file for gramme benchmark --task links"
            )
        with self._errors_in_words():
            self._connection = sqlite3.connect(
                self.path, timeout=PATIENCE_SECONDS, isolation_level=None
            )
            if create:
                self._make(fresh)

    def _make(self, fresh: bool) -> None:
        columns = ", ".join(f"{name} {kind}" for name, kind in LINK_LEDGER_COLUMNS.items())
        if fresh:
            # before the log begins, so that the mark is in the file itself whatever happens later
            self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
        self._connection.execute(
            f"CREATE TABLE IF NOT EXISTS links ({columns}, PRIMARY KEY ({', '.join(KEY)}))"
        )
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._add_new_columns()

    def _columns(self) -> set[str]:
        return {row[1] for row in self._connection.execute("PRAGMA table_info(links)")}

    def _add_new_columns(self) -> None:
        """A ledger of an earlier version gets the columns that it lacks; its runs all ended well."""
        there = self._columns()
        for name, kind in LINK_LEDGER_COLUMNS.items():
            if name not in there:
                self._connection.execute(f"ALTER TABLE links ADD COLUMN {name} {kind}")

    def done(self) -> set[tuple[Any, ...]]:
        """The keys of all rows of runs that ended well, but for the kind of unlinked pairs."""
        asked = f"SELECT {', '.join(KEY[:-1])} FROM links WHERE status = 'done'"
        with self._errors_in_words():
            return set(self._connection.execute(asked))

    def record(self, rows: list[dict[str, Any]]) -> None:
        """Write rows in one transaction, in the place of earlier ones."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        marks = ", ".join("?" for _ in LINK_LEDGER_COLUMNS)
        with self._errors_in_words(), transaction(self._connection):
            for row in rows:
                full = row | {"version": __version__, "recorded": now}
                self._connection.execute(
                    f"INSERT OR REPLACE INTO links ({', '.join(LINK_LEDGER_COLUMNS)}) VALUES ({marks})",
                    storable(full.get(name) for name in LINK_LEDGER_COLUMNS),
                )

    def rows(self) -> pd.DataFrame:
        """All rows, in an order that does not depend on when they were written."""
        with self._errors_in_words():
            there = self._columns()
            missing = {"status": "'done' AS status"}
            words = [
                name if name in there else missing.get(name, f"NULL AS {name}")
                for name in LINK_LEDGER_COLUMNS
            ]
            cursor = self._connection.execute(
                f"SELECT rowid, {', '.join(words)} FROM links ORDER BY {', '.join(KEY)}"
            )
            sound = sound_rows(cursor, LINK_LEDGER_COLUMNS, self.path)
        table = pd.DataFrame(sound, columns=list(LINK_LEDGER_COLUMNS))
        return table.astype(
            {name: float for name, kind in LINK_LEDGER_COLUMNS.items() if kind == "REAL"}
        )


def is_link_ledger(path: Path) -> bool:
    """Whether a file is a ledger of links."""
    if not path.is_file():  # a pipe would keep us waiting
        return False
    try:
        with path.open("rb") as file:
            head = file.read(72)
    except OSError:
        return False
    return head.startswith(b"SQLite format 3\x00") and head[68:72] == APPLICATION.to_bytes(4, "big")
