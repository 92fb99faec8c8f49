"""The ledger of a benchmark of links: one sqlite file with a row per split, method and kind of unlinked pairs."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from gramme._version import __version__
from gramme.errors import DataError
from gramme.evaluation.ledger_rows import sound_rows
from gramme.evaluation.results_file import ResultsFile, storable, transaction

APPLICATION = 0x67726C6B  # "grlk", which tells it from other sqlite files
PATIENCE_SECONDS = 60.0
KEY = ("dataset", "checksum", "layer", "method", "realisation", "fold", "negatives")
COLUMNS = {
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
        columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
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
        for name, kind in COLUMNS.items():
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
        marks = ", ".join("?" for _ in COLUMNS)
        with self._errors_in_words(), transaction(self._connection):
            for row in rows:
                full = row | {"version": __version__, "recorded": now}
                self._connection.execute(
                    f"INSERT OR REPLACE INTO links ({', '.join(COLUMNS)}) VALUES ({marks})",
                    storable(full.get(name) for name in COLUMNS),
                )

    def rows(self) -> pd.DataFrame:
        """All rows, in an order that does not depend on when they were written."""
        with self._errors_in_words():
            there = self._columns()
            missing = {"status": "'done' AS status"}
            words = [
                name if name in there else missing.get(name, f"NULL AS {name}") for name in COLUMNS
            ]
            cursor = self._connection.execute(
                f"SELECT rowid, {', '.join(words)} FROM links ORDER BY {', '.join(KEY)}"
            )
            sound = sound_rows(cursor, COLUMNS, self.path)
        table = pd.DataFrame(sound, columns=list(COLUMNS))
        return table.astype({name: float for name, kind in COLUMNS.items() if kind == "REAL"})


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
