import math

import numpy as np
import pytest
from tests.evaluation.runs import CONTRACT, done, failed, spec

from gramme import datasets
from gramme.errors import DataError
from gramme.evaluation import (
    PAPER_ACCURACY,
    Ledger,
    compare_pairs,
    paired_test,
    paper_accuracy,
    rank_methods,
    summarise,
)
from gramme.methods import names


def test_seven_datasets_seven_methods_three_percentages():
    assert len(PAPER_ACCURACY) == 7 * 7 * 3
    for dataset, method, percent in PAPER_ACCURACY:
        assert dataset in datasets.names()
        assert method in names()
        assert percent in (10, 20, 30)


def test_some_figures_of_the_papers_table():
    assert paper_accuracy("vickers_chan", "deepwalk", 10) == 72.0
    assert paper_accuracy("balance_scale", "gramme-fusion", 30) == 88.72
    assert paper_accuracy("reinnovation", "line", 20) == 55.21
    assert paper_accuracy("congress_votes", "pmne-r", 30) == 99.77
    assert paper_accuracy("wine", "deepwalk", 10) is None
    assert paper_accuracy("balance_scale", "deepwalk", 40) is None


MEANS = {"strong": 0.9, "middle": 0.7, "weak": 0.5}


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path / "r.sqlite") as opened:
        yield opened


def fill(ledger, means, dataset="wine", repeats=20, spread=0.01, **changes):
    noise = np.random.default_rng(0).normal(0, spread, (repeats, len(means)))
    for place, (method, mean) in enumerate(means.items()):
        for r in range(repeats):
            one = spec(method, r, dataset=dataset, **changes)
            ledger.record(done(one, mean + noise[r, place], peak=0.95))


def test_the_columns_of_the_contract_and_their_values(ledger):
    fill(ledger, MEANS)
    table = summarise(ledger)
    assert [name for name in table if name in CONTRACT] == CONTRACT
    row = table.set_index("method").loc["middle"]
    accuracy = 100 * ledger.runs().query("method == 'middle'")["accuracy"]
    assert row["accuracy_mean"] == pytest.approx(accuracy.mean())
    assert row["accuracy_std"] == pytest.approx(accuracy.std(ddof=1))
    assert row[["repeats", "peak_mean", "memory_mean"]].tolist() == pytest.approx([20, 95, 256])
    assert row["calibration_error_mean"] == pytest.approx(10)
    assert row["missed_class_repeats"] == 0


def test_the_best_is_marked_when_it_beats_every_other(ledger):
    fill(ledger, MEANS)
    table = summarise(ledger).set_index("method")
    assert table["best"].to_dict() == {"middle": False, "strong": True, "weak": False}
    assert table["level_with_best"].to_dict() == {"middle": False, "strong": True, "weak": False}
    assert math.isnan(table.loc["strong", "p_value"])
    assert (table.loc[["middle", "weak"], "p_value"] < 0.01).all()


def test_no_best_where_the_test_does_not_tell_two_apart(ledger):
    fill(ledger, {"strong": 0.9, "rival": 0.899, "weak": 0.5})
    table = summarise(ledger).set_index("method")
    assert not table["best"].any()
    assert table["level_with_best"].to_dict() == {"rival": True, "strong": True, "weak": False}


@pytest.mark.parametrize("repeats", [1, 2])
def test_few_repeats_prove_nothing(ledger, repeats):
    fill(ledger, MEANS, repeats=repeats, spread=0.05)
    table = summarise(ledger)
    assert not table["best"].any()
    assert table["repeats"].eq(repeats).all()


def test_one_method_alone_is_never_best(ledger):
    fill(ledger, {"only": 0.9})
    assert not summarise(ledger)["best"].any()


def test_failed_runs_are_counted_apart_and_settings_are_kept_apart(ledger):
    fill(ledger, {"mine": 0.6})
    fill(ledger, {"mine": 0.8}, changed="C=2", settings_hash="def")
    ledger.record(failed(spec("mine", 20)))
    ledger.record(failed(spec("never", 0)))
    table = summarise(ledger)
    assert table[["method", "settings", "repeats", "failed"]].to_numpy().tolist() == [
        ["mine", "", 20, 1],
        ["mine", "C=2", 20, 0],
        ["never", "", 0, 1],
    ]
    assert table["best"].tolist() == [False, True, False]


def test_the_papers_figure_stands_beside(ledger):
    fill(ledger, {"gramme-sg": 0.8, "majority": 0.4}, dataset="balance_scale")
    found = summarise(ledger).set_index("method")["paper_accuracy"]
    assert found["gramme-sg"] == 77.67
    assert math.isnan(found["majority"])


def test_pairs_are_the_paired_test_on_common_realisations(ledger):
    fill(ledger, MEANS)
    ledger.record(done(spec("weak", 20), 0.1))
    pairs = compare_pairs(ledger).set_index(["method", "other"])
    assert len(pairs) == 3
    row = pairs.loc[("middle", "strong")]
    runs = ledger.runs().pivot(index="realisation", columns="method", values="accuracy")
    both = runs[["middle", "strong"]].dropna()
    differences = both["middle"] - both["strong"]
    expected = paired_test(both["middle"], both["strong"], 90)
    assert (row["statistic"], row["p_value"]) == pytest.approx(expected)
    assert row["difference"] == pytest.approx(100 * differences.mean())
    assert row["repeats"] == 20
    assert (pairs["p_corrected"] >= pairs["p_value"]).all()


def test_ranks_use_datasets_that_all_methods_have(ledger):
    for dataset in ("one", "two", "three"):
        fill(ledger, MEANS, dataset=dataset)
    fill(ledger, {"weak": 0.99}, dataset="four")
    ranking = rank_methods(ledger)
    assert ranking.methods == ["strong", "middle", "weak"]
    assert ranking.ranks.tolist() == [1, 2, 3]
    assert ranking.datasets == 3


def test_too_little_to_rank(ledger):
    with pytest.raises(DataError, match="no finished runs"):
        rank_methods(ledger)
    fill(ledger, MEANS)
    with pytest.raises(DataError, match="at least 2 methods on at least 2 datasets"):
        rank_methods(ledger)


def test_an_empty_ledger_has_an_empty_summary(ledger):
    assert len(summarise(ledger)) == 0
    assert set(CONTRACT) <= set(summarise(ledger))
    assert len(compare_pairs(ledger)) == 0
