"""MultiRank against the equations of the paper, written out with matrices."""

import numpy as np
import pytest
from tests.ranking.families import florentine_families

from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.ranking import LayerProduct, layer_influences
from gramme.ranking.centrality import multirank


def matrices(graph):
    return [layer.to_scipy().toarray() for layer in graph.layers.values()]


@pytest.mark.parametrize("by_weight", [True, False])
@pytest.mark.parametrize("elite", [True, False])
@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_the_solution_fulfils_the_coupled_equations(by_weight, elite, exponent):
    graph = florentine_families()
    found = multirank(
        [LayerProduct(layer) for layer in graph.layers.values()], by_weight=by_weight, elite=elite, exponent=exponent
    )
    x, z = found.nodes, found.layers
    layers = matrices(graph)
    combined = sum(share * matrix for share, matrix in zip(z, layers, strict=True))
    walked = combined.T @ (x / combined.sum(axis=1))
    np.testing.assert_allclose(x, 0.85 * walked + 0.15 / 15, atol=1e-8)
    sign = -1 if elite else 1
    expected = np.array(
        [
            (matrix.sum() if by_weight else 1.0)
            * ((matrix.sum(axis=0) / matrix.sum()) @ x ** (sign * exponent)) ** sign
            for matrix in layers
        ]
    )
    np.testing.assert_allclose(z, expected / expected.sum(), atol=1e-8)


def test_a_layer_without_edges_has_no_influence():
    graph = MultilayerGraph({"full": EdgeLayer(3, [0, 1], [1, 2]), "empty": EdgeLayer(3, [], [])})
    assert layer_influences(graph).to_dict() == {"full": 1.0, "empty": 0.0}
