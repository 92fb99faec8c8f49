import matplotlib.pyplot as plt
import pandas as pd
import pytest

from gramme import DataError
from gramme.evaluation import Ledger, benchmark
from gramme.plots import plot_results
from gramme.plots import results as module


def table(datasets=("d1", "d2"), methods=("m1", "m2"), percents=(10, 30)):
    rows = [
        {
            "dataset": dataset,
            "method": method,
            "settings": "",
            "train_percent": percent,
            "repeats": 5,
            "accuracy_mean": 50.0 + 5 * place + percent / 10,
            "accuracy_ci95": 1.0,
        }
        for dataset in datasets
        for place, method in enumerate(methods)
        for percent in percents
    ]
    return pd.DataFrame(rows)


def test_a_panel_per_dataset_and_a_line_per_method_the_best_first():
    made = plot_results(table())
    assert [ax.get_title() for ax in made] == ["d1", "d2"]
    assert [text.get_text() for text in made[1].get_legend().get_texts()] == ["m2", "m1"]
    best = made[0].containers[0].lines[0].get_ydata()
    assert list(best) == [56, 58]


def test_one_dataset_on_given_axes_and_some_methods():
    _, ax = plt.subplots()
    assert plot_results(table(), dataset="d2", methods=["m1"], ax=ax) is ax
    assert len(ax.containers) == 1
    assert ax.get_title() == "d2"


def test_beyond_ten_methods_the_best_are_shown(monkeypatch):
    monkeypatch.setattr(module, "MAX_LINES", 2)
    ax = plot_results(table(datasets=("d",), methods=tuple("abc")))
    assert ax.get_legend().get_title().get_text() == "2 of 3 methods"
    assert len(ax.containers) == 2


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"dataset": "d3"}, "no run on 'd3'"),
        ({"methods": ["m3"]}, "no run of 'm3'"),
        ({"ax": True}, "several datasets"),
    ],
)
def test_mistakes_are_told(how, words):
    with pytest.raises(DataError, match=words):
        plot_results(table(), **how)
    with pytest.raises(DataError, match="no finished runs"):
        plot_results(table().assign(repeats=0))


def test_a_ledger_draws_itself(tmp_path):
    path = tmp_path / "runs.sqlite"
    benchmark(["balance_scale"], ["majority"], train=[10, 30], repeats=2, jobs=1, out=path)
    with Ledger(path, create=False) as ledger:
        ax = ledger.plot_results()
    assert ax.get_title() == "balance_scale"
    assert [text.get_text() for text in ax.get_xticklabels()] == ["10", "30"]
