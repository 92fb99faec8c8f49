"""SQLite and DuckDB files that their own libraries wrote."""

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import ClassVar

import pytest
from tests.io.cases import ReadCase

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
    [
        "ATTACH 'new.db' AS x",
        "VACUUM INTO 'new.db'",
        "PRAGMA writable_schema = 1",
        "SELECT load_extension('x')",
    ],
)
def test_a_query_cannot_write_other_files(base, query, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.iterdir())
    with pytest.raises(FileFormatError, match="the database cannot be read"):
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
