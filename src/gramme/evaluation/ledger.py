"""The ledger: one sqlite file with a row per run, which survives being killed and several writers at once."""

from __future__ import annotations

import contextlib
import math
import platform
import sqlite3
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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

VERSION = 1
LOCK_WAIT_SECONDS = 60.0
_PACKAGES = ("torch", "numpy", "scipy", "scikit-learn", "numba", "gensim", "torch-geometric")
_SHARES = (
    "accuracy",
    "peak_accuracy",
    "macro_f1",
    "micro_f1",
    "ranking_loss",
    "roc_auc",
    "average_precision",
    "hits_at_20",
)
_IS_OF_KIND = {
    "TEXT": lambda value: isinstance(value, str),
    "INTEGER": lambda value: isinstance(value, int) and abs(value) < 2**53,
    "REAL": lambda value: isinstance(value, (int, float)) and math.isfinite(value),
}


@dataclass(frozen=True)
class LedgerKind:
    """What the ledger of one task holds."""

    about: str
    command: str
    table: str
    application_id: int  # tells it from other sqlite files
    columns: Mapping[str, str]
    run_key: tuple[str, ...]  # the columns that make :attr:`~gramme.evaluation.RunSpec.key`
    needed: tuple[str, ...]  # those that a finished run cannot lack
    key_addition: tuple[str, ...] = ()
    condition: str = "1"

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that no two rows share."""
        return self.run_key + self.key_addition


PROTOCOL = 1
"""Raise it when the same run would come to mean something else; rows of another protocol are kept apart."""
_STATUS = {"status": "TEXT NOT NULL", "error": "TEXT", "traceback": "TEXT"}
LEDGER_KINDS = {
    "labels": LedgerKind(
        "labels",
        "gramme benchmark",
        "runs",
        0x6772616D,  # "gram"
        {
            **dict.fromkeys(("dataset", "dataset_checksum", "method", "settings"), "TEXT NOT NULL"),
            **dict.fromkeys(("settings_hash", "changed"), "TEXT NOT NULL"),
            "train_percent": "REAL NOT NULL",
            **dict.fromkeys(("realisation", "protocol"), "INTEGER NOT NULL"),
            **_STATUS,
            **dict.fromkeys(("accuracy", "peak_accuracy", "macro_f1", "log_loss", "calibration_error"), "REAL"),
            **dict.fromkeys(("micro_f1", "ranking_loss"), "REAL"),  # of runs with several labels per node
            "metric": "TEXT",
            "metric_value": "REAL",
            **dict.fromkeys(("train_nodes", "test_nodes", "classes", "missed_classes"), "INTEGER"),
            **dict.fromkeys(("cpu_seconds", "wall_seconds"), "REAL"),
            "peak_memory": "INTEGER",
            **dict.fromkeys(("versions", "recorded"), "TEXT NOT NULL"),
        },
        ("dataset", "dataset_checksum", "method", "settings_hash", "train_percent", "realisation"),
        ("accuracy", "macro_f1"),
        ("protocol",),
        f"protocol = {PROTOCOL}",
    ),
    "links": LedgerKind(
        "links",
        "gramme benchmark --task links",
        "links",
        0x67726C6B,  # "grlk"
        {
            **dict.fromkeys(("dataset", "checksum", "layer", "method"), "TEXT NOT NULL"),
            **dict.fromkeys(("realisation", "fold"), "INTEGER NOT NULL"),
            "negatives": "TEXT NOT NULL",
            **_STATUS,
            "status": "TEXT NOT NULL DEFAULT 'done'",
            **dict.fromkeys(("roc_auc", "average_precision", "hits_at_20"), "REAL"),
            "calibration_bins": "TEXT",
            **dict.fromkeys(("linked", "unlinked"), "INTEGER"),
            "cpu_seconds": "REAL",
            **dict.fromkeys(("protocol", "version", "recorded"), "TEXT"),
        },
        ("dataset", "checksum", "layer", "method", "realisation", "fold"),
        ("roc_auc",),
        ("negatives",),
    ),
    "ask": LedgerKind(
        "asking",
        "gramme benchmark --task ask",
        "asking",
        0x67726173,  # "gras"
        {
            **dict.fromkeys(("dataset", "checksum", "strategy", "predictor"), "TEXT NOT NULL"),
            **dict.fromkeys(("per_class", "realisation"), "INTEGER NOT NULL"),
            **_STATUS,
            "labels": "INTEGER",
            **dict.fromkeys(("accuracy", "macro_f1"), "REAL"),
            **dict.fromkeys(("classes_seen", "classes"), "INTEGER"),
            **dict.fromkeys(("ask_seconds", "cpu_seconds"), "REAL"),
            **dict.fromkeys(("version", "recorded"), "TEXT"),
        },
        ("dataset", "checksum", "strategy", "predictor", "per_class", "realisation"),
        ("accuracy",),
    ),
}


class Ledger:
    """The results of a benchmark in a file.

    Every result is a transaction of its own in sqlite's write-ahead log: it is there whole or not at all, whenever the
    program is killed, and a run is there once however often it is recorded.

    Parameters
    ----------
    path : path-like
        The file; made where it is not there.
    task : {"labels", "links", "ask"}, default="labels"
        What was compared; each task has files of its own.
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

    def __init__(self, path: Any, task: str = "labels", *, create: bool = True) -> None:
        self.path = Path(path)
        self.kind = LEDGER_KINDS[task]
        if self.path.is_dir():
            raise DataError(f"{self.path} is a folder; a file of results is needed")
        if not create and not self.path.is_file():
            raise DataError(f"{self.path}: there is no such file; {self.kind.command} writes it")
        if create and not self.path.absolute().parent.is_dir():
            raise DataError(f"there is no folder {self.path.parent} to write {self.path.name} into")
        with self._errors_in_words():
            self._connection = self._open_to_write() if create else self._open_to_read()

    def _open_to_write(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=LOCK_WAIT_SECONDS, isolation_level=None)
        try:
            self._check(connection, empty_allowed=True)
            _set_write_ahead(connection)
            connection.execute("PRAGMA synchronous = FULL")
            self._make(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_to_read(self) -> sqlite3.Connection:
        # a folder that cannot be written has no place for the log's index, and then nobody is writing either
        for options in ("mode=ro", "mode=ro&immutable=1"):
            address = f"{self.path.absolute().as_uri()}?{options}"
            connection = sqlite3.connect(address, timeout=LOCK_WAIT_SECONDS, uri=True)
            try:
                self._check(connection, empty_allowed=False)
            except BaseException as error:
                connection.close()
                if "immutable" in options or not isinstance(error, sqlite3.OperationalError):
                    raise
            else:
                return connection
        raise AssertionError("unreachable")

    def _check(self, connection: sqlite3.Connection, *, empty_allowed: bool) -> None:
        num_tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        application_mark = connection.execute("PRAGMA application_id").fetchone()[0]
        if num_tables == 0 and application_mark == 0 and empty_allowed:
            return  # new, or killed before anything was written
        if application_mark != self.kind.application_id:
            raise DataError(
                f"{self.path} is not a ledger of {self.kind.about}; name another file for {self.kind.command}"
            )
        if connection.execute("PRAGMA user_version").fetchone()[0] > VERSION:
            raise DataError(f"{self.path} was written by a newer gramme; upgrade to read it")

    def _make(self, connection: sqlite3.Connection) -> None:
        """The tables, all at once, and columns that a file of an earlier version lacks; another may be at it too."""
        kind = self.kind
        column_definitions = ", ".join(f"{name} {sort}" for name, sort in kind.columns.items())
        with _transaction(connection):
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {kind.table} "
                f"(id INTEGER PRIMARY KEY, {column_definitions}, UNIQUE ({', '.join(kind.key)}))"
            )
            connection.execute("CREATE TABLE IF NOT EXISTS commands (command TEXT PRIMARY KEY, recorded TEXT NOT NULL)")
            present_columns = self._columns_of_file(connection)
            for name, column_type in kind.columns.items():
                if name not in present_columns:
                    connection.execute(f"ALTER TABLE {kind.table} ADD COLUMN {name} {column_type}")
            connection.execute(f"PRAGMA application_id = {kind.application_id}")
            connection.execute(f"PRAGMA user_version = {VERSION}")

    def _columns_of_file(self, connection: sqlite3.Connection) -> set[str]:
        return {row[1] for row in connection.execute(f"PRAGMA table_info({self.kind.table})")}

    def done(self, metric: str | None = None) -> set[tuple[Any, ...]]:
        """The keys of all runs that ended well, as :attr:`RunSpec.key`; with this own metric, if it is named."""
        kind = self.kind
        select_done = (
            f"SELECT DISTINCT {', '.join(kind.run_key)} FROM {kind.table} WHERE status = 'done' AND {kind.condition}"
        )
        with self._errors_in_words():
            metric_condition = ("", ()) if metric is None else (" AND metric = ?", (metric,))
            return set(self._connection.execute(select_done + metric_condition[0], metric_condition[1]))

    def record(self, result: Any, *, replace: bool = False) -> None:
        """Record the rows of a run; one that has ended well already stays as it is, unless it is to be replaced."""
        kind = self.kind
        version_fields = {"versions": _versions(), "version": __version__, "recorded": _now()}
        value_marks = ", ".join("?" for _ in kind.columns)
        column_changes = ", ".join(f"{name} = excluded.{name}" for name in kind.columns if name not in kind.key)
        update_condition = "" if replace else f" WHERE {kind.table}.status = 'failed'"
        with self._errors_in_words(), _transaction(self._connection):
            for row in result.rows:
                full_row = row | version_fields
                self._connection.execute(
                    f"INSERT INTO {kind.table} ({', '.join(kind.columns)}) VALUES ({value_marks}) "
                    f"ON CONFLICT ({', '.join(kind.key)}) DO UPDATE SET {column_changes}{update_condition}",
                    _storable(full_row.get(name) for name in kind.columns),
                )

    def runs(self) -> pd.DataFrame:
        """All rows of this protocol, in an order that does not depend on when they were written.

        A row that gramme cannot have written is left out with a warning that names it.
        """
        kind = self.kind
        with self._errors_in_words():
            present_columns = self._columns_of_file(self._connection)
            absent_columns = {"status": "'done' AS status"}  # of a file of an early version, whose runs all ended well
            column_expressions = [
                name if name in present_columns else absent_columns.get(name, f"NULL AS {name}")
                for name in kind.columns
            ]
            raw_rows = self._connection.execute(
                f"SELECT rowid, {', '.join(column_expressions)} FROM {kind.table} WHERE {kind.condition} "
                f"ORDER BY {', '.join(kind.key)}"
            ).fetchall()
        table = pd.DataFrame(self._sound(raw_rows), columns=list(kind.columns))
        return table.astype(
            {name: float for name, column_type in kind.columns.items() if column_type.startswith("REAL")}
        )

    def _sound(self, rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """The rows whose values are of their columns' kinds: any program can write into an sqlite file."""
        sound_rows, problem_texts = [], []
        for row_number, *row_values in rows:
            problem = self._problem(dict(zip(self.kind.columns, row_values, strict=True)))
            if problem is None:
                sound_rows.append(tuple(row_values))
            else:
                problem_texts.append(f"row {row_number} ({problem})")
        if problem_texts:
            num_more = len(problem_texts) - 3
            named_problems = ", ".join(problem_texts[:3]) + (f" and {num_more} more" if num_more > 0 else "")
            warnings.warn(
                f"{self.path}: left out, as not written by gramme: {named_problems}", GrammeWarning, stacklevel=3
            )
        return sound_rows

    def _problem(self, row: Mapping[str, Any]) -> str | None:
        for name, value in row.items():
            column_type = self.kind.columns[name]
            if value is None:
                if "NOT NULL" in column_type or (row["status"] == "done" and name in self.kind.needed):
                    return f"no {name}"
            elif not _IS_OF_KIND[column_type.split()[0]](value) or (name in _SHARES and not 0 <= value <= 1):
                return f"{name} is {str(value)[:40]!r}"
        return None

    def note_command(self, command: str) -> None:
        """Note a command whose runs are in this file."""
        with self._errors_in_words(), _transaction(self._connection):
            self._connection.execute(
                "INSERT INTO commands VALUES (?, ?) ON CONFLICT DO NOTHING", _storable([command, _now()])
            )

    def commands(self) -> list[str]:
        """The commands that were noted, the first one first; none in a file of an older version."""
        with self._errors_in_words():
            table_query = "SELECT name FROM sqlite_master WHERE name = 'commands'"
            if self._connection.execute(table_query).fetchone() is None:
                return []
            command_rows = self._connection.execute("SELECT command FROM commands ORDER BY recorded, rowid")
            return [str(row[0]) for row in command_rows]

    def plot_results(self, *, dataset: str | None = None, methods: Sequence[str] | None = None, ax: Any = None) -> Any:
        """Draw the accuracies: over the share of labels, a line per method, a panel per dataset.

        Parameters as for :func:`gramme.plots.plot_results`, which it calls.
        """
        from gramme.plots.results import plot_results

        return plot_results(self, dataset=dataset, methods=methods, ax=ax)

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
            raise DataError(f"{self.path} cannot be used as a file of results of gramme benchmark ({why})") from error

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def ledger_task(path: Path) -> str | None:
    """The task whose ledger a file is, None for any other file."""
    if not path.is_file():  # a pipe would keep us waiting
        return None
    try:
        with path.open("rb") as file:
            file_head = file.read(72)
    except OSError:
        return None
    task_marks = {kind.application_id.to_bytes(4, "big"): task for task, kind in LEDGER_KINDS.items()}
    return task_marks.get(file_head[68:72]) if file_head.startswith(b"SQLite format 3\x00") else None


def _storable(values: Iterable[Any]) -> list[Any]:
    """Values of a row as sqlite can hold them: names that are not valid Unicode are written with escapes."""
    return [proper_text(value) if isinstance(value, str) else value for value in values]


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction that waits for the write lock first, so it cannot fail halfway for lack of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _set_write_ahead(connection: sqlite3.Connection) -> None:
    """Change the journal mode, retrying because sqlite itself does not wait for it."""
    deadline_seconds = time.monotonic() + LOCK_WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline_seconds:
                raise
            time.sleep(0.05)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@cache
def _versions() -> str:
    package_versions = {"gramme": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            package_versions[name] = metadata.version(name)
    return dumps(package_versions, sort_keys=True)
