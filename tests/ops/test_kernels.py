"""The compiled training against the same updates written with numpy."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.processes import in_another_process
from tests.strategies import layers

from gramme.graph import EdgeLayer, MembershipLayer
from gramme.ops import kernels as kernel
from gramme.ops.kernels import (
    Walks,
    _on_device,
    alias_tables,
    below,
    derived_seed,
    drawn,
    edge_vectors,
    joined,
    keyed_mask,
    start,
    uniform,
    walk_graph,
)


def drawn_counter_random(count, seed=0, first=0, second=0):
    stream = np.zeros(1, np.uint64)
    start(stream, derived_seed(seed), first, second)
    return np.array([uniform(stream) for _ in range(count)])


def test_numbers_are_uniform_and_uncorrelated():
    values = drawn_counter_random(20_000)
    assert values.min() >= 0
    assert values.max() < 1
    assert stats.kstest(values, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(values[:-1], values[1:])[0, 1]) < 0.03


def test_first_numbers_of_neighbouring_streams_are_uniform_too():
    values = np.array([drawn_counter_random(1, first=i, second=j)[0] for i in range(60) for j in range(60)])
    assert stats.kstest(values, "uniform").pvalue > 1e-3
    assert np.unique(values).size == values.size


def test_a_stream_belongs_to_its_numbers():
    assert (drawn_counter_random(5, 1, 2, 3) == drawn_counter_random(5, 1, 2, 3)).all()
    for other in ((2, 2, 3), (1, 3, 3), (1, 2, 4), (1, 3, 2)):
        assert (drawn_counter_random(5, 1, 2, 3) != drawn_counter_random(5, *other)).all()


def test_below_covers_its_range():
    stream = np.zeros(1, np.uint64)
    start(stream, derived_seed(0), 0, 0)
    assert {below(stream, 3) for _ in range(200)} == {0, 1, 2}


WEIGHTS = st.lists(st.sampled_from([0.0, 1e-9, 0.1, 1.0, 3.0, 1e6]), max_size=8)


def shares(indptr, accept, alias):
    """The probability of each place within its segment, from the tables."""
    found = np.zeros(accept.size)
    for low, high in itertools.pairwise(indptr):
        for k in range(low, high):
            found[k] += accept[k] / (high - low)
            found[alias[k]] += (1 - accept[k]) / (high - low)
    return found


@given(st.lists(WEIGHTS, min_size=1, max_size=4))
def test_tables_hold_the_distribution_of_every_segment(segments):
    indptr = np.cumsum([0, *(len(one) for one in segments)]).astype(np.int64)
    weights = np.array([weight for one in segments for weight in one], dtype=float)
    accept, alias = alias_tables(indptr, weights)
    found = shares(indptr, accept, alias)
    for low, high in itertools.pairwise(indptr):
        part = weights[low:high]
        if part.sum() > 0:
            assert found[low:high] == pytest.approx(part / part.sum(), abs=1e-12)
            assert (found[low:high][part == 0] == 0).all()


def test_draws_follow_the_weights():
    weights = np.array([9.0, 1.0, 2.0, 0.0, 5.0])
    indptr = np.array([0, 1, 5])
    accept, alias = alias_tables(indptr, weights)
    stream = np.zeros(1, np.uint64)
    start(stream, derived_seed(3), 0, 0)
    counts = np.bincount([drawn(accept, alias, 1, 5, stream) for _ in range(20_000)], minlength=5)
    assert counts[0] == counts[3] == 0
    assert counts[1:] / 20_000 == pytest.approx(weights[1:] / 8, abs=0.015)


def test_without_tables_all_are_alike():
    none, stream = np.zeros(0), np.zeros(1, np.uint64)
    start(stream, derived_seed(0), 0, 0)
    places = [drawn(none, none.astype(np.int64), 10, 13, stream) for _ in range(3000)]
    assert np.bincount(places)[10:] / 3000 == pytest.approx(np.ones(3) / 3, abs=0.04)


LIKE = torch.zeros(1, dtype=torch.float64)


def test_the_share_that_is_kept_and_its_size():
    mask = keyed_mask(None, 2000, 50, 3, 0, 0.7, LIKE)
    assert set(mask.unique().tolist()) == {0.0, 1 / 0.7}
    assert abs(float((mask > 0).double().mean()) - 0.7) < 0.01
    assert abs(float((mask > 0).double().mean(0).std())) < 0.05


def test_rows_belong_to_their_keys():
    whole = keyed_mask(None, 40, 8, 1, 2, 0.5, LIKE)
    some = torch.tensor([39, 0, 17])
    assert torch.equal(keyed_mask(some, 3, 8, 1, 2, 0.5, LIKE), whole[some])


def test_seed_and_call_change_it():
    first = keyed_mask(None, 40, 8, 1, 0, 0.5, LIKE)
    assert not torch.equal(first, keyed_mask(None, 40, 8, 1, 1, 0.5, LIKE))
    assert not torch.equal(first, keyed_mask(None, 40, 8, 2, 0, 0.5, LIKE))


def test_a_graphics_card_would_draw_the_same():
    from gramme.ops.kernels import derived_seed

    kept = keyed_mask(None, 60, 9, 5, 7, 0.4, LIKE) > 0
    start, below = int(derived_seed(5, 7)), int(0.4 * 2**53)
    assert torch.equal(_on_device(None, 60, 9, start, below, LIKE) > 0, kept)


random = np.random.default_rng(0)
EDGES = ([0, 0, 0, 1, 1, 2, 3, 4, 5], [1, 2, 3, 2, 4, 5, 4, 5, 6])
LAYERS = {
    "edges": EdgeLayer(7, *EDGES),
    "weighted edges": EdgeLayer(7, *EDGES, [1, 5, 0.5, 2, 3, 1, 9, 0.2, 2]),
    "directed edges": EdgeLayer(7, [0, 0, 1, 2, 2, 3, 4, 4, 5, 6], [1, 2, 2, 0, 3, 4, 0, 5, 6, 0], directed=True),
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
    for seen, share in zip(counts.reshape(-1, counts.shape[2]), expected.reshape(-1, counts.shape[2]), strict=True):
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
    found = {tuple(walk[:length]) for walk, length in zip(walks.tolist(), lengths.tolist(), strict=True)}
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


TWO_CLIQUES = MembershipLayer.from_codes([0] * 20 + [1] * 20, range(2))
HOW = {"dim": 8, "samples": 20_000, "negative": 5, "seed": 0}


def similarity(vectors):
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit @ unit.T


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("layer", [TWO_CLIQUES, TWO_CLIQUES.to_edges()], ids=["groups", "edges"])
def test_members_of_a_clique_are_alike(layer, order):
    found = similarity(edge_vectors(walk_graph([layer]), order=order, **HOW))
    same = np.equal.outer(np.arange(40) < 20, np.arange(40) < 20) & ~np.eye(40, dtype=bool)
    assert found[same].mean() > found[~same & ~np.eye(40, dtype=bool)].mean() + 0.3


def test_second_order_finds_nodes_with_the_same_neighbours():
    """A complete bipartite graph: those of one side are not joined but have the same neighbours."""
    sides = np.arange(10) < 5
    source, target = np.nonzero(np.outer(sides, ~sides))
    found = similarity(edge_vectors(walk_graph([EdgeLayer(10, source, target)]), order=2, **HOW))
    same = np.equal.outer(sides, sides) & ~np.eye(10, dtype=bool)
    assert found[same].mean() > found[~np.equal.outer(sides, sides)].mean() + 0.3


def test_nodes_without_edges_are_zero_and_targets_are_not():
    chain = EdgeLayer(4, [0, 1], [1, 2], directed=True)
    vectors = edge_vectors(walk_graph([chain]), order=2, **HOW)
    assert vectors.any(axis=1).tolist() == [True, True, True, False]
    empty = walk_graph([EdgeLayer(3, [], [])])
    assert not edge_vectors(empty, order=1, **HOW).any()


@pytest.mark.parametrize("order", [1, 2])
def test_same_seed_same_bits(order):
    one, two, other = (
        edge_vectors(walk_graph([TWO_CLIQUES]), order=order, **HOW | {"seed": seed}) for seed in (3, 3, 4)
    )
    assert one.tobytes() == two.tobytes() != other.tobytes()
    assert one.dtype == np.float32


LAYER = MembershipLayer.from_codes([0] * 5 + [1] * 5 + [-1], range(2), nodes=np.ones(11, bool))
MULTIPLEX_SKIP_GRAM_HOW = {"window": 2, "epochs": 3, "negative": 2, "seed": 4}


def walked_multiplex_skip_gram():
    passes = [Walks.of([LAYER], length=6).one_pass(number) for number in range(5)]
    return np.concatenate([one for one, _ in passes]), np.concatenate([two for _, two in passes])


def parameters(seed=0):
    random = np.random.default_rng(seed)
    shapes = ((11, 8), (11, 3), (3, 8), (11, 8))
    return [random.normal(size=shape).astype(np.float32) / 4 for shape in shapes]


def reference(walks, lengths, common, added, matrix, context, *, window, epochs, negative, seed):
    """b + u X by the book, in float64."""
    accept, alias = kernel._noise(walks, len(common))
    stream = np.zeros(1, np.uint64)
    for epoch in range(epochs):
        for number, (walk, length) in enumerate(zip(walks, lengths, strict=True)):
            start(stream, derived_seed(seed), epoch, number)
            progress = (epoch * len(walks) + number) / (epochs * len(walks))
            rate = max(0.0001, 0.025 - (0.025 - 0.0001) * progress)
            for place in range(length):
                reach = window - below(stream, window)
                node = walk[place]
                for near in range(max(0, place - reach), min(length, place + reach + 1)):
                    if near == place:
                        continue
                    vector = common[node] + (added[node] @ matrix if len(matrix) else 0)
                    change = np.zeros_like(vector)
                    for turn in range(negative + 1):
                        other = walk[near] if turn == 0 else drawn(accept, alias, 0, len(common), stream)
                        if turn and other == walk[near]:
                            continue
                        step = rate * ((turn == 0) - 1 / (1 + np.exp(-vector @ context[other])))
                        change += step * context[other]
                        context[other] += step * vector
                    if len(matrix):
                        before = added[node].copy()
                        added[node] += matrix @ change
                        matrix += np.outer(before, change)
                    else:
                        common[node] += change


def test_common_vectors_equal_the_reference():
    walks, lengths = walked_multiplex_skip_gram()
    common, _, _, context = parameters()
    slow = [common.astype(float), np.zeros((11, 0)), np.zeros((0, 8)), context.astype(float)]
    reference(walks, lengths, *slow, **MULTIPLEX_SKIP_GRAM_HOW)
    kernel.train_common(walks, lengths, common, context, **MULTIPLEX_SKIP_GRAM_HOW)
    np.testing.assert_allclose(common, slow[0], atol=1e-5)
    np.testing.assert_allclose(context, slow[3], atol=1e-5)


def test_a_layers_part_equals_the_reference_and_leaves_the_common_part():
    walks, lengths = walked_multiplex_skip_gram()
    fast, slow = parameters(), [array.astype(float) for array in parameters()]
    reference(walks, lengths, *slow, **MULTIPLEX_SKIP_GRAM_HOW)
    kernel.train_layer(walks, lengths, *fast, **MULTIPLEX_SKIP_GRAM_HOW)
    for mine, theirs in zip(fast, slow, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-5)
    assert (fast[0] == parameters()[0]).all()


def test_same_seed_same_bits_and_no_walks_no_change():
    walks, lengths = walked_multiplex_skip_gram()
    first, second = parameters(), parameters()
    for one in (first, second):
        kernel.train_layer(walks, lengths, *one, **MULTIPLEX_SKIP_GRAM_HOW)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first, second, strict=True))
    untouched = parameters()
    kernel.train_layer(walks[:0], lengths[:0], *untouched, **MULTIPLEX_SKIP_GRAM_HOW)
    assert all((a == b).all() for a, b in zip(untouched, parameters(), strict=True))


def test_the_matrix_stays_bounded():
    walks, lengths = walked_multiplex_skip_gram()
    common, added, matrix, context = parameters()
    matrix *= 1e5
    kernel.train_layer(walks, lengths, common * 0, added * 0, matrix, context * 0, **MULTIPLEX_SKIP_GRAM_HOW)
    assert np.linalg.norm(matrix) == pytest.approx(1000, rel=1e-3)
