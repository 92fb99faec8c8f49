import pytest

from gramme.report.page.benchmark_sections import failures, plots, ranks, repeat, summary, time


def row(dataset, method, percent, accuracy, seconds=1.0, interval=1.0):
    return {
        "dataset": dataset,
        "method": method,
        "train_percent": percent,
        "repeats": 3,
        "accuracy_mean": accuracy,
        "accuracy_ci95": interval,
        "cpu_seconds_mean": seconds,
    }


@pytest.fixture
def data():
    rows = [
        row(dataset, method, percent, accuracy)
        for dataset in ("cora", "wine")
        for percent in (10.0, 20.0)
        for method, accuracy in (("gat", 80.0), ("majority", 40.0))
    ]
    return {
        "rows": rows,
        "methods": ["gat", "majority"],
        "runs": 24,
        "rankings": [],
        "failures": [],
        "versions": [{"gramme": "1.0"}],
        "command": "gramme benchmark --out <x>",
    }


def test_the_summary_counts(data):
    text = summary(data)
    assert "<strong>2 methods</strong>" in text
    assert "<strong>2 datasets</strong>" in text
    assert "24 runs" in text
    assert "10, 20 % of the labels" in text
    assert "Each learned from" in text
    assert "3 random splits, the same ones for every method." in text


def test_the_summary_of_runs_that_were_added_one_by_one(data):
    data["rows"][0]["repeats"] = 5
    text = summary(data)
    assert "3 to 5 random splits; a method with fewer of them has some of the same splits" in text
    assert "the same ones for every method" not in text
    del data["rows"][0]
    assert (
        "They learned, not each from all of these, from 10, 20 % of the labels and were"
        in summary(data)
    )


def test_the_summary_of_one_method_and_one_split(data):
    alone = [one | {"repeats": 1} for one in data["rows"] if one["method"] == "gat"]
    text = summary(data | {"rows": alone, "methods": ["gat"]})
    assert "<strong>1 method</strong> was run on" in text
    assert "It learned from" in text
    assert "repeated for 1 random split.</p>" in text


def test_guessing_is_a_grey_dashed_line_that_the_words_and_the_legend_name(data):
    words, _, figures = plots(data).partition('<div class="figures">')
    assert figures.count("<figure>") == 2
    assert "Guessing (majority) always answers with the most common class." in words
    assert words.count("guessing (majority)</li>") == 1
    assert figures.count('<polyline class="line c0 dashed"') == 2
    assert figures.count('<polyline class="line c1"') == 2
    data["methods"].remove("majority")
    assert "uessing" not in plots(data)


def test_an_accuracy_that_is_not_there_leaves_a_gap(data):
    data["rows"][0]["accuracy_mean"] = None
    assert "NaN" not in plots(data)


def test_ranks_need_enough_or_say_so(data):
    assert "there are too few yet" in ranks(data)
    ranking = {"methods": ["gat", "majority"], "ranks": [1.0, 2.0], "critical_difference": 0.5}
    ranking |= {"groups": [], "train_percent": 10.0, "datasets": 2, "p_value": 0.04}
    assert "Friedman p = 0.04" in ranks(data | {"rankings": [ranking]})
    assert "Friedman" not in ranks(data | {"rankings": [ranking | {"p_value": None}]})


def test_time_is_a_geometric_mean_over_what_all_have_run(data):
    data["rows"][0]["cpu_seconds_mean"] = 16.0  # gat: 16, 1, 1, 1
    text = time(data)
    assert '<td class="number">80.0</td><td class="number">2</td>' in text
    data["rows"] = [one for one in data["rows"] if one["method"] == "gat"]
    data["rows"].append(row("digits", "majority", 10.0, 40.0))
    assert time(data) == ""


def test_failures_and_how_to_repeat(data):
    assert failures(data) == ""
    failed = {"dataset": "cora", "method": "gat", "runs": 3, "error": "<b>boom</b>"}
    assert "&lt;b&gt;boom" in failures(data | {"failures": [failed]})
    assert "--out &lt;x&gt;" in repeat(data)
    assert "gramme 1.0" in repeat(data)
