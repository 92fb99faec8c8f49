"""Walks have exactly the distribution of walks on the explicit weighted graph, whatever the layer is made of."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats
from tests.processes import in_another_process
from tests.strategies import layers

from gramme.graph import EdgeLayer, MembershipLayer
from gramme.ops.steps import joined
from gramme.ops.walk_graph import walk_graph
from gramme.ops.walks import Walks

random = np.random.default_rng(0)
EDGES = ([0, 0, 0, 1, 1, 2, 3, 4, 5], [1, 2, 3, 2, 4, 5, 4, 5, 6])
LAYERS = {
    "edges": EdgeLayer(7, *EDGES),
    "weighted edges": EdgeLayer(7, *EDGES, [1, 5, 0.5, 2, 3, 1, 9, 0.2, 2]),
    "directed edges": EdgeLayer(
        7, [0, 0, 1, 2, 2, 3, 4, 4, 5, 6], [1, 2, 2, 0, 3, 4, 0, 5, 6, 0], directed=True
    ),
    "one group each": MembershipLayer.from_codes([0, 0, 0, 1, 1, 0, 1], range(2)),
    "several groups": MembershipLayer(
        7, [0, 1, 2, 0, 1, 3, 4, 5, 2, 3, 5, 6, 6, 0], [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 2, 4]
    ),
}


def adjacency(layer):
    return layer.to_edges().to_scipy().toarray()


def exact(matrix, p, q):
    """P(next | came from, at): the definition of node2vec, entry (t, v, x); row -1 for the first step."""
    bias = np.where(matrix > 0, 1.0, 1 / q)  # matrix[t, x] > 0: x is next to t
    np.fill_diagonal(bias, 1 / p)
    second = matrix[None] * bias[:, None, :]
    first = matrix[None]
    found = np.concatenate([second, first])
    return found / np.maximum(found.sum(axis=2, keepdims=True), 1e-300)


def counted(walks, nodes, passes):
    counts = np.zeros((nodes + 1, nodes, nodes))
    for number in range(passes):
        made, _ = walks.one_pass(number)
        before = np.full_like(made, nodes)
        before[:, 2:] = made[:, :-2]
        steps = made[:, 1:] >= 0
        np.add.at(counts, (before[:, 1:][steps], made[:, :-1][steps], made[:, 1:][steps]), 1)
    return counts


def assert_follows(counts, expected):
    """A chi-square test over all states (came from, at) together."""
    statistic, freedom = 0.0, 0
    for seen, share in zip(
        counts.reshape(-1, counts.shape[2]), expected.reshape(-1, counts.shape[2]), strict=True
    ):
        if seen.sum() == 0:
            continue
        assert (seen[share == 0] == 0).all(), "a step that cannot be"
        wanted = share * seen.sum()
        often = wanted >= 5
        if not often.any():
            continue
        # What is too rare for the test by itself counts together, with something frequent if need be
        wanted = np.append(wanted[often], wanted[~often].sum())
        found = np.append(seen[often], seen[~often].sum())
        if wanted[-1] < 5:
            wanted, found = (np.append(one[:-2], one[-2] + one[-1]) for one in (wanted, found))
        statistic += ((found - wanted) ** 2 / wanted).sum()
        freedom += wanted.size - 1
    assert freedom >= 3
    assert 1e-4 < stats.chi2.sf(statistic, freedom) < 1 - 1e-4


@pytest.mark.parametrize(("p", "q"), [(1, 1), (0.25, 4), (4, 0.5), (1e-4, 1), (1, 1e4), (1e3, 1e3)])
@pytest.mark.parametrize("kind", LAYERS)
def test_steps_have_the_exact_distribution(kind, p, q):
    layer = LAYERS[kind]
    walks = Walks.of([layer], length=60, p=p, q=q, seed=5)
    expected = exact(adjacency(layer), p, q)
    if p == q == 1:
        expected[:-1] = expected[-1:]
    assert_follows(counted(walks, 7, 150), expected)


@pytest.mark.parametrize(("p", "q"), [(1, 1), (0.5, 2)])
def test_on_merged_layers_weights_add(p, q):
    several = [LAYERS["weighted edges"], LAYERS["several groups"], LAYERS["edges"]]
    walks = Walks.of(several, length=60, p=p, q=q)
    assert_follows(counted(walks, 7, 150), exact(sum(adjacency(layer) for layer in several), p, q))


def test_hopping_walks_mix_the_layers_steps():
    """Two layers over disjoint node pairs of a square: only hopping reaches every node."""
    first, second = EdgeLayer(4, [0, 2], [1, 3]), EdgeLayer(4, [1, 3], [2, 0])
    still = Walks.of([first, second], length=40, hop=0.0)
    counts = counted(still, 4, 50).sum(axis=0)
    assert (counts > 0).sum() == 8  # a walk stays in the layer it started in
    counts = counted(Walks.of([first, second], length=40, hop=0.5, seed=2), 4, 200).sum(axis=0)
    assert counts[0] / counts[0].sum() == pytest.approx([0, 0.5, 0, 0.5], abs=0.02)
    always = Walks.of([first, second], length=5, hop=1.0)
    for walk in always.one_pass(0)[0]:
        assert np.unique(walk).size == 4  # round the square


def test_second_order_counts_within_a_layer_while_hopping():
    layer = LAYERS["several groups"]
    walks = Walks.of([layer], length=60, p=0.25, q=4, hop=0.5, seed=1)
    assert_follows(counted(walks, 7, 150), exact(adjacency(layer), 0.25, 4))


def test_isolated_nodes_walk_alone_and_absent_ones_not_at_all():
    layer = EdgeLayer(5, [0], [1], nodes=[0, 1, 3])
    walks, lengths = Walks.of([layer], length=4).one_pass(0)
    assert sorted(walks[:, 0].tolist()) == [0, 1, 3]
    alone = walks[:, 0] == 3
    assert lengths[alone] == [1]
    assert (walks[alone, 1:] == -1).all()
    assert (lengths[~alone] == 4).all()
    assert Walks.of([layer], length=1).one_pass(0)[0].shape == (3, 1)


@pytest.mark.parametrize("hop", [None, 0.5])
def test_layers_without_nodes_or_edges_do_no_harm(hop):
    nobody = EdgeLayer(3, [], [], nodes=[])
    groups = MembershipLayer(3, [], [])
    one = MembershipLayer(3, [0, 1], [0, 1])  # groups of one member
    walks, lengths = Walks.of([nobody, groups], length=4, hop=hop).one_pass(0)
    assert walks.shape == (0, 4)
    walks, lengths = Walks.of([nobody, groups, one], length=4, hop=hop).one_pass(0)
    assert lengths.tolist() == [1, 1]
    both = Walks.of([nobody, EdgeLayer(3, [0], [2])], length=4, hop=hop)
    assert sorted(both.one_pass(0)[1].tolist()) == [1, 4, 4]


def test_walks_end_where_no_edge_leads_on():
    chain = EdgeLayer(3, [0, 1], [1, 2], directed=True)
    walks, lengths = Walks.of([chain], length=5).one_pass(0)
    found = {
        tuple(walk[:length]) for walk, length in zip(walks.tolist(), lengths.tolist(), strict=True)
    }
    assert found == {(0, 1, 2), (1, 2), (2,)}


def test_a_walk_depends_on_seed_pass_and_start_alone():
    layer = LAYERS["weighted edges"]
    walks, _ = Walks.of([layer], length=10, seed=1).one_pass(3)
    again, _ = Walks.of([layer], length=10, seed=1).one_pass(3)
    assert (walks == again).all()
    part = Walks.of([layer], length=10, seed=1)
    fewer = Walks(part.graph, 7, np.array([4, 2]), 10, 1.0, 1.0, None, part.seed).one_pass(3)[0]
    for walk in fewer:
        assert (walk == walks[walks[:, 0] == walk[0]][0]).all()
    for seed, number in ((2, 3), (1, 4)):
        assert (Walks.of([layer], length=10, seed=seed).one_pass(number)[0] != walks).any()


def walked() -> str:
    layer = EdgeLayer(4, [0, 1, 2], [1, 2, 3])
    return str(Walks.of([layer], length=9, p=0.5, q=2, seed=7).one_pass(1)[0].tolist())


def test_walks_are_the_same_in_another_process(tmp_path):
    assert in_another_process(walked, tmp_path) == walked()


@settings(max_examples=30)
@given(layers(6))
def test_neighbours_and_masses_are_those_of_the_layer(layer):
    graph = walk_graph([layer])
    matrix = adjacency(layer)
    assert graph.mass == pytest.approx(matrix.sum(axis=1))
    for one in range(6):
        for other in range(6):
            if one != other:
                assert joined(graph, one, other, other) == (matrix[one, other] > 0)


def test_memory_is_linear_in_memberships():
    layer = MembershipLayer.from_codes(np.zeros(100_000, dtype=int), range(1))  # five billion edges
    walks = Walks.of([layer], length=3)
    assert sum(array.nbytes for array in walks.graph) < 10e6
    made, lengths = walks.one_pass(0)
    assert (lengths == 3).all()
    assert (made[:, 0] != made[:, 1]).all()
