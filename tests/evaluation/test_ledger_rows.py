import sqlite3

import pytest
from tests.methods.graphs import planted

from gramme.errors import DataError, GrammeWarning
from gramme.evaluation import Ledger, benchmark
from gramme.evaluation.summary import summarise


@pytest.fixture
def ledger(tmp_path):
    path = tmp_path / "r.sqlite"
    benchmark({"small": planted(30)}, ["majority"], train=[30], repeats=4, jobs=1, out=path)
    return path


def spoil(path, column, value, row=2):
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE runs SET {column} = ? WHERE id = ?", (value, row))
    connection.close()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("accuracy", "high"),
        ("accuracy", float("inf")),
        ("accuracy", None),
        ("accuracy", 4.6e18),
        ("peak_accuracy", -1.0),
        ("macro_f1", b"\x00"),
        ("train_percent", "ten"),
        ("realisation", "first"),
        ("cpu_seconds", float("-inf")),
        ("classes", 2.5),
        ("method", b"\xff"),
        ("peak_memory", 2**60),
        ("versions", b"{"),
    ],
)
def test_a_row_with_foreign_values_is_named_and_left_out(ledger, column, value):
    spoil(ledger, column, value)
    with (
        Ledger(ledger, create=False) as opened,
        pytest.warns(GrammeWarning, match=rf"row 2 \(.*{column}"),
    ):
        runs = opened.runs()
    assert len(runs) == 3
    assert len(summarise(runs)) == 1


def test_many_are_counted(ledger):
    with sqlite3.connect(ledger) as connection:
        connection.execute("UPDATE runs SET accuracy = 'x'")
    connection.close()
    with Ledger(ledger, create=False) as opened, pytest.warns(GrammeWarning, match="and 1 more"):
        assert opened.runs().empty


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_a_truncated_ledger_is_said_to_be_one(ledger, share):
    content = ledger.read_bytes()
    ledger.write_bytes(content[: int(len(content) * share)])

    def read():
        with Ledger(ledger, create=False) as opened:
            return opened.runs()

    with pytest.raises(DataError, match=r"r\.sqlite cannot be used"):
        read()


def test_a_damaged_name_in_a_ledger_is_said(ledger):
    content = ledger.read_bytes()
    assert b"CREATE TABLE runs" in content
    # sqlite quotes the table's statement, with a byte that no text has
    ledger.write_bytes(content.replace(b"CREATE TABLE runs", b"CRE\xc3TE TABLE runs"))
    with pytest.raises(DataError, match=r"r\.sqlite cannot be used"):
        Ledger(ledger, create=False)
