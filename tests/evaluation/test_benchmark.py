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
from gramme.errors import DataError, GrammeWarning
from gramme.evaluation import Ledger, benchmark
from gramme.evaluation.benchmark import chosen_graphs, chosen_methods, dataset_checksum, default_methods, planned
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.methods import METHODS, Majority, Method
from gramme.report.benchmark_tables import format_results

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


@pytest.mark.parametrize(
    ("labels", "words"), [(None, "has no labels"), (["a"] * 40, "at least two classes")], ids=["none", "one class"]
)
def test_a_graph_without_two_classes_is_refused(labels, words):
    with pytest.raises(DataError, match=words):
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
METHODS_HERE = ["majority", "label-propagation"]


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

    with pytest.warns(
        GrammeWarning, match=r"3 of 6 runs failed and count nowhere, first small, fragile, 10\.0, 0: Runt"
    ):
        table, seen = go()
    assert seen == [("fragile", "failed")] * 3 + [("majority", "done")] * 3
    assert table.loc["fragile", ["repeats", "failed"]].tolist() == [0, 3]
    with Ledger(path, create=False) as ledger:
        failed = ledger.runs().query("status == 'failed'")
    assert failed["traceback"].str.contains("in fit").all()
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
    table = benchmark(GRAPHS, ["majority", "label-propagation"], out=path, train=[10, 20], repeats=3, jobs=1)
    assert len(table) == 4
    assert table["repeats"].eq(3).all()
    with Ledger(path, create=False) as ledger:
        assert len(ledger.runs()) == 12


def right_of_a(truth, predicted):
    """Recall of the class a."""
    return float(np.mean([guess == "a" for label, guess in zip(truth, predicted, strict=True) if label == "a"]))


def test_given_splits_and_a_metric_of_ones_own(tmp_path):
    known = np.random.default_rng(0).permutation(40)
    splits = [(np.sort(known[:20]), known[20:30]), (known[10:30], known[:10])]
    settings = {"out": tmp_path / "r.sqlite", "splits": splits, "jobs": 1}
    plain = benchmark(GRAPHS, METHODS_HERE, **settings)
    assert plain["train_percent"].tolist() == [50.0, 50.0]
    assert plain["repeats"].tolist() == [2, 2]
    with Ledger(settings["out"], create=False) as ledger:
        assert ledger.runs()[["train_nodes", "test_nodes"]].drop_duplicates().to_numpy().tolist() == [[20, 10]]
    model = METHODS["majority"].estimator()
    y = np.where(np.isin(np.arange(40), splits[0][0]), GRAPHS["small"].labels, None)
    predicted = model.fit(GRAPHS["small"].replace(labels=None), y).predict()
    with Ledger(settings["out"], create=False) as ledger:
        row = ledger.runs().query("method == 'majority' and realisation == 0").iloc[0]
    assert row["accuracy"] == (predicted == GRAPHS["small"].labels)[splits[0][1]].mean()

    own = benchmark(GRAPHS, METHODS_HERE, metric=right_of_a, **settings)
    assert own["metric"].unique().tolist() == ["right_of_a"]
    majority = own.set_index("method").loc["majority"]
    assert majority["right_of_a_mean"] in (0.0, 1.0, 0.5)
    assert own["accuracy_mean"].tolist() == plain["accuracy_mean"].tolist()
    seen = []
    benchmark(GRAPHS, METHODS_HERE, metric=right_of_a, on_result=seen.append, **settings)
    assert not seen, "what was scored by this metric is not done again"


def test_splits_of_other_nodes_are_other_runs(tmp_path):
    for test in ([1, 2], [1, 3]):
        splits = {"small": [(np.arange(10, 40), np.array(test))]}
        benchmark(GRAPHS, ["majority"], out=tmp_path / "r.sqlite", splits=splits, jobs=1)
    with Ledger(tmp_path / "r.sqlite", create=False) as ledger:
        assert ledger.runs()["dataset_checksum"].nunique() == 2


def test_the_best_follows_the_metric(tmp_path):
    """Always saying the common class is accurate here, and its macro F1 is not."""
    rare = planted(200).replace(labels=["a" if place % 20 else "b" for place in range(200)])
    layer = EdgeLayer(200, *np.nonzero(np.triu(np.equal.outer(rare.labels == "b", rare.labels == "b"), 1)))
    graph = {"rare": MultilayerGraph({"same": layer}, labels=list(rare.labels))}
    table = benchmark(
        graph, METHODS_HERE, out=tmp_path / "r.sqlite", train=[50], repeats=6, jobs=1, metric="macro_f1"
    ).set_index("method")
    assert table.loc["label-propagation", "best"]
    assert table.loc["label-propagation", "macro_f1_mean"] > table.loc["majority", "macro_f1_mean"] + 20
    assert {"macro_f1_ci95", "accuracy_mean"} <= set(table.columns)
    text = format_results(table.reset_index(), "markdown")
    assert f"**{table.loc['label-propagation', 'macro_f1_mean']:.2f}**" in text


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metric": "macro_f2"}, "did you mean 'macro_f1'"),
        ({"metric": lambda truth, predicted: 1.0}, "needs a name"),
        ({"splits": {"other": []}}, "no splits for the dataset 'small'"),
        ({"splits": [("train", "test")]}, "small: training nodes of split 1: there is no mask 'train'"),
    ],
    ids=["metric", "nameless", "dataset", "mask"],
)
def test_metrics_and_splits_that_cannot_be_meant(tmp_path, settings, message):
    with pytest.raises(DataError, match=message):
        benchmark(GRAPHS, ["majority"], out=tmp_path / "r.sqlite", jobs=1, **settings)


def broken_metric(truth, predicted):
    return float("nan")


def test_a_metric_that_fails_is_a_failure(tmp_path):
    with pytest.warns(GrammeWarning, match="the metric broken_metric is nan here"):
        table = benchmark(
            GRAPHS, ["majority"], out=tmp_path / "r.sqlite", train=[20], repeats=1, jobs=1, metric=broken_metric
        )
    assert table["failed"].tolist() == [1]


def test_realisations_that_no_choice_has_seen(tmp_path):
    benchmark(GRAPHS, ["majority"], out=tmp_path / "r.sqlite", train=[20], repeats=2, first=100, jobs=1)
    with Ledger(tmp_path / "r.sqlite", create=False) as ledger:
        assert ledger.runs()["realisation"].tolist() == [100, 101]


def test_no_jobs_is_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(DataError, match="at least one job"):
        benchmark(GRAPHS, ["majority"], out=tmp_path / "r.sqlite", jobs=0)
    assert list(tmp_path.iterdir()) == []


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


def test_estimators_and_graphs_without_a_name_are_refused_with_what_to_write(tmp_path):
    graph = planted()
    with pytest.raises(DataError, match=r'gramme.methods.Method\("my-name", Majority, "what it does"\)'):
        benchmark({"mine": graph}, [Majority()], out=tmp_path / "r.sqlite")
    with pytest.raises(DataError, match=r'\{"mine": graph\}'):
        benchmark([graph], ["majority"], out=tmp_path / "r.sqlite")
