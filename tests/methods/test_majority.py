"""The most frequent class for everybody."""

import numpy as np
from tests.methods.cases import MethodCase

from gramme import datasets
from gramme.methods import Majority


class TestMajority(MethodCase):
    name = "majority"
    inductive = True
    quality = 0.2


def test_frequencies_are_the_probabilities():
    graph = datasets.load("balance_scale")
    y = np.full(625, None, dtype=object)
    y[[0, 1, 300, 400]] = ["R", "R", "L", "B"]
    model = Majority().fit(graph, y)
    assert set(model.predict()) == {"R"}
    assert model.probabilities_[5].tolist() == [0.25, 0.25, 0.5]


def test_of_equally_frequent_classes_the_first():
    graph = datasets.load("balance_scale")
    model = Majority().fit(graph, {graph.nodes[0]: "L", graph.nodes[1]: "R"})
    assert set(model.predict()) == {"L"}
