import numpy as np
import pytest

from gramme.graph import EdgeLayer, MembershipLayer
from gramme.ops.edge_sampling import edge_vectors
from gramme.ops.walk_graph import walk_graph

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
        edge_vectors(walk_graph([TWO_CLIQUES]), order=order, **HOW | {"seed": seed})
        for seed in (3, 3, 4)
    )
    assert one.tobytes() == two.tobytes() != other.tobytes()
    assert one.dtype == np.float32
