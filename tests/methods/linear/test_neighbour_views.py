"""Views of layers: sums over neighbours without the node's own."""

import numpy as np
import pytest

from gramme import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods.linear.neighbour_views import AGAINST, ALONG, JOINED, graph_views, layer_views

RNG = np.random.default_rng(0)
VALUES = RNG.random((12, 3)).astype(np.float32)


def dense_sums(view) -> np.ndarray:
    found = np.zeros((12, 3), dtype=np.float32)
    found[view.rows] = view.sums(VALUES)
    return found


def test_groups_sum_as_their_edges_do():
    layer = MembershipLayer(12, np.arange(12).repeat(2), RNG.integers(5, size=24))
    (by_groups, _), (by_edges, _) = layer_views("a", layer), layer_views("a", layer.to_edges())
    edges = layer.to_edges()
    unit = 1.0 if edges.weight is None else edges.weight.mean()
    np.testing.assert_allclose(dense_sums(by_groups), dense_sums(by_edges) * unit, rtol=1e-4, atol=1e-5)


def test_a_directed_layer_has_two_views_and_one_joined():
    layer = EdgeLayer(12, [0, 1, 5], [3, 3, 1], directed=True)
    joined, ways = layer_views("a", layer)
    assert [view.direction for view in ways] == [ALONG, AGAINST]
    assert joined.direction == JOINED
    np.testing.assert_allclose(dense_sums(ways[0])[0], VALUES[3])
    np.testing.assert_allclose(dense_sums(ways[1])[3], VALUES[0] + VALUES[1], rtol=1e-6)
    np.testing.assert_allclose(dense_sums(joined)[1], VALUES[3] + VALUES[5], rtol=1e-6)


def test_an_undirected_layer_that_knows_how_it_was_stated_has_two_views():
    layer = EdgeLayer(12, [3, 1], [0, 5], ways=[1, 1])
    _, ways = layer_views("a", layer)
    assert ways[0].rows.tolist() == [1, 3]
    assert len(layer_views("a", EdgeLayer(12, [3, 1], [0, 5]))[1]) == 1
    assert len(layer_views("a", EdgeLayer(12, [3, 0], [0, 3], ways=[1, 1]))[1]) == 1
    graph = MultilayerGraph({"a": EdgeLayer(12, [3, 1], [0, 5])})
    assert len(graph_views(graph, {"a"})[1]) == 2


def test_spreading_follows_edges_and_stops_at_their_end():
    joined, _ = layer_views("a", EdgeLayer(12, [0, 1, 4], [1, 2, 5]))
    start = np.zeros((12, 1), dtype=np.float32)
    start[0] = 1
    reached = np.zeros(12)
    reached[joined.rows] = joined.spread(start)[:, 0]
    assert (reached[:3] > 0).all()
    assert reached[1] > reached[2]
    assert (reached[3:] == 0).all()


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_unit_of_weights_does_not_matter(scale):
    weight = np.array([1.0, 2.0, 4.0])
    plain = layer_views("a", EdgeLayer(12, [0, 1, 4], [1, 2, 5], weight))[0]
    scaled = layer_views("a", EdgeLayer(12, [0, 1, 4], [1, 2, 5], weight * scale))[0]
    np.testing.assert_allclose(dense_sums(plain), dense_sums(scaled), rtol=1e-5)


def test_a_layer_without_edges_has_an_empty_view():
    joined, ways = layer_views("a", EdgeLayer(12, [], []))
    assert joined.rows.size == 0
    assert joined.sums(VALUES).shape == (0, 3)
    assert len(ways) == 1
