"""SQLite and DuckDB files that their own libraries wrote."""

import os
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import ClassVar

import pytest
from tests.io.cases import ReadCase

import gramme
from gramme.errors import DataError, FileFormatError
from gramme.io import inspect, read
from gramme.io.formats import databases

duckdb = pytest.importorskip("duckdb")
SCRIPT = """
CREATE TABLE advice (ego TEXT, "alter" TEXT, weight REAL);
INSERT INTO advice VALUES ('Ann', 'Bo', 1.5), ('Bo', 'Cy', 2);
CREATE TABLE friends (source TEXT, target TEXT);
INSERT INTO friends VALUES ('Ann', 'Cy');
CREATE TABLE people (person TEXT, team TEXT, age INTEGER);
INSERT INTO people VALUES ('Ann', 'red', 30), ('Bo', 'blue', NULL), ('Cy', NULL, 50);
"""


def sqlite_file(path):
    with closing(sqlite3.connect(path)) as database:
        database.executescript(SCRIPT)
    return path


def duckdb_file(path):
    with closing(duckdb.connect(str(path))) as database:
        for statement in SCRIPT.split(";"):
            if statement.strip():
                database.execute(statement)
    return path


def written(make, name):
    with tempfile.TemporaryDirectory() as folder:
        return make(Path(folder) / name).read_bytes()


class TestSqlite(ReadCase):
    format = "sqlite"
    examples: ClassVar = [{"g.sqlite": written(sqlite_file, "g.sqlite")}]
    words: ClassVar = [b"SQLite format 3", b"CREATE TABLE"]


class TestDuckdb(ReadCase):
    format = "duckdb"
    examples: ClassVar = [{"g.duckdb": written(duckdb_file, "g.duckdb")}]
    words: ClassVar = [b"DUCK"]

    def test_arbitrary_bytes_end_in_a_graph_or_an_error(self):
        self.check_inputs(60, seed=0)  # opening one takes a while


@pytest.fixture(params=["sqlite", "duckdb"])
def base(request, tmp_path):
    make = sqlite_file if request.param == "sqlite" else duckdb_file
    return f"{request.param}:{make(tmp_path / f'school.{request.param}')}"


def test_all_tables(base):
    graph, report = inspect(base.partition(":")[2], label="team")
    assert list(graph.layers) == ["advice", "friends"]
    assert graph.layers["advice"].weight.tolist() == [1.5, 2]
    assert graph.labels.tolist() == ["red", "blue", None]
    assert graph.features[:, 0].tolist() == [30, 40, 50]
    assert report.format == base.partition(":")[0]


def test_a_table_or_a_query(base):
    assert read(f"{base}?table=friends").num_edges == 1
    query = "SELECT ego AS source, 'Cy' AS target, 'x' AS layer FROM advice"
    assert list(read(f"{base}?query={query}").layers) == ["x"]
    with pytest.raises(DataError, match="no table 'freinds'; did you mean 'friends'"):
        read(f"{base}?table=freinds")
    with pytest.raises(DataError, match=r"\?table=NAME or \?query"):
        read(f"{base}?tables=x")
    with pytest.raises(FileFormatError, match="cannot be read"):
        read(f"{base}?query=SELECT nothing FROM nowhere")


def test_nothing_is_written(base):
    path = Path(base.partition(":")[2])
    before = path.read_bytes()
    with pytest.raises(DataError):
        read(f"{base}?query=DROP TABLE friends")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "query",
    ["ATTACH 'new.db' AS x", "VACUUM INTO 'new.db'", "PRAGMA writable_schema = 1", "SELECT load_extension('x')"],
)
def test_a_query_cannot_write_other_files(base, query, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.iterdir())
    with pytest.raises(DataError, match=r"the database cannot be read|must be one SELECT"):
        read(f"{base}?query={query}")
    assert set(tmp_path.iterdir()) == before


def test_a_query_without_an_end_is_ended(base, monkeypatch):
    monkeypatch.setattr(databases, "MAX_QUERY_SECONDS", 0.2)
    endless = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT 1 - x FROM t) SELECT max(x) FROM t"
    with pytest.raises(FileFormatError, match=r"no answer within 0.2 s; does the query end\?"):
        read(f"{base}?query={endless}")


def test_what_is_no_database(tmp_path):
    (tmp_path / "g.db").write_text("source,target\n")
    with pytest.raises(FileFormatError, match="no SQLite database"):
        read(tmp_path / "g.db")


def test_rows_in_the_write_ahead_file_are_read(tmp_path):
    path = sqlite_file(tmp_path / "school.db")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("INSERT INTO friends VALUES ('Bo', 'Di')")
        writer.commit()
        assert (tmp_path / "school.db-wal").stat().st_size
        graph, report = inspect(f"sqlite:{path}?table=friends")
        assert graph.nodes.tolist() == ["Ann", "Cy", "Bo", "Di"]
        assert any("school.db-wal" in note for note in report.notes)


def test_an_unfinished_transaction_is_refused(tmp_path):
    """A journal that a program left behind when it was killed says how to undo what is half written."""
    path = sqlite_file(tmp_path / "school.db")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA cache_size = 1")  # so that changes reach the file before the end
        writer.executemany("INSERT INTO friends VALUES (?, ?)", [(f"x{i}", "y" * 500) for i in range(500)])
        journal = (tmp_path / "school.db-journal").read_bytes()
        content = path.read_bytes()
    left, hot = tmp_path / "left.db", tmp_path / "left.db-journal"
    left.write_bytes(content)
    hot.write_bytes(journal)
    before = left.read_bytes(), hot.read_bytes()
    with pytest.raises(FileFormatError, match=r"left changes in left\.db-journal"):
        read(f"sqlite:{left}?table=friends")
    assert before == (left.read_bytes(), hot.read_bytes())


@pytest.mark.parametrize("rows", [1, 400])
def test_a_small_sqlite_file_cannot_fill_the_memory(tmp_path, rows):
    path = tmp_path / "bomb.db"
    length = 400_000_000 if rows == 1 else 1_000_000
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"CREATE TABLE ties (source, target TEXT AS (hex(zeroblob({length}))) VIRTUAL)")
        database.executemany("INSERT INTO ties VALUES (?)", [(row,) for row in range(rows)])
        database.commit()
    with pytest.raises(FileFormatError, match=r"too big|unfolds to more than"):
        read(path, format="sqlite")


def test_a_small_duckdb_file_cannot_fill_the_memory(tmp_path):
    path = tmp_path / "bomb.duckdb"
    with closing(duckdb.connect(str(path))) as database:
        database.execute("CREATE TABLE ties AS SELECT repeat('x', 400000) AS source, i AS target FROM range(1500) t(i)")
    with pytest.raises(FileFormatError, match=r"Out of Memory|unfolds to more than"):
        read(path, format="duckdb")


@pytest.mark.parametrize(
    "query", ["CALL enable_logging('QueryLog')", "SELECT 1 AS source, 2 AS target; SELECT 3", "SET threads = 4"]
)
def test_duckdb_is_asked_with_one_select(tmp_path, query):
    path = duckdb_file(tmp_path / "school.duckdb")
    with pytest.raises(DataError, match="must be one SELECT"):
        read(f"duckdb:{path}?query={query}")


def test_duckdb_leaves_nothing_on_the_terminal(tmp_path):
    path = duckdb_file(tmp_path / "school.duckdb")
    done = subprocess.run(
        [sys.executable, "-m", "gramme", "info", str(path)],
        env=os.environ | {"PYTHONPATH": str(Path(gramme.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "leaked" not in done.stderr


def test_duckdb_does_not_write_to_the_terminal(tmp_path):
    with duckdb.connect(str(tmp_path / "x.duckdb")) as database:
        database.execute("CREATE TABLE ties AS SELECT 'a' AS source, 'b' AS target")
    query = "SELECT 'bar' AS source, current_setting('enable_progress_bar')::VARCHAR AS target"
    assert read(f"duckdb:{tmp_path / 'x.duckdb'}?query={query}").nodes.tolist() == ["bar", "false"]
