import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import edge_layers

from gramme.errors import DataError
from gramme.graph import EdgeLayer

LAYERS = st.integers(0, 8).flatmap(edge_layers)


def slow_merge(edges, directed):
    """Edges by pair, from a list of (source, target, weight), one at a time."""
    merged, loops = {}, 0
    for i, j, weight in edges:
        if i == j:
            loops += 1
            continue
        pair = (i, j) if directed else (min(i, j), max(i, j))
        merged[pair] = merged.get(pair, 0) + weight
    return dict(sorted(merged.items())), loops


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([0.5, 1.0, 3.0]))),
    st.booleans(),
    st.booleans(),
)
def test_merging_equals_a_slow_reference(edges, directed, weighted):
    source, target, weight = ([edge[k] for edge in edges] for k in range(3))
    layer = EdgeLayer(6, source, target, weight if weighted else None, directed=directed)
    merged, loops = slow_merge(edges, directed)
    assert list(zip(layer.source.tolist(), layer.target.tolist(), strict=True)) == list(merged)
    if weighted and merged:
        assert layer.weight.tolist() == list(merged.values())
    else:
        assert layer.weight is None
    assert layer.self_loops_dropped == loops
    assert layer.num_edges + loops + layer.duplicates_merged == len(edges)


@given(LAYERS)
def test_matrix_degrees_and_neighbours_tell_the_same(layer):
    dense = np.zeros((layer.num_nodes, layer.num_nodes))
    weights = np.ones(layer.num_edges) if layer.weight is None else layer.weight
    for i, j, weight in zip(layer.source, layer.target, weights, strict=True):
        dense[i, j] = weight
        if not layer.directed:
            dense[j, i] = weight
    assert np.array_equal(layer.to_scipy().toarray(), dense)
    assert layer.degrees().tolist() == (dense > 0).sum(axis=1).tolist()
    for node in range(layer.num_nodes):
        others, found = layer.neighbours(node)
        assert others.tolist() == np.flatnonzero(dense[node]).tolist()
        assert found.tolist() == dense[node][others].tolist()


@given(LAYERS, st.randoms(use_true_random=False))
def test_a_subset_is_the_matrix_of_those_rows_and_columns(layer, random):
    nodes = [node for node in range(layer.num_nodes) if random.random() < 0.6]
    random.shuffle(nodes)
    places = np.array(nodes, dtype=np.int64)
    part = layer.subset(places)
    whole = layer.to_scipy().toarray()
    assert np.array_equal(part.to_scipy().toarray(), whole[np.ix_(places, places)])
    assert part.present.tolist() == layer.present[places].tolist()
    assert part.directed == layer.directed


@given(LAYERS)
def test_copies_and_pickles_are_equal_and_read_only(layer):
    again = pickle.loads(pickle.dumps(layer))
    assert again == layer
    assert not again.source.flags.writeable
    assert copy.deepcopy(layer) is layer
    assert layer.to_edges() is layer


def test_attributes_and_arrays_do_not_change():
    given_weights = np.array([1.0, 2.0])
    layer = EdgeLayer(3, [0, 1], [1, 2], given_weights)
    for name in ("source", "num_nodes", "num_edges", "directed", "wieght"):
        with pytest.raises(AttributeError, match="does not change once made"):
            setattr(layer, name, 1)
    with pytest.raises(AttributeError):
        del layer.source
    for array in (layer.source, layer.target, layer.weight, layer.present):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    given_weights[0] = 9
    assert layer.weight.tolist() == [1.0, 2.0]


def test_what_other_rooms_remember_on_a_layer_stays_behind_when_pickled():
    layer = EdgeLayer(3, [0], [1])
    layer._compiled = lambda: None
    assert pickle.loads(pickle.dumps(layer)) == layer


def test_two_hundred_and_fifty_six_repetitions_are_one_edge():
    """One byte per edge counts them: the count must not overflow to none."""
    layer = EdgeLayer(2, [0] * 256, [1] * 256)
    assert layer.num_edges == 1
    assert layer.duplicates_merged == 255


@pytest.mark.parametrize("size", [126, 127, 128, 32_767, 32_768])
def test_positions_survive_in_the_smallest_integers(size):
    layer = EdgeLayer(size, [0, size - 1], [size - 1, size - 2])
    assert layer.neighbours(size - 1)[0].tolist() == [0, size - 2]
    assert layer.degrees()[size - 1] == 2


def test_weights_that_add_to_infinity_are_an_error():
    with pytest.raises(DataError, match="from node 0 to node 1 add up to more"):
        EdgeLayer(2, [0, 0], [1, 1], [1e308, 1e308])


def test_without_edges_there_are_no_weights():
    assert EdgeLayer(3, [], [], []).weight is None
    assert EdgeLayer(3, [1], [1], [2.0]) == EdgeLayer(3, [], [])


def test_equality_sees_every_part():
    layer = EdgeLayer(3, [0], [1])
    assert layer == EdgeLayer(3, [1, 0, 2], [0, 1, 2])
    others = [
        EdgeLayer(4, [0], [1]),
        EdgeLayer(3, [0], [2]),
        EdgeLayer(3, [0], [1], [2.0]),
        EdgeLayer(3, [0], [1], directed=True),
        EdgeLayer(3, [0], [1], nodes=[0, 1]),
        None,
    ]
    assert all(layer != other for other in others)
    with pytest.raises(TypeError, match="unhashable"):
        hash(layer)


def test_printed_form():
    layer = EdgeLayer(4, [0], [1], [2.0], directed=True, nodes=[0, 1, 2])
    assert repr(layer) == "EdgeLayer(3 nodes, 1 edges, directed, weighted)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, [0], [3]), "3 at position 0 is not a node; the nodes are numbered from 0 to 2"),
        ((3, [-1], [0]), "-1 at position 0 is not a node"),
        ((3, [10**30], [0]), f"{10**30} at position 0 is not a node"),
        ((0, [0], [0]), "the nodes are none"),
        ((3, [0.5], [1]), "must be whole numbers, not float64"),
        ((3, [True], [False]), "must be whole numbers, not bool"),
        ((3, ["0"], ["1"]), "must be whole numbers"),
        ((3, [[0]], [[1]]), "must be one-dimensional, not of shape (1, 1)"),
        ((3, [[0], [1, 2]], [0]), "must be one-dimensional"),
        ((3, [0, 1], [1]), "2 sources were given for 1 targets"),
        ((3, [0], [1], [0.0]), "from node 0 to node 1 has the weight 0.0"),
        ((3, [0], [1], [-1.0]), "weights must be positive and finite"),
        ((3, [0], [1], [np.nan]), "weights must be positive and finite"),
        ((3, [0], [1], [np.inf]), "weights must be positive and finite"),
        ((3, [0], [1], ["heavy"]), "weights of the edges must be numbers"),
        ((3, [0], [1], [1.0, 2.0]), "weights of shape (2,) were given for 1 edges"),
        ((-1, [], []), "must be a whole number of at least 0, not -1"),
        ((2.5, [], []), "must be a whole number of at least 0, not 2.5"),
    ],
)
def test_bad_input_is_quoted(arguments, message):
    with pytest.raises(DataError) as error:
        EdgeLayer(*arguments)
    assert message in str(error.value)


def test_nodes_of_a_layer_are_a_mask_or_positions():
    by_mask = EdgeLayer(3, [0], [1], nodes=[True, True, False])
    assert by_mask == EdgeLayer(3, [0], [1], nodes=[1, 0])
    assert by_mask.present.tolist() == [True, True, False]
    assert (by_mask.num_present, by_mask.holds_all_nodes) == (2, False)
    assert EdgeLayer(3, [0], [1], nodes=[0, 1, 2]).holds_all_nodes
    assert EdgeLayer(3, [], [], nodes=[]).num_present == 0
    with pytest.raises(DataError, match="from node 0 to node 2 touches a node that is not among"):
        EdgeLayer(3, [0], [2], nodes=[0, 1])
    with pytest.raises(DataError, match=r"mask of shape \(2,\); there are 3 nodes"):
        EdgeLayer(3, [0], [1], nodes=[True, True])


@pytest.mark.parametrize("node", [-1, 3])
def test_neighbours_of_nobody_are_an_error(node):
    with pytest.raises(DataError, match="is not a node"):
        EdgeLayer(3, [0], [1]).neighbours(node)


def test_an_undirected_layer_remembers_which_way_its_edges_were_stated():
    layer = EdgeLayer(5, [3, 0, 1, 2, 1, 4], [1, 2, 4, 0, 1, 1], ways=[1] * 6)
    assert layer == EdgeLayer(5, [3, 0, 1], [1, 2, 4])
    assert list(zip(layer.source.tolist(), layer.target.tolist(), layer.ways.tolist(), strict=True)) == [
        (0, 2, 3),
        (1, 3, 2),
        (1, 4, 3),
    ]
    stated = layer.stated_ways().toarray()
    assert stated[3, 1] == 1
    assert stated[1, 3] == 0
    assert (layer.to_scipy().toarray() == layer.to_scipy().toarray().T).all()
    turned = layer.subset(np.array([4, 3, 2, 1, 0]))
    np.testing.assert_array_equal(turned.stated_ways().toarray(), stated[::-1, ::-1])
    some = layer.with_entries(np.array([False, True, True]))
    assert some.ways.tolist() == [2, 3]
    assert EdgeLayer(5, [], [], ways=[]).ways is None
    assert EdgeLayer(5, [0], [1], directed=True, ways=[1]).ways is None


def test_a_layer_is_made_a_matrix_once_and_whoever_changes_the_matrix_does_not_change_the_layer():
    layer = EdgeLayer(3, [0, 1], [1, 2], [2.0, 5.0])
    matrix = layer.to_scipy()
    assert np.shares_memory(matrix.data, layer.to_scipy().data)
    with pytest.raises(ValueError, match="read-only"):
        matrix.data[:] = 0
    matrix.data = matrix.data * 0
    assert layer.to_scipy().sum() == 14
