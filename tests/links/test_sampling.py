"""Candidates: unlinked pairs within three steps, the best few of each node, the same by dense products."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from tests.links.graphs import planted_links

from gramme import GrammeLinks
from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.links import sampling as candidates
from gramme.links.sampling import (
    MAX_HIDDEN_SHARE,
    MAX_LAYERS_LEARNED,
    candidate_pairs,
    hidden_share,
    layers_to_learn,
    rounds,
    unlinked_pairs,
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


@pytest.mark.parametrize("directed", [False, True])
def test_hidden_links_are_a_ninth_of_the_links_among_the_pairs_without_an_edge(directed):
    """A tenth of all links is missing, so there is one for every nine that are there."""
    nodes = 40
    one, other = np.nonzero(~np.eye(nodes, dtype=bool)) if directed else np.triu_indices(nodes, 1)
    chosen = np.random.default_rng(0).permutation(one.size)
    for share in (0.1, 0.5):
        some = chosen[: int(share * one.size)]
        layer = EdgeLayer(nodes, one[some], other[some], directed=directed)
        expected = some.size / 9 / (one.size - some.size)
        assert hidden_share(layer) == pytest.approx(expected)
    full = EdgeLayer(nodes, one[chosen[1:]], other[chosen[1:]], directed=directed)
    assert hidden_share(full) == MAX_HIDDEN_SHARE, "nearly all pairs are linked"


NOBODY = sp.csr_array((40, 0))


def random_graph(share: float, seed: int = 0) -> sp.csr_array:
    random = np.random.default_rng(seed)
    full = np.triu((random.random((40, 40)) < share) * (random.random((40, 40)) + 0.5), 1)
    return sp.csr_array(full + full.T)


def by_counting(matrix: sp.csr_array) -> np.ndarray:
    """Paths of length 2 and 3 between all nodes, by degrees, one by one."""
    full = matrix.toarray()
    root = 1 / np.sqrt(np.maximum(full.sum(axis=1), 1e-12))
    two, three = np.zeros((40, 40)), np.zeros((40, 40))
    for i, u, v in itertools.product(range(40), repeat=3):
        two[i, v] += full[i, u] * full[u, v] * root[u] * root[v]
    np.fill_diagonal(two, 0)
    for i, v, j in itertools.product(range(40), repeat=3):
        three[i, j] += two[i, v] * full[v, j] * root[j]
    return two + three


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("share", [0.02, 0.2, 0.6])
def test_the_best_few_pairs_of_each_node_by_paths(dense, share, monkeypatch):
    monkeypatch.setattr(candidates, "MAX_DENSE_NODES", 100 if dense else 0)
    monkeypatch.setattr(candidates, "DENSE_SHARE", 0.0)
    monkeypatch.setattr(candidates, "CANDIDATES_PER_NODE", 6)
    graph = random_graph(share)
    found = candidate_pairs(graph, NOBODY, graph, directed=False)
    score = by_counting(graph)
    np.fill_diagonal(score, 0)
    expected = set()
    for one in range(40):
        best = [other for other in np.argsort(-score[one])[:6] if score[one, other] > 1e-9]
        expected |= {tuple(sorted((one, int(other)))) for other in best}
    linked = graph.toarray() > 0
    assert {tuple(pair) for pair in found.tolist()} == {pair for pair in expected if not linked[pair]}


def test_candidates_of_one_node_are_all_within_three_steps(monkeypatch):
    ring = sp.csr_array(np.roll(np.eye(40), 1, axis=1) + np.roll(np.eye(40), -1, axis=1))
    for dense in (False, True):
        monkeypatch.setattr(candidates, "MAX_DENSE_NODES", 100 if dense else 0)
        monkeypatch.setattr(candidates, "DENSE_SHARE", 0.0)
        found = candidate_pairs(ring, NOBODY, ring, directed=False, sources=np.array([10]))
        assert found.tolist() == [[7, 10], [8, 10], [10, 12], [10, 13]]
