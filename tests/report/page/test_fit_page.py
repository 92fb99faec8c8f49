import itertools
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.report.page.graphs import HOSTILE, hostile_graph, two_blocks

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods import METHODS, GrammeFusion, GrammeSG, LabelPropagation, NodeClassifier
from gramme.methods.attention.estimator import AttentionModel
from gramme.report.page import Section, fit_data, fit_page, read_data, register_section, write_fit_page
from gramme.report.page import node_details as nodes
from gramme.report.page.fit_facts import command
from gramme.report.page.html import render

ESTIMATE = {
    "kind": "holdout",
    "accuracy": 0.9,
    "accuracy_ci95": [0.8, 0.95],
    "nodes": 50,
    "confusion": {"classes": ["left", "right"], "counts": [[20, 4], [1, 25]]},
    "guess": {"class": "right", "accuracy": 0.52},
    "against_guess": "better",
}
UNEQUAL = ESTIMATE | {
    "accuracy": 0.98,
    "accuracy_ci95": [0.957, 0.991],
    "unequal_classes": True,
    "balanced_accuracy": 0.5,
    "balanced_accuracy_ci95": [0.49, 0.7],
    "recall": {"ok": {"nodes": 294, "found": 294, "recall": 1.0}, "fraud": {"nodes": 6, "found": 0, "recall": 0.0}},
    "guess": {"class": "ok", "accuracy": 0.98},
    "against_guess": "no better",
}


class Markup(HTMLParser):
    """Tags in order, and every attribute that runs or loads something."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.active: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.active += [
            (key, value) for key, value in attrs
            if key.startswith("on") or key in ("style", "src") or (key == "href" and not str(value).startswith("#"))
        ]  # fmt: skip


@pytest.fixture(scope="module")
def graph() -> MultilayerGraph:
    return two_blocks()


@pytest.fixture(scope="module")
def model(graph) -> GrammeFusion:
    return GrammeFusion(ensemble=3, epochs=20, random_state=0, progress=False).fit(graph)


def test_the_page_answers_what_how_sure_why_and_how_to_repeat(model, graph, tmp_path: Path) -> None:
    config = {"data": "blocks.csv", "method": "gramme-fusion", "seed": 3, "parameters": {"depth": 2}}
    path = write_fit_page(tmp_path / "a.html", model, graph, estimate=ESTIMATE, config=config)
    text = path.read_text(encoding="utf-8")
    for words in (
        "learned from the labels of", "90.0 %", "80.0 to 95.0 %", "set aside before learning",
        "Of 100 further nodes like these, expect about 90", "the most common class, would be right for 52 %",
        "Which layers matter", "standard deviation over the 3 networks",
        "gramme fit blocks.csv --method gramme-fusion --seed 3", "10.1109/TNNLS.2019.2948797",
    ):  # fmt: skip
        assert words in text
    markup = Markup(text)
    assert markup.active == []
    headings = [int(tag[1]) for tag in markup.tags if re.fullmatch(r"h[1-6]", tag)]
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(headings))
    assert markup.tags.count("table") == markup.tags.count("caption")


def test_the_page_is_made_again_from_its_own_data(model, graph, tmp_path: Path) -> None:
    path = write_fit_page(tmp_path / "a.html", model, graph, estimate=ESTIMATE, config={"data": "x"})
    assert render(read_data(path)) == path.read_text(encoding="utf-8")
    assert [one.name for one in tmp_path.iterdir()] == ["a.html"]


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_has_a_page(graph, name: str) -> None:
    if METHODS[name].extra:
        pytest.importorskip({"walks": "gensim", "pyg": "torch_geometric"}[METHODS[name].extra])
    model = METHODS[name].estimator()
    quick = {
        "epochs": 3,
        "ensemble": 1,
        "folds": 2,
        "progress": False,
        "random_state": 0,
        "walks_per_node": 1,
        "walk_length": 5,
        "dim": 4,
        "samples": 50,
        "common_dim": 4,
        "common_epochs": 2,
        "layer_epochs": 1,
    }
    model.set_params(**{key: value for key, value in quick.items() if key in model.get_params()})
    data = fit_data(model.fit(graph), graph)
    text = render(data)
    assert ("no embedding" in text) == (not hasattr(model, "embedding_"))
    assert ("ingredients of the prediction" in text) == (name == "gramme-auto")
    assert ("cannot say which of them matter" in text) == (data["layers"] is None)
    assert ('value="before"' in text) == isinstance(model, AttentionModel)
    assert ('id="training"' in text) == hasattr(model, "history_")


@pytest.mark.parametrize("count", [2, 3])
def test_the_smallest_graphs_have_a_page(count: int) -> None:
    graph = MultilayerGraph({"a": EdgeLayer(count, [0], [1])}, labels=["x", "y", None][:count])
    for model in (GrammeFusion(ensemble=1, epochs=2, progress=False), LabelPropagation()):
        text = render(fit_data(model.fit(graph), graph))
        assert "No accuracy was measured" in text


def test_many_layers_and_long_histories_are_cut_with_a_word(model) -> None:
    layers = {f"q{k}": MembershipLayer.from_codes([0, 1, k % 2, 1]) for k in range(30)}
    graph = MultilayerGraph(layers, labels=["a", "b", None, None])
    text = render(fit_data(LabelPropagation().fit(graph), graph))
    assert "10 further layers" in text
    assert "and 26 more" in text


def test_a_large_graph_is_sampled_and_the_page_says_so(model, graph, monkeypatch) -> None:
    monkeypatch.setattr(nodes.NodeTable.chosen, "__defaults__", (40,))
    data = fit_data(model, graph)
    assert data["nodes"]["count"] == len(data["nodes"]["names"]) == 40
    assert "Shown are 40 of 60 nodes" in render(data)


@pytest.mark.parametrize("kind", [GrammeFusion, GrammeSG])
def test_before_training_shows_the_features_the_network_started_from(graph, kind) -> None:
    options = {"features": "random", "feature_dim": 5, "random_state": 0, "progress": False}
    model = kind(ensemble=1, epochs=2, **options).fit(graph)
    whole = fit_page._starting_features(model, graph, np.arange(60))
    assert whole is not None
    assert whole.shape == (60, 5 if kind is GrammeFusion else 15)
    expected = model.start_features(graph).reshape(-1, 60, 5)
    assert np.array_equal(whole, np.concatenate(list(expected), axis=1))
    some = fit_page._starting_features(model, graph, np.array([7, 30]))
    assert np.array_equal(some, whole[[7, 30]])


def test_names_beyond_all_measure_are_shortened_together(model, graph, monkeypatch) -> None:
    monkeypatch.setattr(nodes, "_MAX_TEXT_CHARACTERS", 100)
    monkeypatch.setattr(nodes, "_MAX_NAME_CHARACTERS", 5)
    data = fit_data(model, graph)
    assert max(map(len, data["nodes"]["names"])) == 5
    assert "Long names are shortened" in render(data)


@pytest.mark.parametrize(
    ("estimate", "words"),
    [
        (None, "No accuracy was measured"),
        ({"kind": "none", "note": "too few <labels>"}, "(too few &lt;labels&gt;)"),
        ({"kind": "holdout", "accuracy": 0.5}, "50.0 %"),
        (ESTIMATE | {"against_guess": "unclear"}, "not clearly better than always saying “right”"),
        (UNEQUAL, "<strong>no better than always saying “ok”</strong>"),
        (UNEQUAL, "<strong>50.0 %</strong> balanced accuracy on 50 held-out nodes"),
        (UNEQUAL, "Identified of each: <bdi>fraud</bdi>: 0 of 6 (0 %); <bdi>ok</bdi>: 294 of 294 (100 %)."),
        (ESTIMATE | {"label_thresholds": {"left": 0.9}}, "<bdi>left</bdi> 90.0 %"),
        (ESTIMATE | {"kind": "cross-validation", "folds": 5}, "cross-validated estimate from 50 labelled nodes"),
        (ESTIMATE | {"confusion": {"classes": [], "counts": []}}, "90.0 %"),
    ],
    ids=["absent", "none", "bare", "unclear", "no-better", "balanced", "recall", "thresholds", "folds",
         "empty-confusion"],
)  # fmt: skip
def test_an_estimate_may_lack_anything(model, graph, estimate, words: str) -> None:
    assert words in render(fit_data(model, graph, estimate=estimate))


def test_what_an_automatic_method_leaned_on_is_shown(graph) -> None:
    model: NodeClassifier = LabelPropagation().fit(graph)
    model.explanation_ = "Mostly <friends>."
    model.ingredients_ = pd.DataFrame({"ingredient": ["one & all"], "weight": [0.75]})
    text = render(fit_data(model, graph))
    assert "Mostly &lt;friends&gt;." in text
    assert "<td>one &amp; all</td><td>75.0 %</td>" in text


def test_hostile_text_adds_no_markup() -> None:
    graph = hostile_graph()
    model = LabelPropagation().fit(graph)
    confusion = {"classes": HOSTILE[:2], "counts": np.eye(2, dtype=int).tolist()}
    estimate = ESTIMATE | {"confusion": confusion, "note": HOSTILE[0], "kind": "cross-validation"}
    config = {"data": HOSTILE[0], "method": HOSTILE[1], HOSTILE[2]: HOSTILE[3], "command": HOSTILE[5]}
    markup = Markup(render(fit_data(model, graph, estimate=estimate, config=config)))
    assert markup.active == []
    assert markup.tags.count("script") == 2
    assert not {"img", "iframe"} & set(markup.tags)


def test_the_command_is_quoted_for_a_shell() -> None:
    assert command({"command": ["gramme", "fit", "my data.csv"]}) == "gramme fit 'my data.csv'"
    assert command({"command": "gramme fit x"}) == "gramme fit x"
    assert command({"data": "$(rm -rf)"}).startswith("gramme fit '$(rm -rf)'")


def test_registered_sections_stand_at_the_end_and_are_escaped(tmp_path, monkeypatch):
    monkeypatch.setattr(fit_page.SECTIONS, "_known", {})
    hostile = "</script><b onclick='x'>"
    table = pd.DataFrame({hostile: [hostile, 2.5], "n": [1, None]})
    register_section(Section("one", "A text", lambda model, graph: f"{graph.num_nodes} nodes, {hostile}"))
    register_section(Section("two", "A table", lambda model, graph: table))
    register_section(Section("three", "Nothing", lambda model, graph: None))
    graph = two_blocks()
    path = write_fit_page(tmp_path / "fit.html", LabelPropagation().fit(graph), graph)
    text = path.read_text("utf-8")
    assert text.index('id="settings"') < text.index('id="one"') < text.index('id="two"')
    assert 'id="three"' not in text
    assert hostile not in text
    assert render(read_data(path)) == text
