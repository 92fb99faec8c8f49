import numpy as np
from hypothesis import given
from tests.strategies import multilayer_graphs

from gramme.graph import EdgeLayer, MultilayerGraph


@given(multilayer_graphs(weighted_groups=None))
def test_the_supra_graph_equals_brute_force(graph):
    size, layers = graph.num_nodes, list(graph.layers.values())
    expected = np.zeros((size * len(layers), size * len(layers)))
    for here, layer in enumerate(layers):
        expected[here * size : (here + 1) * size, here * size : (here + 1) * size] = (
            layer.to_scipy().toarray()
        )
        for there, other in enumerate(layers):
            for node in range(size):
                if here != there and layer.present[node] and other.present[node]:
                    expected[here * size + node, there * size + node] = 1
    supra = graph.supra_adjacency()
    assert np.array_equal(supra.toarray(), expected)
    assert supra.nnz == np.count_nonzero(expected)


def test_an_absent_copy_has_no_edges():
    layers = {"a": EdgeLayer(2, [0], [1]), "b": EdgeLayer(2, [], [], nodes=[1])}
    supra = MultilayerGraph(layers).supra_adjacency().toarray()
    assert supra.tolist() == [[0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]]


def test_no_layers_make_no_copies():
    assert MultilayerGraph({}, num_nodes=3).supra_adjacency().shape == (0, 0)
