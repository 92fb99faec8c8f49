"""Pairs to learn from: edges that are set aside with what gives them away, and pairs without an edge."""

import numpy as np
import pytest
from tests.links.graphs import planted_links

from gramme import GrammeLinks
from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.links import Evidence
from gramme.links.evidence import Gathered
from gramme.links.mixture import LayerExamples
from gramme.links.sampling import (
    MAX_LAYERS_LEARNED,
    easily_told,
    evidence_only,
    layers_to_learn,
    rounds,
    set_aside,
    unlinked_pairs,
    with_all_edges,
)


def test_weights_that_vanish_when_they_are_divided_are_refused():
    source = np.arange(19)
    layer = EdgeLayer(20, source, source + 1, weight=np.full(19, 5e-324))
    with pytest.raises(DataError, match=r"the layer 'talk' has a weight of 4\.94066e-324"):
        GrammeLinks(random_state=0).fit(MultilayerGraph({"talk": layer}))


def test_links_of_hundreds_of_layers_are_asked_for_by_name():
    layers = {f"day {number}": EdgeLayer(4, [0, 1], [1, 2]) for number in range(MAX_LAYERS_LEARNED + 1)}
    graph = MultilayerGraph(layers)
    with pytest.raises(DataError, match="for 201 of them; name at most 200 with layers"):
        layers_to_learn(graph, None)
    assert layers_to_learn(graph, ["day 7"]) == ["day 7"]


def keys(pairs) -> set[tuple[int, int]]:
    return {(int(a), int(b)) for a, b in pairs}


@pytest.mark.parametrize("directed", [False, True])
def test_an_edge_set_aside_is_gone_in_its_layer_and_stays_in_others(directed):
    graph = planted_links(directed=directed)
    whole = graph.layers["talk"].to_scipy()
    seen = set()
    for one in rounds(graph, "talk", np.random.default_rng(0)):
        left = one.graph.layers["talk"].to_scipy()
        assert not left[one.linked[:, 0], one.linked[:, 1]].sum()
        if not directed:
            # held out in one direction and present in the other would be the answer itself
            assert not left[one.linked[:, 1], one.linked[:, 0]].sum()
        assert (left.nnz + len(one.linked) * (1 if directed else 2)) == whole.nnz
        assert one.graph.layers["mail"] == graph.layers["mail"], "the protocol leaves others visible"
        assert not whole[one.unlinked[:, 0], one.unlinked[:, 1]].sum()
        seen |= keys(one.linked)
    assert len(seen) == graph.layers["talk"].num_edges, "every edge is an example once"


def test_unlinked_pairs_are_distinct_and_by_degree_where_asked():
    star = EdgeLayer(200, np.zeros(100, dtype=int), np.arange(1, 101)).to_scipy()
    random = np.random.default_rng(0)
    uniform = unlinked_pairs(star, 300, random)
    assert len(keys(uniform)) == 300
    assert (uniform[:, 0] != uniform[:, 1]).all()
    matched = unlinked_pairs(star, 300, random, degree_matched=True)
    # nodes without edges are never drawn by degree
    assert matched.max() <= 100
    assert uniform.max() > 100


def test_a_full_graph_has_no_unlinked_pairs_and_ends():
    full = MembershipLayer.from_codes([0, 0, 0]).to_scipy()
    assert len(unlinked_pairs(full, 10, np.random.default_rng(0))) == 0


def test_a_layer_without_edges_is_named():
    graph = MultilayerGraph({"empty": EdgeLayer(3, [], [])})
    with pytest.raises(DataError, match="the layer 'empty' has no edges; at least 2"):
        next(iter(rounds(graph, "empty", np.random.default_rng(0))))


def clubs(seed: int = 0) -> MembershipLayer:
    """Thirty people in two or three of ten clubs each."""
    random = np.random.default_rng(seed)
    members = [random.choice(10, size=2 + place % 2, replace=False) for place in range(30)]
    nodes = np.repeat(np.arange(30), [len(one) for one in members])
    return MembershipLayer(30, nodes, np.concatenate(members))


def test_memberships_are_set_aside_whole_so_that_no_group_gives_its_members_away():
    groups = clubs()
    graph = MultilayerGraph({"club": groups.to_edges()})
    known = graph.layers["club"].to_scipy()
    seen = set()
    for one in rounds(graph, "club", np.random.default_rng(0), groups):
        left = one.graph.layers["club"].to_scipy()
        assert not left[one.linked[:, 0], one.linked[:, 1]].sum()
        assert known[one.linked[:, 0], one.linked[:, 1]].all()
        gone = (known > 0).astype(int) - (left > 0).astype(int)
        assert gone.nnz - len(gone.data[gone.data == 0]) == 2 * len(one.linked), "all that went"
        assert not known[one.unlinked[:, 0], one.unlinked[:, 1]].sum()
        seen |= keys(one.linked)
    shared = (groups.incidence() @ groups.incidence().T).toarray()
    once = np.argwhere(np.triu(shared == 1, k=1))
    assert keys(once) <= seen, "an edge of one group goes with either of its ends"


def test_no_more_links_of_large_groups_go_than_can_be_learned_from(monkeypatch):
    monkeypatch.setattr("gramme.links.sampling.MAX_LINKED", 7)
    groups = clubs()
    graph = MultilayerGraph({"club": groups.to_edges()})
    for one in rounds(graph, "club", np.random.default_rng(0), groups):
        assert len(keys(one.linked)) == len(one.linked) == 7


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
    monkeypatch.setattr("gramme.links.sampling.MAX_IMPLIED_EDGES", 100)
    (said,) = evidence_only(MultilayerGraph({"team": groups, "club": groups.to_edges()}), ["club"])
    assert said.startswith("Who shares a group of team is not asked about, since more than 100")


def test_examples_are_edges_uniform_pairs_and_half_as_many_degree_matched_ones():
    graph = planted_links(24)
    examples = set_aside(graph, "talk", Gathered(0), seed=0)
    edges = graph.layers["talk"].num_edges
    assert examples.linked.sum() == edges
    assert edges / 2 <= examples.matched.sum() < edges / 2 + 5, "five parts, each rounded up"
    assert not (examples.linked & examples.matched).any()
    known = graph.layers["talk"].to_scipy()[examples.pairs[:, 0], examples.pairs[:, 1]]
    assert ((known > 0) == examples.linked).all()


def test_some_unlinked_examples_have_their_evidence_with_all_edges_too(monkeypatch):
    monkeypatch.setattr("gramme.links.mixture.MAX_COMPARED", 7)
    graph = planted_links(24)
    examples = set_aside(graph, "talk", Gathered(0), seed=0)
    evidence = Evidence(graph, "talk")
    found = with_all_edges(examples, evidence)
    assert len(found.compared) == 7
    assert not found.linked[found.compared].any()
    assert not found.matched[found.compared].any()
    expected = evidence.of(examples.pairs[found.compared])
    assert (found.whole == expected).all()
    assert (found.whole != examples.rows[found.compared]).any(), "more edges, more evidence"
    assert with_all_edges(LayerExamples(examples.rows, examples.linked), evidence).whole is None
