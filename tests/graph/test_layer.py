import numpy as np
import pytest

from gramme import DataError, EdgeLayer, MembershipLayer
from gramme.graph.layer import presence


def test_positions_and_a_mask_say_the_same():
    assert presence([0, 2], 3).tolist() == [True, False, True]
    assert presence(np.array([True, False, True]), 3).tolist() == [True, False, True]


def test_all_nodes_are_no_mask_at_all():
    assert presence(None, 3) is None
    assert presence([2, 0, 1], 3) is None
    assert presence(np.ones(3, dtype=bool), 3) is None


def test_no_nodes():
    assert presence([], 2).tolist() == [False, False]


@pytest.mark.parametrize(
    ("nodes", "words"),
    [([3], "3 at position 0 is no node"), ([True, False], r"a mask of shape \(2,\)")],
)
def test_nodes_that_are_not_there(nodes, words):
    with pytest.raises(DataError, match=words):
        presence(nodes, 3)


@pytest.mark.parametrize(
    "layer",
    [EdgeLayer(4, [0], [1], nodes=[0, 1, 3]), MembershipLayer(4, [0, 1, 3], [0, 0, 1])],
    ids=["edges", "groups"],
)
def test_every_layer_says_whom_it_holds(layer):
    assert layer.present.tolist() == [True, True, False, True]
    assert (layer.num_present, layer.holds_all_nodes) == (3, False)
    assert layer.to_scipy().toarray()[0].tolist() == [0, 1, 0, 0]
    with pytest.raises(DataError, match="the node asked for"):
        layer.neighbours(4)
