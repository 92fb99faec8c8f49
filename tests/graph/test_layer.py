import numpy as np
import pandas as pd
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
    ("nodes", "words"), [([3], "3 at position 0 is not a node"), ([True, False], r"a mask of shape \(2,\)")]
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


LAYERS = {
    "edges": EdgeLayer(4, [0, 1], [1, 3]),
    "directed, weighted": EdgeLayer(4, [0, 3, 1], [1, 0, 3], [2.0, 0.5, 3.0], directed=True),
    "groups": MembershipLayer(4, [0, 1, 3, 0, 1], [0, 0, 0, 1, 1]),
    "weighted groups": MembershipLayer(4, [0, 1, 3, 0, 1], [0, 0, 0, 1, 1], weight=[2, 1, 3, 1, 5]),
}


@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
def test_sums_over_neighbours_are_those_of_the_explicit_edges(layer):
    explicit = layer.to_scipy().toarray()
    values = np.random.default_rng(0).normal(size=(4, 3))
    np.testing.assert_allclose(layer.neighbour_sums(values), explicit @ values, atol=1e-12)
    np.testing.assert_allclose(layer.neighbour_sums(values[:, 0]), explicit @ values[:, 0], atol=1e-12)


@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
def test_a_layer_as_a_table_has_a_column_per_neighbour_or_per_group(layer):
    nodes = pd.Index(list("abcd"))
    matrix, names = layer.columns(nodes)
    assert matrix.shape == (4, len(names))
    assert matrix.nnz == layer.num_entries * (2 if layer.made_of == "edges" and not layer.directed else 1)
    assert list(names) == (list("abcd") if layer.made_of == "edges" else [0, 1])
    assert (layer.group_names is None) == (layer.made_of == "edges")


@pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)
def test_a_layer_that_lacks_entries_keeps_its_nodes(layer):
    assert layer.with_entries(np.ones(layer.num_entries, dtype=bool)) == layer
    first = layer.with_entries(np.arange(layer.num_entries) == 0)
    assert (first.num_entries, first.weighted, first.directed) == (1, layer.weighted, layer.directed)
    assert first.present.tolist() == layer.present.tolist()
    assert layer.with_entries(np.zeros(layer.num_entries, dtype=bool)).num_edges == 0
