"""Numbers that spread: means of what reaches a node, and the mean of all where nothing does."""

import numpy as np
import pytest

from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.methods.regression.base import KnownNumbers
from gramme.methods.regression.propagation import NumberPropagation

GRAPH = MultilayerGraph({"a": EdgeLayer(5, [0, 1], [1, 2])}, nodes=list("abcde"))
KNOWN = KnownNumbers(np.array([0, 2]), np.array([1.0, 5.0]))


@pytest.mark.parametrize("alpha", [0.3, 0.9])
def test_a_node_that_no_number_reaches_gets_the_mean(alpha: float) -> None:
    found = NumberPropagation(alpha=alpha).fit(GRAPH, KNOWN).predict()
    assert found[3] == found[4] == 3.0
    assert found[0] < found[1] < found[2]


def test_another_graph_knows_the_numbers_by_the_names() -> None:
    model = NumberPropagation(alpha=0.6).fit(GRAPH, KNOWN)
    new = MultilayerGraph({"a": EdgeLayer(3, [0], [1])}, nodes=["x", "c", "y"])
    found = model.predict(new)
    assert 3 < found[0] < found[1] < 5
    assert found[2] == 3.0
    strangers = MultilayerGraph({"a": EdgeLayer(2, [0], [1])}, nodes=["x", "y"])
    assert model.predict(strangers).tolist() == [3.0, 3.0]
    assert model._informed(new).tolist() == [True, True, False]
    assert model._informed(strangers).tolist() == [False, False]
