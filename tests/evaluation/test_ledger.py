import json
import sqlite3
from pathlib import Path

import pytest
from tests.evaluation.runs import done, failed, spec
from tests.processes import Process

from gramme.errors import DataError
from gramme.evaluation import Ledger

ROOT = Path(__file__).parents[2]


def test_a_row_holds_everything(tmp_path):
    with Ledger(tmp_path / "r.sqlite") as ledger:
        ledger.record(done(spec(changed="C=2"), 0.75, peak=0.8))
        (row,) = ledger.runs().to_dict("records")
    assert (row["accuracy"], row["peak_accuracy"], row["macro_f1"]) == (0.75, 0.8, 0.375)
    assert (row["cpu_seconds"], row["wall_seconds"], row["peak_memory"]) == (1.5, 2.0, 1 << 28)
    assert (row["dataset_checksum"], row["settings_hash"], row["changed"]) == (
        "0" * 64,
        "abc",
        "C=2",
    )
    assert row["status"] == "done"
    assert {"gramme", "torch", "numpy", "python"} <= set(json.loads(row["versions"]))


def test_one_row_per_run_however_often_it_is_recorded(tmp_path):
    with Ledger(tmp_path / "r.sqlite") as ledger:
        ledger.record(failed(spec()))
        assert ledger.done() == set()
        ledger.record(done(spec(), 0.5))
        ledger.record(done(spec(), 0.6))
        ledger.record(failed(spec()))
        assert ledger.runs()["accuracy"].tolist() == [0.5]
        assert ledger.done() == {spec().key}
        ledger.record(done(spec(), 0.7), replace=True)
        assert ledger.runs()["accuracy"].tolist() == [0.7]


@pytest.mark.parametrize(
    "change",
    [
        {"dataset": "other"},
        {"dataset_checksum": "1" * 64},
        {"method": "x"},
        {"settings_hash": "def"},
        {"percent": 20.0},
        {"realisation": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_tells_two_runs_apart(tmp_path, change):
    with Ledger(tmp_path / "r.sqlite") as ledger:
        ledger.record(done(spec()))
        ledger.record(done(spec(**change)))
        assert len(ledger.runs()) == 2


def write(path, method):
    with Ledger(path) as ledger:
        for number in range(100):
            ledger.record(done(spec(method, number)))
            ledger.record(done(spec("both", number)))


def test_two_processes_lose_and_double_nothing(tmp_path):
    path = tmp_path / "r.sqlite"
    writers = [Process(write, path, name) for name in ("one", "two")]
    assert [writer.wait() for writer in writers] == [0, 0]
    with Ledger(path, create=False) as ledger:
        assert ledger.runs()["method"].value_counts().to_dict() == dict.fromkeys(
            ("one", "two", "both"), 100
        )


def test_files_that_are_no_ledgers(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("no database\n" * 100)
    foreign = tmp_path / "other.sqlite"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE recipes (name)")
    for create in (True, False):
        with pytest.raises(DataError, match=r"notes\.txt cannot be used"):
            Ledger(text, create=create)
        with pytest.raises(DataError, match="is not a results file"):
            Ledger(foreign, create=create)
    assert text.read_text().startswith("no database")
    with pytest.raises(DataError, match="is a folder"):
        Ledger(tmp_path)
    with pytest.raises(DataError, match="no such file"):
        Ledger(tmp_path / "missing.sqlite", create=False)
    with pytest.raises(DataError, match="there is no folder"):
        Ledger(tmp_path / "no" / "r.sqlite")
    assert not (tmp_path / "missing.sqlite").exists()


def test_a_newer_file_is_refused_and_an_empty_one_is_new(tmp_path):
    path = tmp_path / "r.sqlite"
    path.touch()
    with Ledger(path) as ledger:
        ledger.record(done(spec()))
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(DataError, match="newer gramme"):
        Ledger(path)


def test_a_ledger_is_read_while_it_is_written(tmp_path):
    path = tmp_path / "r.sqlite"
    with Ledger(path) as writer:
        writer.record(done(spec()))
        with Ledger(path, create=False) as reader:
            assert len(reader.runs()) == 1
            writer.record(done(spec(realisation=1)))
            assert len(reader.runs()) == 2


def test_damaged_commands_are_said(tmp_path):
    path = tmp_path / "runs.sqlite"
    with Ledger(path) as ledger:
        ledger.note_command("gramme benchmark")
    with Ledger(path, create=False) as ledger:
        page = ledger._connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'commands'"
        ).fetchone()[0]
        size = ledger._connection.execute("PRAGMA page_size").fetchone()[0]
    data = bytearray(path.read_bytes())
    data[(page - 1) * size : page * size] = b"x" * size
    path.write_bytes(data)
    with (
        Ledger(path, create=False) as ledger,
        pytest.raises(DataError, match=r"runs\.sqlite cannot be used"),
    ):
        ledger.commands()
