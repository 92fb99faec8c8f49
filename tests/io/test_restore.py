import numpy as np
import pandas as pd
import pytest

from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.io.restore import renamed, restored_edges, restored_graph

NUMBERS = np.array([0, 0, 1])


def restore(source=NUMBERS, target=(1, 2, 2), weight=None, directed=False, present=None, nodes=3):
    weight = None if weight is None else np.array(weight)
    return restored_edges(nodes, np.array(source), np.array(target), weight, directed, present)


def test_a_layer_comes_back_as_it_was():
    layer = EdgeLayer(4, [0, 2, 1], [1, 3, 2], [1.0, 2.0, 3.0])
    again = restored_edges(4, layer.source, layer.target, layer.weight, False, None)
    assert again == layer
    assert again.source.dtype == layer.source.dtype


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"target": (1, 2)}, "differ in number"),
        ({"target": (1, 2, 3)}, "does not exist"),
        ({"target": (1, 2, 1)}, "self loop"),
        ({"target": (2, 1, 2)}, "not sorted"),
        ({"target": (1, 1, 2)}, "not sorted"),
        ({"source": (1, 1, 2), "target": (0, 2, 0)}, "wrong way round"),
        ({"weight": (1.0, 0.0, 1.0)}, "not a positive number"),
        ({"weight": (1.0, np.nan, 1.0)}, "not a positive number"),
        ({"weight": np.ones(3, dtype=np.float32)}, "64 bits"),
        ({"present": np.array([True, True, False])}, "absent from its layer"),
    ],
)
def test_edges_that_no_layer_can_have(changes, words):
    with pytest.raises(ValueError, match=words):
        restore(**changes)


def test_the_order_is_checked_across_blocks(monkeypatch):
    monkeypatch.setattr("gramme.io.restore._BLOCK_VALUES", 2)
    assert restore().num_edges == 3
    with pytest.raises(ValueError, match="not sorted"):
        restore(source=(0, 1, 0), target=(1, 2, 2))


def test_features_are_used_as_they_are_after_a_check():
    layers = {"l": restore()}
    features = np.ones((3, 2))
    graph = restored_graph(layers, pd.RangeIndex(3), None, features, "g")
    assert graph.features is features
    for wrong in (np.ones((2, 2)), np.ones((3, 2), dtype=int), np.full((3, 1), np.inf)):
        with pytest.raises(ValueError, match="features"):
            restored_graph(layers, pd.RangeIndex(3), None, wrong, "g")


def test_renamed_keeps_all_but_the_names():
    graph = MultilayerGraph({"l": restore()}, labels=["a", None, "b"], name="g")
    again = renamed(graph, pd.Index(["x", "y", "z"]))
    assert again.nodes.tolist() == ["x", "y", "z"]
    assert again.layers["l"] is graph.layers["l"]
    assert again.labels.tolist() == ["a", None, "b"]
