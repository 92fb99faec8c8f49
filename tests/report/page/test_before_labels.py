"""The pages of groups and of whom to ask: what they say, and that no name gets out of hand."""

import numpy as np
import pandas as pd
import pytest
from tests.grouping.planted import planted
from tests.report.page.graphs import section

import gramme
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.report.page.before_labels import ask_data, ask_table, groups_data, next_labels
from gramme.report.page.html import render

next_labels_section = section("fit", "next_labels")
HOSTILE = ["</script><b>", "=1+1", "\u202eabc", "a,b", "🐟", "<img src=x>"]


@pytest.fixture
def hostile() -> MultilayerGraph:
    layer = EdgeLayer(6, [0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
    return MultilayerGraph({"<i>talk</i>": layer}, nodes=HOSTILE)


def test_the_page_of_groups_names_groups_layers_and_trust():
    graph, group = planted()
    graph = graph.replace(labels=["abc"[one] for one in group])
    page = render(groups_data(gramme.groups(graph, repeats=4), config={"data": "club"}))
    for words in (
        "3 groups, 3 of them stable",
        "label a: 100 %",
        "Which layers support them",
        "These layers say next to nothing about the groups: <bdi>noise 2</bdi>",
        "the groups agree to 1.00 (adjusted Rand index",
        "gramme ask club --count 6 --out ask",
    ):
        assert words in page


def test_hostile_names_stay_text(hostile):
    found = gramme.groups(hostile, repeats=2)
    chosen = gramme.ask(hostile, count=2)
    nobody = np.zeros(6, dtype=bool)
    for page in (
        render(groups_data(found, config={"data": "<u>x</u>"})),
        render(ask_data(hostile, chosen, labelled=nobody, curve=None, config={"data": "<u>x</u>"})),
    ):
        for name in ("</script><b>", "<img src=x>", "<i>talk</i>", "<u>x</u>"):
            assert name not in page
        assert "&lt;img src=x&gt;" in page


def test_the_page_of_chosen_nodes_says_what_each_stands_for():
    graph, _ = planted()
    labels = np.full(120, None, dtype=object)
    labels[:20] = "a"
    graph = graph.replace(labels=labels)
    chosen = gramme.ask(graph, count=3)
    curve = pd.DataFrame({"labels": [20, 30], "more": [0, 10], "accuracy": [0.8, 0.9], "low": [0.7, 0.8], "high": 1.0})
    known = np.arange(120) < 20
    data = ask_data(graph, chosen, labelled=known, curve=curve, config={})
    page = render(data)
    assert "Label these <strong>3 nodes</strong> next" in page
    assert "20 of which have a label" in page
    assert "10 more" in page
    assert "80 to 100 %" in page
    assert data["chosen"][0]["size"] == len(chosen["stands_for"][0])
    without = render(ask_data(graph, chosen, labelled=known, curve=None, config={}))
    assert "What more labels would bring" not in without


def test_the_table_to_fill_in_has_an_empty_label_and_few_names():
    chosen = pd.DataFrame({"node": ["a"], "why": ["because"], "stands_for": [["a", *range(30)]]})
    table = ask_table(chosen)
    assert list(table.columns) == ["node", "label", "why", "stands_for"]
    assert table["label"].tolist() == [""]
    assert table["stands_for"][0].startswith("0; 1; 2;")
    assert table["stands_for"][0].endswith("19; and 10 more")


def test_the_page_of_a_fit_ends_with_whom_to_label_next():
    graph, group = planted(nodes=60, inside=0.3)
    labels = np.full(60, None, dtype=object)
    labels[::4] = ["abc"[one] for one in group[::4]]
    known = np.arange(60) % 4 < 2  # every second of them is set aside
    found = next_labels(graph, labels, known)
    assert len(found["chosen"]) == 5
    assert not {row["node"] for row in found["chosen"]} & set(np.flatnonzero(known).astype(str))
    assert [row["more"] for row in found["curve"]] == [0, 10, 20, 40]
    section = next_labels_section({"next_labels": found})
    assert "label these 5 nodes first" in section
    assert "Expected accuracy of label propagation" in section
    # a page from before there was this
    assert next_labels_section({}) == ""


@pytest.mark.parametrize("case", ["all labelled", "no ties", "large"])
def test_a_fit_with_nothing_to_ask_says_nothing(case, monkeypatch):
    graph, group = planted(nodes=30)
    labels = np.array(["abc"[one] for one in group], dtype=object)
    known = np.arange(30) < 20
    if case == "all labelled":
        known[:] = True
    elif case == "no ties":
        graph = MultilayerGraph({"a": EdgeLayer(30, [], [])})
    else:
        monkeypatch.setattr("gramme.report.page.before_labels.MAX_NEXT_ENTRIES", 10)
    assert next_labels(graph, np.where(known, labels, None), known) is None
