"""Several views of the same nodes: a nearest-neighbour layer each, with the view as the layer's own features."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from gramme.errors import DataError
from gramme.graph import MultilayerGraph

from_views = MultilayerGraph.from_views
RANDOM = np.random.default_rng(0)
WIDE = RANDOM.normal(size=(30, 12))
FLAT = RANDOM.normal(size=(30, 2))


def brute_force(points, k, scale=True):
    """All pairs (i, j), i < j, where one is among the k nearest of the other."""
    if scale:
        points = (points - points.mean(axis=0)) / points.std(axis=0)
    distance = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1)[:, :k]
    return {tuple(sorted((i, int(j)))) for i in range(len(points)) for j in near[i]}


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("points", [WIDE * np.arange(1, 13), FLAT * [1, 100]])
def test_the_nearest_are_joined(points, scale):
    layer = from_views({"v": points}, k=3, scale=scale).layers["v"]
    pairs = set(zip(layer.source.tolist(), layer.target.tolist(), strict=True))
    assert pairs == brute_force(points, 3, scale)


def test_a_view_is_its_layers_features():
    graph = from_views({"wide": WIDE.astype(np.float32), "flat": FLAT}, k={"flat": 2}, labels=["a"] * 30)
    assert graph.features is None
    assert graph.layer_features["wide"].dtype == np.float32
    assert np.array_equal(graph.layer_features["flat"], FLAT)
    assert "14 features of 2 layers" in repr(graph)


def test_a_missing_row_is_absent_from_that_view_alone():
    holes = WIDE.copy()
    holes[[3, 7]] = np.nan
    graph = from_views({"wide": holes, "flat": FLAT}, k=3)
    assert np.flatnonzero(~graph.layers["wide"].present).tolist() == [3, 7]
    assert graph.layers["flat"].holds_all_nodes
    assert np.isnan(graph.layer_features["wide"][3]).all()
    part = graph.subgraph([3, 4, 5])
    assert np.isnan(part.layer_features["wide"][0]).all()
    assert not np.isnan(part.layer_features["wide"][1:]).any()


def test_rows_belong_together_by_name():
    left = pd.DataFrame(FLAT[:3], index=["a", "b", "c"])
    right = pd.DataFrame(FLAT[:3], index=["c", "d", "a"])
    graph = from_views({"left": left, "right": right}, k=1)
    assert graph.nodes.tolist() == ["a", "b", "c", "d"]
    assert graph.layers["left"].present.tolist() == [True, True, True, False]
    assert graph.layer_features["right"][0].tolist() == FLAT[2].tolist()


def test_sparse_views_and_few_nodes():
    words = sp.random_array((20, 40), density=0.2, rng=0, format="csr")
    graph = from_views({"words": words}, k=4)
    assert graph.layers["words"].num_edges >= 40
    assert sp.issparse(graph.layer_features["words"])
    assert from_views({"v": [[1.0, 2.0]]}).layers["v"].num_edges == 0
    assert from_views({"v": np.ones((3, 2))}).layers["v"].num_edges == 0


@pytest.mark.parametrize(
    ("views", "options", "problem"),
    [
        ({"a": WIDE, "b": FLAT[:5]}, {}, "different numbers of rows: 'a' has 30, 'b' has 5"),
        ({"a": [[1.0, np.nan], [1, 2]]}, {}, "in the view 'a' the node 0 has numbers that are missing"),
        ({"a": [["x"]]}, {}, "the view 'a' must be numbers"),
        ({"a": [1.0, 2.0]}, {}, "must have rows and columns"),
        ({"a": WIDE}, {"k": 0}, "k must be a whole number"),
        ({"a": WIDE}, {"k": {"b": 3}}, "k names the layer 'b'"),
        ({}, {}, "not empty"),
        ({"a": WIDE}, {"nodes": ["x"]}, "1 node names were given for 30"),
    ],
)
def test_bad_views_end_in_one_clear_message(views, options, problem):
    with pytest.raises(DataError, match=problem):
        from_views(views, **options)


@pytest.mark.parametrize(
    ("features", "problem"),
    [
        ({"x": FLAT}, "features were given for the layer 'x', which is not there"),
        ({"wide": FLAT[:3]}, "layer 'wide': features of shape"),
        ({"wide": [[1.0, np.nan]] * 30}, "layer 'wide': the features of node 0 are not all finite"),
    ],
)
def test_bad_features_of_a_layer_name_it(features, problem):
    graph = from_views({"wide": WIDE})
    with pytest.raises(DataError, match=problem):
        graph.replace(features=features)
