"""A high figure that says little is called so: for layers of groups, and for edges that look like groups."""

import numpy as np

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.links.easily_told import easily_told, evidence_only


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
    monkeypatch.setattr("gramme.links.easily_told.MAX_IMPLIED_EDGES", 100)
    (said,) = evidence_only(MultilayerGraph({"team": groups, "club": groups.to_edges()}), ["club"])
    assert said.startswith("Who shares a group of team is not asked about, since more than 100")
