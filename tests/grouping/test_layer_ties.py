"""Layers as ties: the same for edges and for the memberships that imply them, and never too many."""

import numpy as np
import pytest

from gramme.errors import DataError
from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.grouping.layer_ties import RINGS, LayerTies, check_has_ties, ties_of


def ties(layer, seed=0):
    return ties_of(MultilayerGraph({"one": layer}), np.random.default_rng(seed))[0]


def test_small_groups_are_tied_as_their_edges_are():
    layer = MembershipLayer(7, [0, 1, 2, 3, 3, 4, 5], [0, 0, 0, 0, 1, 1, 1])
    found = ties(layer).matrix().toarray()
    edges = layer.to_scipy().toarray() > 0
    assert ((found > 0) == edges).all()
    assert found.sum(axis=1).tolist() == pytest.approx([1, 1, 1, 2, 1, 1, 0])


def test_a_large_group_has_few_ties_and_equal_members():
    layer = MembershipLayer.from_codes(np.zeros(1000, dtype=int))
    found = ties(layer)
    assert found.source.size == RINGS * 1000
    assert found.matrix().sum(axis=1) == pytest.approx(np.ones(1000))


def test_weighted_members_are_tied_more():
    layer = MembershipLayer(3, [0, 1, 2], [0, 0, 0], weight=[4.0, 1.0, 1.0])
    strength = ties(layer).matrix().sum(axis=1)
    assert strength[0] > strength[1] == pytest.approx(strength[2])


def test_directed_edges_count_both_ways_and_weights_have_mean_one():
    layer = EdgeLayer(3, [0, 1, 1], [1, 0, 2], weight=[1.0, 2.0, 6.0], directed=True)
    found = ties(layer)
    assert sorted(zip(found.source, found.target, strict=True)) == [(0, 1), (1, 2)]
    assert found.weight.tolist() == pytest.approx([2 / 3, 4 / 3])


def test_shuffled_ties_keep_degrees_but_for_loops():
    random = np.random.default_rng(0)
    layer = EdgeLayer(40, random.integers(40, size=200), random.integers(40, size=200))
    before = ties(layer)
    after = before.shuffled(random)
    lost = before.source.size - after.source.size
    counts = [np.bincount(np.r_[one.source, one.target], minlength=40) for one in (before, after)]
    assert (counts[0] - counts[1]).min() >= 0
    assert (counts[0] - counts[1]).sum() == 2 * lost < 40


def test_a_star_stays_a_star():
    """No graph without loops has its degrees and other ties: chance must not tie leaves with each other."""
    leaves = np.arange(1, 2001)
    before = LayerTies(2001, np.zeros(2000, dtype=np.int64), leaves, np.ones(2000), False)
    after = before.shuffled(np.random.default_rng(0))
    ends = np.sort(np.stack([after.source, after.target]), axis=0)
    assert (ends[0] == 0).mean() > 0.97
    assert np.unique(ends[1]).size > 1940


def test_shuffled_columns_keep_their_sizes():
    before = ties(MembershipLayer.from_codes([0, 0, 0, 1, 1, -1]))
    after = before.shuffled(np.random.default_rng(1))
    assert sorted(after.matrix().sum(axis=1)) == pytest.approx(sorted(before.matrix().sum(axis=1)))
    assert after.matrix().sum(axis=1)[5] == 0


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (MultilayerGraph({"talk": EdgeLayer(3, [], [])}), "the layer 'talk' has no edges"),
        (MultilayerGraph({"talk": EdgeLayer(1, [], [])}), "the graph has one node"),
        (MultilayerGraph({}, num_nodes=0), "the graph has no nodes"),
        (MultilayerGraph({}, num_nodes=4), "no layers"),
        (
            MultilayerGraph({"a": EdgeLayer(2, [], []), "b": MembershipLayer.from_codes([0, 1])}),
            "the layers of the graph have no edges",
        ),
        ([[0, 1]], "a MultilayerGraph is needed, not list"),
    ],
)
def test_a_graph_in_which_nobody_is_joined_is_refused(graph, message):
    with pytest.raises(DataError, match=message):
        check_has_ties(graph, "finding groups")
