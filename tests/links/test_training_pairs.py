"""Attention is trained for all parts only if a trial shows a gain, and each part is told without its own edges."""

import numpy as np
import pytest
from tests.links.graphs import planted_links

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.graph.canonical import in_name_order
from gramme.links import Evidence, GrammeLinks
from gramme.links.attention import LinkAttention
from gramme.links.estimator import NO_GAIN
from gramme.links.evidence import Gathered
from gramme.links.mixture import LayerExamples
from gramme.links.training_pairs import (
    attention_of_set_aside,
    easily_told,
    evidence_only,
    set_aside,
    trial,
    with_all_edges,
)


def random_layer(nodes: int, share: float) -> EdgeLayer:
    first, second = np.triu_indices(nodes, k=1)
    linked = np.random.default_rng(0).random(first.size) < share
    return EdgeLayer(nodes, first[linked], second[linked])


def test_edges_between_all_members_of_groups_are_noticed_and_others_are_not():
    layers = {
        "subject": MembershipLayer.from_codes(np.arange(60) % 6).to_edges(),
        "sparse": random_layer(60, 0.1),
        "dense": random_layer(60, 0.95),
        "none": EdgeLayer(60, [], []),
    }
    graph = MultilayerGraph(layers)
    (said,) = easily_told(graph, layers, {})
    assert said.startswith("In subject, nearly all neighbours of a node are linked")
    assert easily_told(graph, ["sparse", "dense", "none"], {}) == []


def test_a_direction_does_not_hide_groups():
    edges = MembershipLayer.from_codes(np.arange(60) % 6).to_edges()
    graph = MultilayerGraph({"cites": EdgeLayer(60, edges.source, edges.target, directed=True)})
    assert len(easily_told(graph, ["cites"], {})) == 1


def test_layers_of_groups_say_what_was_set_aside():
    column = MembershipLayer.from_codes(np.arange(60) % 6)
    clubs = MembershipLayer(60, np.repeat(np.arange(60), 2), np.arange(120) % 7)
    graph = MultilayerGraph({"column": column.to_edges(), "clubs": clubs.to_edges()})
    said = easily_told(graph, graph.layers, {"column": column, "clubs": clubs})
    assert [one.split(":")[0].split(",")[0] for one in said] == [
        "Who is in one group with whom is told from the other layers alone",
        "Whole memberships were set aside",
    ]


def test_groups_that_are_not_asked_about_are_named(monkeypatch):
    groups = MembershipLayer.from_codes(np.arange(60) % 6)
    beside_edges = MultilayerGraph({"talk": random_layer(60, 0.1), "team": groups})
    assert evidence_only(beside_edges, ["talk"]) == [
        "The groups of team serve as evidence; links are asked about in layers of edges."
    ]
    monkeypatch.setattr("gramme.links.training_pairs.MAX_IMPLIED_EDGES", 100)
    (said,) = evidence_only(MultilayerGraph({"team": groups, "club": groups.to_edges()}), ["club"])
    assert said.startswith("Who shares a group of team is not asked about, since more than 100")


def test_a_trial_tells_a_column_that_adds_something_from_one_that_does_not():
    random = np.random.default_rng(0)
    linked = np.arange(300) < 150
    example = LayerExamples(np.zeros((300, 1)), linked)
    guess = np.full(300, 0.5)
    before, after = trial(linked + random.normal(size=300), example, guess)
    assert after < 0.9 * before
    before, after = trial(random.normal(size=300), example, guess)
    assert after > 0.99 * before
    before, _ = trial(np.zeros(100), example, guess)
    assert before == pytest.approx(100 * np.log(2)), "the first examples alone"
    matched = LayerExamples(example.rows, linked, np.arange(300) >= 200)
    before, _ = trial(np.zeros(300), matched, guess)
    assert before == pytest.approx(200 * np.log(2)), "degree-matched pairs do not judge"


def test_examples_are_edges_uniform_pairs_and_half_as_many_degree_matched_ones():
    graph = planted_links(24)
    examples = set_aside(graph, "talk", Gathered(0, False, 0))
    edges = graph.layers["talk"].num_edges
    assert examples.linked.sum() == edges
    assert edges / 2 <= examples.matched.sum() < edges / 2 + 5, "five parts, each rounded up"
    assert not (examples.linked & examples.matched).any()
    known = graph.layers["talk"].to_scipy()[examples.pairs[:, 0], examples.pairs[:, 1]]
    assert ((known > 0) == examples.linked).all()


def test_some_unlinked_examples_have_their_evidence_with_all_edges_too(monkeypatch):
    monkeypatch.setattr("gramme.links.mixture.MAX_COMPARED", 7)
    graph = planted_links(24)
    examples = set_aside(graph, "talk", Gathered(0, False, 0))
    evidence = Evidence(graph, "talk")
    found = with_all_edges(examples, evidence)
    assert len(found.compared) == 7
    assert not found.linked[found.compared].any()
    assert not found.matched[found.compared].any()
    expected = evidence.of(examples.pairs[found.compared])
    assert (found.whole == expected).all()
    assert (found.whole != examples.rows[found.compared]).any(), "more edges, more evidence"
    assert with_all_edges(LayerExamples(examples.rows, examples.linked), evidence).whole is None


@pytest.fixture
def trained(monkeypatch):
    """Stand-ins for attention, whose rows know which edges they have seen."""
    graphs = []

    def stand_in(graph, seed):
        graphs.append(graph)
        rows = np.asarray(graph.layers["talk"].to_scipy().toarray(), dtype=np.float32)
        weights = {name: np.ones((1, len(rows)), np.float32) for name in graph.layers}
        return LinkAttention(rows[:, None], weights, dict.fromkeys(weights, np.zeros(1)))

    monkeypatch.setattr(LinkAttention, "trained", stand_in)
    return graphs


def test_each_part_is_told_by_attention_that_has_not_seen_its_edges(trained):
    graph = planted_links(24)
    column = attention_of_set_aside(graph, "talk", 0)
    examples = set_aside(graph, "talk", Gathered(0, False, 0))
    assert len(trained) == 5
    assert len(column) == len(examples.linked)
    edges = graph.layers["talk"].num_edges
    assert [edges - one.layers["talk"].num_edges for one in trained] == [
        len(part) for part in np.array_split(np.arange(edges), 5)
    ]


def test_a_trial_without_gain_costs_one_training_per_layer_tried(trained, monkeypatch):
    monkeypatch.setattr("gramme.links.training_pairs.LEAST_GAIN", 1.0)
    model = GrammeLinks().fit(planted_links(24))
    assert len(trained) == 2
    assert NO_GAIN in model.explanation_


def test_attention_that_tells_the_links_is_kept(monkeypatch):
    graph = in_name_order(planted_links(40)).graph
    known = {name: layer.to_scipy().toarray() for name, layer in graph.layers.items()}

    class Oracle:
        weights, offsets = {}, {}

        def of_pairs(self, name, pairs):
            return 3.0 * known[name][pairs[:, 0], pairs[:, 1]]

    monkeypatch.setattr(LinkAttention, "trained", lambda graph, seed: Oracle())
    told = []
    model = GrammeLinks().fit(graph, tell=lambda done, steps: told.append((done, steps)))
    assert model.gathered_.attention
    assert "attention" in set(model.ingredients_["ingredient"])
    assert told == [(done, 20) for done in range(1, 21)], (
        "five parts of two layers, a trial and a training for each, and two times three fits"
    )
