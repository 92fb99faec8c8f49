import json
import os
import sqlite3
from pathlib import Path

import pytest
from tests.evaluation.runs import done, failed, spec
from tests.methods.graphs import planted
from tests.processes import Process

from gramme.errors import DataError, GrammeWarning
from gramme.evaluation import Ledger, benchmark
from gramme.evaluation.benchmark import TaskResult
from gramme.evaluation.ledger import ledger_task
from gramme.evaluation.link_benchmark import LinkSpec, link_benchmark
from gramme.evaluation.link_methods import LinkMethod
from gramme.evaluation.summary import summarise


@pytest.mark.parametrize("task", ["labels", "links", "ask"])
def test_a_path_that_cannot_be_used_is_refused_in_words(task, tmp_path):
    with pytest.raises(DataError, match="is a folder"):
        Ledger(tmp_path, task)
    with pytest.raises(DataError, match="there is no such file"):
        Ledger(tmp_path / "r.sqlite", task, create=False)
    with pytest.raises(DataError, match="there is no folder"):
        Ledger(tmp_path / "none" / "r.sqlite", task)


@pytest.mark.parametrize("task", ["labels", "links", "ask"])
def test_the_file_is_closed_at_the_end_of_the_block(task, tmp_path):
    with Ledger(tmp_path / "r.sqlite", task) as ledger:
        assert ledger.done() == set()
    with pytest.raises((sqlite3.ProgrammingError, DataError), match="closed database"):
        ledger.done()


def test_names_that_are_no_unicode_are_recorded_and_found_again(tmp_path):
    """As a file whose name was written in another encoding brings them."""
    graph = planted(30)
    layers = {f"{name}\udce9": layer for name, layer in graph.layers.items()}
    data = {"caf\udce9": graph.replace(layers=layers)}
    began = []

    def labels():
        benchmark(
            data,
            ["majority"],
            train=[30],
            repeats=1,
            jobs=1,
            out=tmp_path / "labels.sqlite",
            command="gramme benchmark --datasets caf\udce9.csv",
            on_start=lambda missing, done, jobs: began.append((len(missing), done)),
        )

    labels()
    labels()
    assert began == [(1, 0), (0, 1)]
    with Ledger(tmp_path / "labels.sqlite", create=False) as ledger:
        assert ledger.runs()["dataset"].tolist() == ["caf\\udce9"]
        assert ledger.commands() == ["gramme benchmark --datasets caf\\udce9.csv"]

    told = []
    for _ in range(2):
        link_benchmark(
            data,
            ["own-attachment"],
            repeats=1,
            jobs=1,
            out=tmp_path / "links.sqlite",
            tell=lambda finished, total: told.append(finished),
        )
    assert told == list(range(1, len(told) + 1))  # nothing is done twice


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
    with Ledger(ledger, create=False) as opened, pytest.warns(GrammeWarning, match=rf"row 2 \(.*{column}"):
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


ROOT = Path(__file__).parents[2]


def test_a_row_holds_everything(tmp_path):
    with Ledger(tmp_path / "r.sqlite") as ledger:
        ledger.record(done(spec(changed="C=2"), 0.75, peak=0.8))
        (row,) = ledger.runs().to_dict("records")
    assert (row["accuracy"], row["peak_accuracy"], row["macro_f1"]) == (0.75, 0.8, 0.375)
    assert (row["cpu_seconds"], row["wall_seconds"], row["peak_memory"]) == (1.5, 2.0, 1 << 28)
    assert (row["dataset_checksum"], row["settings_hash"], row["changed"]) == ("0" * 64, "abc", "C=2")
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
        assert ledger.runs()["method"].value_counts().to_dict() == dict.fromkeys(("one", "two", "both"), 100)


def test_files_that_are_no_ledgers(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("no database\n" * 100)
    foreign = tmp_path / "other.sqlite"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE recipes (name)")
    for create in (True, False):
        with pytest.raises(DataError, match=r"notes\.txt cannot be used"):
            Ledger(text, create=create)
        with pytest.raises(DataError, match="is not a ledger of labels"):
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
        page = ledger._connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'commands'").fetchone()[0]
        size = ledger._connection.execute("PRAGMA page_size").fetchone()[0]
    data = bytearray(path.read_bytes())
    data[(page - 1) * size : page * size] = b"x" * size
    path.write_bytes(data)
    with Ledger(path, create=False) as ledger, pytest.raises(DataError, match=r"runs\.sqlite cannot be used"):
        ledger.commands()


ROW = {"negatives": "uniform", "status": "done", "roc_auc": 0.5}


def link_result(*rows, fold=0, layer="l"):
    return TaskResult(LinkSpec("d", "c", layer, LinkMethod("m", "", None), 0, fold), list(rows or [ROW]))


def test_a_run_of_links_is_kept_once_and_replaced_only_where_that_is_said(tmp_path):
    path = tmp_path / "links.sqlite"
    with Ledger(path, "links") as ledger:
        ledger.record(link_result())
        ledger.record(link_result(ROW | {"roc_auc": 0.9}))
        ledger.record(link_result(fold=1))
        assert ledger.done() == {("d", "c", "l", "m", 0, fold) for fold in (0, 1)}
        assert ledger.runs()["roc_auc"].tolist() == [0.5, 0.5]
        ledger.record(link_result(ROW | {"roc_auc": 0.9}), replace=True)
    with Ledger(path, "links", create=False) as ledger:
        assert ledger.runs()["roc_auc"].tolist() == [0.9, 0.5]
    assert ledger_task(path) == "links"


def test_a_file_of_an_early_version_is_read_and_gets_the_columns_that_it_lacks(tmp_path):
    path = tmp_path / "links.sqlite"
    key = "dataset TEXT, checksum TEXT, layer TEXT, method TEXT, realisation INTEGER, fold INTEGER, negatives TEXT"
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA application_id = {0x67726C6B}")
        names = key.replace(" TEXT", "").replace(" INTEGER", "")
        connection.execute(f"CREATE TABLE links ({key}, roc_auc REAL, PRIMARY KEY ({names}))")
        connection.execute("INSERT INTO links VALUES ('d', 'c', 'l', 'm', 0, 0, 'uniform', 0.7)")
    connection.close()
    with Ledger(path, "links", create=False) as ledger:
        assert ledger.runs()[["status", "roc_auc"]].to_numpy().tolist() == [["done", 0.7]]
    with Ledger(path, "links") as ledger:
        assert ledger.done() == {link_result().spec.key}
        ledger.record(link_result(ROW | {"status": "failed", "error": "no"}, fold=1))
        assert ledger.runs()["error"].fillna("").tolist() == ["", "no"]


def test_rows_that_fail_together_are_left_out_together(tmp_path):
    with Ledger(tmp_path / "links.sqlite", "links") as ledger:
        with pytest.raises(DataError, match="NOT NULL"):
            ledger.record(link_result(ROW, ROW | {"negatives": None}))
        assert ledger.done() == set()


def test_other_files_are_refused(tmp_path):
    with Ledger(tmp_path / "labels.sqlite"):
        pass
    assert ledger_task(tmp_path / "labels.sqlite") == "labels"
    assert ledger_task(tmp_path / "missing.sqlite") is None
    for create in (True, False):
        with pytest.raises(DataError, match="is not a ledger of links; name another file for gramme benchmark --task"):
            Ledger(tmp_path / "labels.sqlite", "links", create=create)


def test_a_pipe_is_no_ledger_and_nobody_waits_for_it(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert ledger_task(tmp_path / "pipe") is None


def test_damaged_files_and_foreign_values_are_said(tmp_path):
    path = tmp_path / "links.sqlite"
    with Ledger(path, "links") as ledger:
        ledger.record(link_result())
        ledger.record(link_result(layer="other"))
        ledger._connection.execute("UPDATE links SET roc_auc = 'high' WHERE layer = 'other'")
    with (
        Ledger(path, "links", create=False) as ledger,
        pytest.warns(GrammeWarning, match=r"left out, as not written by gramme: row 2 \(roc_auc is"),
    ):
        assert len(ledger.runs()) == 1
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(DataError, match="cannot be used"), Ledger(path, "links", create=False) as ledger:
        ledger.runs()


def test_a_damaged_name_is_said(tmp_path):
    path = tmp_path / "links.sqlite"
    with Ledger(path, "links") as ledger:
        ledger.record(link_result())
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE links", b"CRE\xc3TE TABLE links"))
    with pytest.raises(DataError, match="cannot be used"), Ledger(path, "links", create=False) as ledger:
        ledger.runs()
