"""The ingredients of the regression by themselves: what each can tell, and that a choice sees known numbers alone."""

import numpy as np
import pytest

from gramme.graph import EdgeLayer, MembershipLayer, MultilayerGraph
from gramme.methods.regression.ingredients import (
    INGREDIENTS,
    chosen,
    groups_ridge,
    inner_folds,
    propagation,
)


@pytest.mark.parametrize("name", INGREDIENTS)
def test_each_tells_groups_apart(name: str) -> None:
    codes = np.arange(80) % 4
    graph = MultilayerGraph({"kind": MembershipLayer.from_codes(codes)})
    nodes, truth = np.arange(0, 80, 3), codes * 5.0
    best = chosen(INGREDIENTS[name](graph), nodes, truth[nodes])
    assert np.corrcoef(best(nodes, truth[nodes]), truth)[0, 1] > 0.95


def test_a_node_that_no_number_reaches_gets_the_mean() -> None:
    graph = MultilayerGraph({"a": EdgeLayer(5, [0, 1], [1, 2])})
    for predictor in propagation(graph):
        found = predictor(np.array([0, 2]), np.array([1.0, 5.0]))
        assert found[3] == found[4] == 3.0
        assert 1 < found[1] < 5


def test_features_are_columns_too() -> None:
    random = np.random.default_rng(0)
    features = random.normal(size=(60, 1))
    graph = MultilayerGraph({"a": EdgeLayer(60, [0], [1])}, features=features)
    nodes = np.arange(30)
    found = groups_ridge(graph)[0](nodes, 4 * features[nodes, 0])
    assert np.corrcoef(found, features[:, 0])[0, 1] > 0.99


def test_few_labels_take_the_first_candidate() -> None:
    first, second = (lambda nodes, values: np.zeros(3)), (lambda nodes, values: np.ones(3))
    assert chosen([first, second], np.array([0, 1]), np.array([1.0, 1.0])) is first
    assert chosen([first, second], np.arange(3).repeat(2), np.ones(6)) is second
    assert inner_folds(3).tolist() == [0, 1, 2]
