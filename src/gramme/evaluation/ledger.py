"""The ledger: one sqlite file with a row per run, which survives being killed and several writers at once."""

from __future__ import annotations

import contextlib
import platform
import sqlite3
import time
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from json import dumps
from typing import Any

import pandas as pd

from gramme._version import __version__
from gramme.errors import DataError
from gramme.evaluation.face import LedgerFace
from gramme.evaluation.ledger_rows import sound_rows
from gramme.evaluation.one_run import RunResult, RunSpec
from gramme.evaluation.results_file import ResultsFile, storable, transaction

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


class Ledger(LedgerFace, ResultsFile):
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
