"""SQLite and DuckDB: tables of a database, or the result of a query, as lists of edges, matrices and tables of nodes.

A database is opened for reading only. Without a table or a query every table is looked at; views are not, since they
can be made to run for ever. What a database unfolds to is bounded in bytes: a generated column or a compressed one may
hold gigabytes in a file of a few kilobytes.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from gramme.errors import DataError, FileFormatError, did_you_mean, import_extra
from gramme.io.edge_table import parse_sheets
from gramme.io.parsed import Parsed, ReadOptions
from gramme.io.source import checked_file, tell
from gramme.io.spreadsheet import cell_text

_SPARE_BYTES, _BYTES_PER_BYTE = 100_000_000, 50
"""Bytes of text that a database may hold, and how many more for each of its own: DuckDB packs repeated text to 2 %."""
MAX_QUERY_SECONDS = 600
"""By the clock, for all that is asked of a database: a recursive query may go on for ever."""
_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_SQLITE_HEAD = b"SQLite format 3\x00"
_TABLES = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    "duckdb": "SELECT table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE'",
}


def reader(kind: str) -> Callable[[Path, ReadOptions], Parsed]:
    """How to read a database of this kind."""

    def read(path: Path, options: ReadOptions) -> Parsed:
        most_bytes = _SPARE_BYTES + _BYTES_PER_BYTE * checked_file(path).stat().st_size
        opened = _sqlite if kind == "sqlite" else _duckdb
        faults: tuple[type[Exception], ...] = (sqlite3.Error, OverflowError, UnicodeError)
        if kind == "duckdb":
            faults = (import_extra("duckdb", "duckdb", "reading DuckDB").Error, *faults)
        try:
            with opened(path, most_bytes) as database, _ended_in_time(database, path):
                return _graph(database, kind, path, options, most_bytes)
        except faults as error:
            if isinstance(error, DataError):
                raise
            # DuckDB goes on with advice about settings that nobody can change here
            error_text = str(error).partition("\n")[0]
            raise FileFormatError(f"the database cannot be read: {error_text}", file=path) from None

    return read


def _graph(database: Any, kind: str, path: Path, options: ReadOptions, most_bytes: int) -> Parsed:
    if options.query is not None:
        if kind == "duckdb":  # other statements of DuckDB change settings, and one ends the process
            kinds = [statement.type.name for statement in database.extract_statements(options.query)]
            if kinds != ["SELECT"]:
                raise DataError(f"{path}: the query must be one SELECT, not {', '.join(kinds) or 'nothing'}")
        table_rows = _rows(database, options.query, path, most_bytes)
        return parse_sheets({"query": table_rows}, path, options, database=True)
    tables = [str(row[0]) for row in database.execute(_TABLES[kind]).fetchall()]
    if options.table is not None:
        if options.table not in tables:
            hint = did_you_mean(options.table, tables)
            raise DataError(f"{path} has no table {options.table!r}; {hint}")
        tables = [options.table]
    sheets = {}
    for name in tables:
        escaped = name.replace('"', '""')
        table_rows = _rows(database, f'SELECT * FROM "{escaped}"', path, most_bytes)
        if len(table_rows) > 1:
            sheets[name] = table_rows
    if not sheets:
        raise FileFormatError("the database has no table with rows", file=path)
    return parse_sheets(sheets, path, options, database=True)


def _rows(database: Any, query: str, path: Path, most_bytes: int) -> list[list[str]]:
    """The header and the rows of a query, as text."""
    cursor = database.execute(query)
    if cursor.description is None:
        raise DataError(f"{path}: the query gives no rows; it must be a SELECT")
    table_rows = [[str(column[0]) for column in cursor.description]]
    total = 0
    while (row := cursor.fetchone()) is not None:
        table_rows.append([cell_text(value) for value in row])
        # an empty cell takes some bytes too
        total += sum(map(len, table_rows[-1])) + len(row)
        if total > most_bytes:
            raise FileFormatError(
                f"it unfolds to more than {most_bytes / 1e6:,.0f} MB of text, far more than it spells out", file=path
            )
    return table_rows


@contextlib.contextmanager
def _ended_in_time(database: Any, path: Path) -> Iterator[None]:
    """Interrupt what the database is doing when it has taken too long, and say so."""
    late = threading.Event()

    def interrupt() -> None:
        late.set()
        database.interrupt()

    timer = threading.Timer(MAX_QUERY_SECONDS, interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    except Exception:
        if late.is_set():
            raise FileFormatError(
                f"the database gave no answer within {MAX_QUERY_SECONDS:g} s; does the query end?", file=path
            ) from None
        raise
    finally:
        timer.cancel()


@contextlib.contextmanager
def _sqlite(path: Path, most_bytes: int) -> Iterator[Any]:
    with checked_file(path).open("rb") as file:
        if file.read(len(_SQLITE_HEAD)) != _SQLITE_HEAD:
            raise FileFormatError("this is no SQLite database", file=path)
    file_path = path.resolve()
    side_files = [
        each
        for ending in ("-wal", "-journal")
        if (each := Path(f"{file_path}{ending}")).exists() and each.stat().st_size
    ]
    # without side files nothing else writes here, and then a folder that is read-only is no hindrance either
    address = f"file:{quote(str(file_path))}?mode=ro" + ("" if side_files else "&immutable=1")
    with contextlib.closing(sqlite3.connect(address, uri=True)) as database:
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(most_bytes, 1_000_000_000))
        try:
            database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            if not side_files:
                raise
            raise FileFormatError(
                f"another program left changes in {side_files[0].name}, which cannot be taken in while reading "
                f"({error}); close that program, or open the database once with sqlite3 to settle them",
                file=path,
            ) from None
        if side_files:
            tell(f"{path.name}: read together with the changes in {side_files[0].name}")
        database.text_factory = lambda data: data.decode("utf-8", errors="replace")
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA cell_size_check = ON")
        # "read only" is about this file: ATTACH and VACUUM INTO would still write others
        database.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY)
        yield database


@contextlib.contextmanager
def _duckdb(path: Path, most_bytes: int) -> Iterator[Any]:
    duckdb = import_extra("duckdb", "duckdb", "reading DuckDB")
    settings = {"threads": "1", "enable_external_access": "false", "memory_limit": f"{most_bytes // 1000}KB"}
    with contextlib.closing(duckdb.connect(str(path), read_only=True, config=settings)) as database:
        database.execute("SET enable_progress_bar = false")  # it would write to the terminal after two seconds
        yield database
