"""The benchmark of asking: a fixed test half, a ledger that resumes, a summary by pairs of runs."""

import numpy as np
import pandas as pd
import pytest
from tests.grouping.planted import planted

from gramme.errors import DataError, GrammeWarning
from gramme.evaluation import ask_benchmark as benchmark_module
from gramme.evaluation.ask_benchmark import AskSpec, ask_benchmark, strategy_ranks, summarise_asking
from gramme.evaluation.ask_strategies import AskStrategy
from gramme.evaluation.ledger import LEDGER_KINDS, Ledger, ledger_task


@pytest.fixture(scope="module")
def graph():
    made, group = planted(nodes=90, inside=0.2)
    return made.replace(labels=["abc"[one] for one in group])


def test_covering_beats_random_choice_and_all_is_resumed(graph, tmp_path):
    told = []
    settings = {"out": tmp_path / "ask.sqlite", "predictors": ["label-propagation"], "per_class": [1], "repeats": 6}
    table = ask_benchmark({"g": graph}, ["cover", "random"], **settings)
    scores = table.set_index("strategy")
    assert scores.loc["cover", "accuracy"] > scores.loc["random", "accuracy"] + 5
    assert scores.loc["cover", "against_random"] == pytest.approx(
        scores.loc["cover", "accuracy"] - scores.loc["random", "accuracy"]
    )
    assert scores.loc["random", "against_random"] == 0
    assert scores["labels"].tolist() == [3, 3]
    again = ask_benchmark({"g": graph}, ["cover", "random"], **settings, tell=lambda done, total: told.append(done))
    pd.testing.assert_frame_equal(table, again)
    assert not told
    assert ledger_task(settings["out"]) == "ask"
    ranks = strategy_ranks(table).set_index("strategy")
    assert ranks.loc["cover", "mean_rank"] == 1


def test_only_the_pool_is_chosen_from_and_only_the_other_half_is_scored(graph, monkeypatch):
    pools = []
    plain = benchmark_module.predictions

    def choose(request):
        pools.append(request.pool)
        assert request.graph.labels is None
        return request.pool[: request.count]

    def predict(graph, chosen, codes, spec):
        # right for the pool, wrong elsewhere: the score must be 0
        truth = benchmark_module.all_labels(given).codes
        found = (truth + 1) % 3
        found[pools[-1]] = truth[pools[-1]]
        return found

    given = graph
    strategy = AskStrategy("first", "", choose)
    monkeypatch.setattr(benchmark_module, "ask_strategy", lambda name: strategy)
    monkeypatch.setattr(benchmark_module, "predictions", predict)
    spec = AskSpec("g", "0", "first", "label-propagation", 1, 4)
    assert spec.run(graph).rows[0]["accuracy"] == 0.0
    assert pools[0].size == 45
    assert plain is not predict


def test_one_class_is_predicted_everywhere(graph):
    chosen = np.array([0, 3])
    spec = AskSpec("g", "0", "random", "label-propagation", 1, 0)
    found = benchmark_module.predictions(graph.replace(labels=None), chosen, np.array([2, 2]), spec)
    assert (found == 2).all()


def test_a_failure_is_a_row(graph, tmp_path):
    with pytest.warns(GrammeWarning, match="2 of 2 runs failed"):
        table = ask_benchmark({"g": graph}, ["random"], out=tmp_path / "a.sqlite", per_class=[40], repeats=1)
    assert table["failed"].tolist() == [1, 1]
    with Ledger(tmp_path / "a.sqlite", "ask", create=False) as ledger:
        assert "120 labels are to be chosen from 45 nodes" in ledger.runs()["error"][0]
        assert not ledger.done()


def test_splits_and_metric_of_ones_own(graph, tmp_path):
    pool, test = np.arange(0, 90, 3), np.arange(1, 90, 3)
    settings = {"out": tmp_path / "a.sqlite", "predictors": ["label-propagation"], "per_class": [1]}
    table = ask_benchmark({"g": graph}, ["random", "cover"], splits=[(pool, test)], metric="macro_f1", **settings)
    assert table["repeats"].tolist() == [1, 1]
    assert table["macro_f1"].is_monotonic_decreasing
    with Ledger(settings["out"], "ask", create=False) as ledger:
        rows = ledger.runs().set_index("strategy")
    assert 100 * rows.loc["cover", "macro_f1"] == table.set_index("strategy").loc["cover", "macro_f1"]
    with pytest.raises(DataError, match="no metric 'f1'"):
        ask_benchmark({"g": graph}, ["random"], metric="f1", **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"strategies": ["cove"]}, "there is no way 'cove'"),
        ({"predictors": ["nobody"]}, "nobody"),
        ({"per_class": [0]}, "labels per class must be whole numbers from 1"),
        ({"repeats": 0}, "at least one repeat"),
    ],
)
def test_mistakes(graph, tmp_path, settings, message):
    settings = {"strategies": ["random"]} | settings
    with pytest.raises(DataError, match=message):
        ask_benchmark({"g": graph}, out=tmp_path / "a.sqlite", **settings)


def test_labels_are_needed(tmp_path):
    bare, _ = planted(nodes=20)
    with pytest.raises(DataError, match="fewer than two classes"):
        ask_benchmark({"g": bare}, out=tmp_path / "a.sqlite")


def test_another_file_is_refused(tmp_path):
    other = tmp_path / "other.sqlite"
    other.write_bytes(b"something else")
    with pytest.raises(DataError, match="cannot be used as a file of results"):
        Ledger(other, "ask")


def test_an_empty_summary():
    assert not len(summarise_asking(pd.DataFrame(columns=list(LEDGER_KINDS["ask"].columns))))
