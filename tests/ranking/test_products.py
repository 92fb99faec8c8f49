"""Products with a layer equal products with its adjacency matrix, however the layer is given."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import edge_layers, membership_layers

from gramme.graph import MembershipLayer
from gramme.ranking import LayerProduct


@given(st.data(), st.integers(1, 8))
def test_products_equal_the_explicit_matrix(data, nodes):
    layer = data.draw(st.one_of(edge_layers(nodes), membership_layers(nodes)))
    matrix = layer.to_scipy().toarray()
    values = np.arange(1.0, nodes + 1)
    product = LayerProduct(layer)
    np.testing.assert_allclose(product.times(values), matrix @ values, atol=1e-9)
    np.testing.assert_allclose(product.transposed(values), matrix.T @ values, atol=1e-9)
    np.testing.assert_allclose(product.out_strength, matrix.sum(axis=1), atol=1e-9)
    np.testing.assert_allclose(product.in_strength, matrix.sum(axis=0), atol=1e-9)


def test_a_node_alone_in_its_group_has_no_neighbours_at_all():
    product = LayerProduct(MembershipLayer(3, [0, 0, 1], [0, 1, 2]))
    assert product.times(np.array([0.1, 0.2, 0.3])).tolist() == [0.0, 0.0, 0.0]
