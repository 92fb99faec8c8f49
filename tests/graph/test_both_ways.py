import pandas as pd
import pytest

from gramme.errors import DataError
from gramme.graph.both_ways import layer_from_both_ways

NODES = pd.Index(["a", "b", "c"])


def pairs(layer):
    return list(zip(layer.source.tolist(), layer.target.tolist(), strict=True))


def test_an_edge_said_both_ways_is_one_edge_and_its_weight_does_not_add():
    layer = layer_from_both_ways(NODES, [0, 1, 1, 2], [1, 0, 2, 1], [5.0, 5.0, 7.0, 7.0])
    assert not layer.directed
    assert pairs(layer) == [(0, 1), (1, 2)]
    assert layer.weight.tolist() == [5.0, 7.0]


def test_an_edge_said_one_way_makes_the_layer_directed_unless_told_otherwise():
    assert layer_from_both_ways(NODES, [0, 1, 1], [1, 0, 2]).directed
    undirected = layer_from_both_ways(NODES, [0, 1, 1], [1, 0, 2], directed=False)
    assert not undirected.directed
    assert pairs(undirected) == [(0, 1), (1, 2)]


def test_different_weights_both_ways_are_directed_or_an_error():
    ends = [0, 1], [1, 0], [1.0, 2.0]
    assert layer_from_both_ways(NODES, *ends).directed
    with pytest.raises(DataError, match=r"between 'a' and 'b' has the weight 1.0 one way and 2.0"):
        layer_from_both_ways(NODES, *ends, directed=False)


def test_told_to_be_directed_both_ways_are_two_edges():
    assert layer_from_both_ways(NODES, [0, 1], [1, 0], directed=True).num_edges == 2


def test_self_loops_are_dropped_and_counted():
    layer = layer_from_both_ways(NODES, [0, 1, 2], [1, 0, 2], [3.0, 3.0, 1.0])
    assert (layer.num_edges, layer.self_loops_dropped) == (1, 1)


def test_only_some_nodes_may_be_present():
    assert layer_from_both_ways(NODES, [0], [1], present=[0, 1]).num_present == 2
