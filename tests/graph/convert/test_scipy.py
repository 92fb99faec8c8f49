import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from tests.strategies import multilayer_graphs

from gramme.errors import DataError
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.graph.convert.scipy import layer_from_both_ways

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


from_scipy = MultilayerGraph.from_scipy


@given(multilayer_graphs(kinds=["edges"], presence=False, min_layers=1))
def test_matrices_give_the_graph_back(graph):
    again = from_scipy(
        graph.to_scipy(),
        directed={name: layer.directed for name, layer in graph.layers.items()},
        nodes=graph.nodes,
        labels=graph.labels,
        features=graph.features,
    )
    for name, layer in graph.layers.items():
        # Weights that are all 1 are the one thing a matrix cannot tell from none
        if layer.weight is None or (layer.weight != 1).any():
            assert again.layers[name] == layer
        else:
            assert again.layers[name] == EdgeLayer(layer.num_nodes, layer.source, layer.target, directed=layer.directed)
    assert again.replace(layers=graph.layers) == graph


@given(multilayer_graphs(directed=False, min_layers=1, weighted_groups=None))
def test_symmetric_matrices_are_undirected_and_weights_do_not_double(graph):
    again = from_scipy(graph.to_scipy())
    for name, layer in graph.layers.items():
        assert not again.layers[name].directed
        assert np.array_equal(again.layers[name].to_scipy().toarray(), layer.to_scipy().toarray())


DENSE = np.array([[0.0, 2, 0], [2, 0, 1], [0, 1, 5]])


@pytest.mark.parametrize(
    "matrix",
    [
        DENSE,
        DENSE.tolist(),
        np.asmatrix(DENSE),
        sp.csr_matrix(DENSE),
        sp.csc_array(DENSE),
        sp.lil_array(DENSE),
        DENSE.astype(np.int8),
        sp.coo_array(([2, 1, 1, 1, 1, 5, 0], ([0, 1, 1, 1, 2, 2, 0], [1, 0, 0, 2, 1, 2, 2]))),
    ],
)
def test_matrices_of_every_form(matrix):
    layer = from_scipy({"a": matrix}).layers["a"]
    assert layer == EdgeLayer(3, [0, 1], [1, 2], [2, 1])
    assert layer.self_loops_dropped == 1


def test_ones_are_no_weights_whatever_the_diagonal_says():
    assert from_scipy([sp.eye_array(3) * 7]).layers["layer 1"].weight is None
    assert from_scipy([np.array([[9, 1], [1, 0]])]).layers["layer 1"] == EdgeLayer(2, [0], [1])
    assert from_scipy([np.array([[0, True], [False, 0]], dtype=bool)]).layers["layer 1"].directed


def test_sequences_and_single_matrices_are_named():
    assert list(from_scipy([DENSE, DENSE]).layers) == ["layer 1", "layer 2"]
    assert list(from_scipy(sp.csr_array(DENSE)).layers) == ["edges"]
    assert list(from_scipy(DENSE).layers) == ["edges"]
    assert list(from_scipy(np.stack([DENSE, DENSE])).layers) == ["layer 1", "layer 2"]
    assert from_scipy({}, nodes="ab").num_nodes == 2
    assert from_scipy([np.zeros((0, 0))]).num_nodes == 0


def test_directions_may_be_stated():
    upper = np.triu(DENSE, k=1)
    assert from_scipy([upper]).layers["layer 1"].directed
    assert from_scipy([upper], directed=False) == from_scipy([DENSE])
    assert from_scipy([DENSE], directed=True).layers["layer 1"].num_edges == 4
    assert from_scipy({"a": DENSE, "b": DENSE}, directed={"b": True}).layers["b"].directed


@pytest.mark.parametrize(
    ("matrices", "options", "message"),
    [
        ({"a": np.ones((2, 3))}, {}, "layer 'a': the matrix must be square, not of shape (2, 3)"),
        ({"a": [["x"]]}, {}, "layer 'a': the matrix must hold numbers"),
        ({"a": np.ones((1, 1)) * 1j}, {}, "they are complex"),
        ([np.eye(2), np.eye(3)], {}, "different numbers of nodes: 'layer 1' 2, 'layer 2' 3"),
        ({"a": [[0, -1], [0, 0]]}, {"nodes": ["x", "y"]}, "layer 'a': the edge from 'x' to 'y' has the weight -1.0"),
        ({"a": [[0, np.nan], [0, 0]]}, {}, "layer 'a': the edge from 0 to 1 has the weight nan"),
        (
            {"a": [[0, 1], [2, 0]]},
            {"directed": False, "nodes": ["x", "y"]},
            "layer 'a': the edge between 'x' and 'y' has the weight 1.0 one way and 2.0",
        ),
        ([np.eye(2)], {"nodes": ["x"]}, "1 node names were given for 2 nodes"),
        ([np.eye(2)], {"directed": {"x": True}}, "directed names the layer 'x'"),
        ({}, {}, "there is no matrix"),
        (5, {}, "must be a mapping or a sequence of matrices"),
    ],
)
def test_bad_input_is_quoted(matrices, options, message):
    with pytest.raises(DataError) as error:
        from_scipy(matrices, **options)
    assert message in str(error.value)


def test_the_given_matrix_stays_as_it_is():
    matrix = sp.csr_array(([1.0, 1.0, 0.0], [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    layer = from_scipy([matrix]).layers["layer 1"]
    assert layer == EdgeLayer(2, [0], [1], [2.0], directed=True)
    assert (matrix.nnz, matrix.data.tolist()) == (3, [1.0, 1.0, 0.0])


PEOPLE = ["Ann", "Bo", "Cy", "Di"]


def advice():
    return pd.DataFrame([[0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1], [1, 0, 0, 0]], index=PEOPLE, columns=PEOPLE)


def test_frames_are_put_in_order_by_their_names():
    friends = pd.DataFrame(np.triu(np.ones((4, 4)), 1) + np.tril(np.ones((4, 4)), -1), PEOPLE, PEOPLE)
    graph = from_scipy({"advice": advice(), "friends": friends})
    assert graph.nodes.tolist() == PEOPLE
    shuffled = advice().loc[["Cy", "Ann", "Di", "Bo"], ["Di", "Bo", "Cy", "Ann"]]
    assert from_scipy({"advice": shuffled, "friends": friends}, nodes=PEOPLE) == graph
    assert from_scipy({"friends": friends, "advice": shuffled}).layers["advice"] == (graph.layers["advice"])
    assert from_scipy(advice()).nodes.tolist() == PEOPLE


def test_a_node_that_a_frame_lacks_is_absent_from_its_layer():
    three = advice().drop(index="Bo", columns="Bo")
    graph = from_scipy({"three": three, "advice": advice()})
    assert graph.nodes.tolist() == ["Ann", "Cy", "Di", "Bo"]
    assert graph.layers["three"].present.tolist() == [True, True, True, False]
    assert graph.layers["advice"].holds_all_nodes
    assert graph.layers["three"].num_edges == 2


@pytest.mark.parametrize(
    ("matrices", "message"),
    [
        ({"a": advice().rename(columns={"Bo": "Bob"})}, "row 'Bo' has no column of the same name"),
        ({"a": advice().drop(columns="Di")}, "row 'Di' has no column"),
        ({"a": advice().drop(index="Di")}, "column 'Di' has no row"),
        ({"a": advice().rename(index={"Bo": "Ann"})}, "two rows have the name 'Ann'"),
        ({"a": advice(), "b": np.eye(4)}, "'b' is a matrix without names"),
    ],
)
def test_frames_that_do_not_fit_are_refused(matrices, message):
    with pytest.raises(DataError, match=message):
        from_scipy(matrices)
    with pytest.raises(DataError, match="'Di' is not among the nodes"):
        from_scipy({"a": advice()}, nodes=["Ann", "Bo", "Cy"])
