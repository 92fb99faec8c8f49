"""MultiRank against the equations of the paper, written out with matrices."""

import numpy as np
from tests.ranking.families import florentine_families

from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.ranking import LayerProduct, layer_influences
from gramme.ranking.centrality import multirank


def matrices(graph):
    return [layer.to_scipy().toarray() for layer in graph.layers.values()]


def test_the_solution_fulfils_the_coupled_equations():
    graph = florentine_families()
    found = multirank([LayerProduct(layer) for layer in graph.layers.values()])
    x, z = found.nodes, found.layers
    layers = matrices(graph)
    combined = sum(share * matrix for share, matrix in zip(z, layers, strict=True))
    walked = combined.T @ (x / combined.sum(axis=1))
    np.testing.assert_allclose(x, 0.85 * walked + 0.15 / 15, atol=1e-8)
    expected = np.array([matrix.sum(axis=0) @ x for matrix in layers])
    np.testing.assert_allclose(z, expected / expected.sum(), atol=1e-8)


def test_a_layer_without_edges_has_no_influence():
    graph = MultilayerGraph({"full": EdgeLayer(3, [0, 1], [1, 2]), "empty": EdgeLayer(3, [], [])})
    assert layer_influences(graph).to_dict() == {"full": 1.0, "empty": 0.0}
