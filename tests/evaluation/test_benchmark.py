import itertools
import os
import random
import signal
import sqlite3
import sys
import threading
import time

import numpy as np
import pytest
from tests.evaluation.runs import same
from tests.methods.graphs import planted
from tests.processes import Command, Process

from gramme.cli import main
from gramme.errors import DataError
from gramme.evaluation import Ledger, benchmark
from gramme.evaluation.benchmark import (
    chosen_graphs,
    chosen_methods,
    dataset_checksum,
    default_methods,
    planned,
)
from gramme.methods import METHODS, Majority, Method

GRAPH = planted(40)


def test_runs_of_shared_embeddings_come_first_and_last():
    specs = planned({"g": GRAPH}, chosen_methods(["line", "majority"]), [10, 20], 3, {})
    assert [spec.method for spec in specs] == ["line"] + ["majority"] * 6 + ["line"] * 5
    assert len({spec.key for spec in specs}) == 12


def test_settings_make_another_hash_and_what_does_not_matter_does_not():
    def code(method, **settings):
        return planned({"g": GRAPH}, chosen_methods([method]), [10], 1, {method: settings})[0]

    plain = code("gramme-sg")
    assert code("gramme-sg", epochs=7).settings_hash != plain.settings_hash
    assert code("gramme-sg", epochs=7).changed == "epochs=7"
    assert code("gramme-sg", progress=True).settings_hash == plain.settings_hash
    assert code("line", cache=False).settings_hash == code("line").settings_hash
    assert code("gramme-sg", random_state=5).settings_hash != plain.settings_hash


@pytest.mark.parametrize(
    ("train", "repeats", "settings", "message"),
    [
        ([10, 100], 1, {}, "less than 100"),
        ([], 1, {}, "no training percentage"),
        ([10], 0, {}, "at least one repeat"),
        ([10], 1, {"gramme-sg": {}}, "not benchmarked"),
        ([10], 1, {"majority": {"depth": 2}}, "no parameter 'depth'"),
        ([99.9], 1, {}, "g: 99.9 % of 40 labelled nodes"),
    ],
    ids=["percent", "none", "repeats", "method", "parameter", "nothing left"],
)
def test_mistakes_are_found_before_work_starts(train, repeats, settings, message):
    with pytest.raises(DataError, match=message):
        planned({"g": GRAPH}, chosen_methods(["majority"]), train, repeats, settings)


def test_unknown_and_doubled_names():
    with pytest.raises(DataError, match="did you mean 'majority'"):
        chosen_methods(["majorty"])
    with pytest.raises(DataError, match="named twice"):
        chosen_methods(["majority", "majority"])
    with pytest.raises(DataError, match="did you mean 'wine'"):
        chosen_graphs(["wyne"])
    with pytest.raises(DataError, match="named twice"):
        chosen_graphs(["wine", "wine"])


@pytest.mark.parametrize("labels", [None, ["a"] * 40], ids=["none", "one class"])
def test_a_graph_without_two_classes_is_refused(labels):
    with pytest.raises(DataError, match="at least two classes"):
        chosen_graphs({"g": GRAPH.replace(labels=labels)})


def test_a_missing_extra_is_refused_and_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"gramme\[walks\]"):
        chosen_methods(["deepwalk"])
    assert chosen_methods(default_methods())


def test_labels_and_features_are_in_the_checksum():
    codes = {
        dataset_checksum(GRAPH),
        dataset_checksum(GRAPH.replace(labels=list(reversed(GRAPH.labels)))),
        dataset_checksum(GRAPH.replace(features=np.eye(40))),
        dataset_checksum(GRAPH.replace(features=2 * np.eye(40))),
    }
    assert len(codes) == 4


GRAPHS = {"small": planted(40)}


class Fragile(Majority):
    """Fails while the test says so."""

    broken = True

    def fit(self, graph, y=None):
        if Fragile.broken:
            raise RuntimeError("not today")
        return super().fit(graph, y)


def test_failures_do_not_stop_the_rest_and_are_tried_again(tmp_path):
    path = tmp_path / "r.sqlite"
    methods = [Method("fragile", Fragile, ""), METHODS["majority"]]
    todo = []

    def go(**options):
        seen = []
        table = benchmark(
            GRAPHS,
            methods,
            out=path,
            train=[10],
            repeats=3,
            jobs=1,
            on_start=lambda specs, done, jobs: todo.append((len(specs), done, jobs)),
            on_result=lambda result: seen.append((result.spec.method, result.status)),
            **options,
        )
        return table.set_index("method"), seen

    table, seen = go()
    assert seen == [("fragile", "failed")] * 3 + [("majority", "done")] * 3
    assert table.loc["fragile", ["repeats", "failed"]].tolist() == [0, 3]
    Fragile.broken = False
    try:
        table, seen = go()
        assert seen == [("fragile", "done")] * 3
        assert table.loc["fragile", ["repeats", "failed"]].tolist() == [3, 0]
        assert go()[1] == []
        assert len(go(force=True)[1]) == 6
    finally:
        Fragile.broken = True
    assert todo == [(6, 0, 1), (3, 3, 1), (0, 6, 1), (6, 0, 1)]


def test_more_repeats_and_methods_add_to_the_ledger(tmp_path):
    path = tmp_path / "r.sqlite"
    benchmark(GRAPHS, ["majority"], out=path, train=[10], repeats=2, jobs=1)
    table = benchmark(
        GRAPHS, ["majority", "label-propagation"], out=path, train=[10, 20], repeats=3, jobs=1
    )
    assert len(table) == 4
    assert table["repeats"].eq(3).all()
    with Ledger(path, create=False) as ledger:
        assert len(ledger.runs()) == 12


def test_no_jobs_is_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(DataError, match="at least one job"):
        benchmark(GRAPHS, ["majority"], out=tmp_path / "r.sqlite", jobs=0)
    assert list(tmp_path.iterdir()) == []


METHODS_HERE = ["majority", "label-propagation"]
ARGUMENTS = ["--datasets", "balance_scale", "--methods", ",".join(METHODS_HERE), "--quiet"]
REPEATS = 6


def command(path, jobs):
    more = ["--train", "10,30", "--repeats", str(REPEATS), "--jobs", str(jobs), "--out", str(path)]
    return ["benchmark", *ARGUMENTS, *more]


def recorded(path):
    """Rows that are in the file now; None where it is not there or not made yet."""
    if not path.exists():
        return None
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            return connection.execute("SELECT count(*) FROM runs").fetchone()[0]
    except sqlite3.OperationalError:
        return None


def killed_after(rows, delay, words):
    """A benchmark that kills its whole group of processes a moment after so many rows are recorded, as it sees it."""
    proper, left = Ledger.record, itertools.count(rows - 1, -1)

    def record(*arguments, **options):
        proper(*arguments, **options)
        if next(left) == 0:
            threading.Timer(delay, os.killpg, (0, signal.SIGKILL)).start()

    Ledger.record = record
    main(words)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
@pytest.mark.parametrize("first", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_killed_at_random_moments_nothing_is_lost_or_doubled(first, tmp_path):
    """With one job or, the first time, with two: whoever runs them, this process alone writes."""
    path = tmp_path / "killed.sqlite"
    chance = random.Random(5)
    total = len(METHODS_HERE) * 2 * REPEATS
    before = 0
    for jobs in (first, 1, 1):
        rows = chance.randint(1, total // 4)
        process = Process(killed_after, rows, chance.uniform(0, 0.01), command(path, jobs))
        assert process.wait(60) == -signal.SIGKILL
        now = recorded(path)
        assert before + rows <= now < total
        before = now
    assert Command(*command(path, 1)).wait() == 0
    assert recorded(path) == total
    whole = tmp_path / "whole.sqlite"
    benchmark(["balance_scale"], METHODS_HERE, out=whole, train=[10, 30], repeats=REPEATS, jobs=1)
    with Ledger(path, create=False) as killed, Ledger(whole, create=False) as uninterrupted:
        same(killed.runs(), uninterrupted.runs())


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
def test_killed_while_the_file_is_made(tmp_path):
    """Whatever stands there at that moment is completed by the next benchmark."""
    path = tmp_path / "r.sqlite"
    process = Command(*command(path, 1))
    while not path.exists():
        assert process.poll() is None
        time.sleep(0.0005)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=60)
    table = benchmark(["balance_scale"], ["majority"], out=path, train=[10], repeats=2, jobs=1)
    assert table["repeats"].tolist() == [2]
