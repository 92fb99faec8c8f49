"""Where a picture draws the nodes: near where layers join them, the same every time, for any graph."""

import numpy as np
import pytest

from gramme.graph import Coupling, EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.graph.layout import _Pull, _Push, node_positions


def distances(places: np.ndarray) -> np.ndarray:
    return np.linalg.norm(places[:, None] - places[None], axis=2)


def blocks(count: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three blocks: the block of each node, and edges that mostly stay within."""
    random = np.random.default_rng(1)
    block = np.arange(count) % 3
    source = np.repeat(np.arange(count), 4)
    target = (source + 3 * random.integers(1, count // 3, source.size)) % count
    return block, source, np.where(random.random(source.size) < 0.9, target, (target + 1) % count)


@pytest.mark.parametrize("form", ["edges", "groups", "both", "couplings"])
def test_nodes_of_a_block_lie_together(form: str) -> None:
    block, source, target = blocks()
    edges = EdgeLayer(60, source, target)
    groups = MembershipLayer.from_codes(block)
    layers = {"edges": {"e": edges}, "groups": {"g": groups}, "both": {"e": edges, "g": groups}}
    alone = {"a": EdgeLayer(60, [], []), "b": EdgeLayer(60, [], [])}
    couplings = {("a", "b"): Coupling(60, source, target)} if form == "couplings" else None
    graph = MultilayerGraph(layers.get(form, alone), couplings=couplings)
    apart = distances(node_positions(graph))
    same = block[:, None] == block[None]
    inside = apart[same & ~np.eye(60, dtype=bool)].mean()
    assert inside < 0.6 * apart[~same].mean()
    assert apart[~np.eye(60, dtype=bool)].min() > 1e-4, "no two nodes cover each other"


def test_a_graph_gives_the_same_places_every_time_and_they_fill_the_frame() -> None:
    _, source, target = blocks()
    graph = MultilayerGraph({"e": EdgeLayer(60, source, target)})
    places = node_positions(graph)
    assert np.array_equal(places, node_positions(graph))
    assert places.min() >= 0
    assert places.max() <= 1
    assert np.ptp(places[:, 0]) == pytest.approx(1)
    assert np.ptp(places[:, 1]) > 0.5


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_few_nodes_without_edges_have_places(count: int) -> None:
    for layers in ({}, {"e": EdgeLayer(count, [], [])}, {"g": MembershipLayer(count, [], [])}):
        places = node_positions(MultilayerGraph(layers, num_nodes=count))
        assert places.shape == (count, 2)
        assert ((places >= 0) & (places <= 1)).all()
        assert np.unique(places, axis=0).shape[0] == count


@pytest.mark.parametrize("weight", [1e-320, 1e308])
def test_extreme_weights_leave_places_finite(weight: float) -> None:
    layers = {
        "e": EdgeLayer(4, [0, 1, 2], [1, 2, 3], [weight, 1.0, weight]),
        "g": MembershipLayer(4, [0, 1, 2], [0, 0, 0], weight=[weight, 1.0, weight]),
        "d": EdgeLayer(4, [0, 1], [2, 3], [weight, weight], directed=True),
    }
    places = node_positions(MultilayerGraph(layers))
    assert np.isfinite(places).all()
    assert np.unique(places, axis=0).shape[0] == 4


def test_nodes_that_nothing_joins_stay_in_the_frame_beside_the_others() -> None:
    _, source, target = blocks()
    graph = MultilayerGraph({"e": EdgeLayer(70, source, target)})
    places = node_positions(graph)
    middle = places[:60].mean(axis=0)
    outside = np.linalg.norm(places[60:] - middle, axis=1)
    assert outside.min() > np.median(np.linalg.norm(places[:60] - middle, axis=1))
    assert np.ptp(places[:60], axis=0).max() > 0.35, "the joined nodes are not squeezed into a dot"


def test_the_pull_of_groups_equals_the_product_of_their_walk() -> None:
    random = np.random.default_rng(0)
    layer = MembershipLayer(9, random.integers(0, 9, 25), random.integers(0, 4, 25), weight=random.random(25) + 0.1)
    inside = layer.incidence().toarray()
    shares = inside / np.maximum(inside.sum(axis=1, keepdims=True), 1e-12)
    walk = shares @ (inside / inside.sum(axis=0)).T
    expected = (walk + walk.T) / 2
    pull = _Pull.of(MultilayerGraph({"g": layer}))
    assert pull is not None
    found = pull.times(np.eye(9))
    assert found == pytest.approx(expected / expected.sum(axis=1).mean())
    assert pull.strength == pytest.approx(found.sum(axis=1))


def test_the_push_on_the_grid_is_near_the_sum_over_pairs() -> None:
    places = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    between = places[:, None] - places[None]
    square = (between**2).sum(axis=2) + np.eye(200)
    expected = (between / square[..., None]).mean(axis=1)
    found = _Push(200).force(places)
    error = np.linalg.norm(found - expected, axis=1).mean()
    assert error < 0.15 * np.linalg.norm(expected, axis=1).mean()
