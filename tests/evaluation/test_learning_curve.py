"""The learning curve: rises, has an interval, and keeps to what is there."""

import numpy as np
import pytest
from tests.grouping.planted import planted

from gramme.errors import DataError
from gramme.evaluation.learning_curve import learning_curve


def labelled(count: int, seed: int = 0):
    graph, group = planted(nodes=150, inside=0.12, noise=0)
    known = np.random.default_rng(seed).choice(150, count, replace=False)
    labels = np.full(150, None, dtype=object)
    labels[known] = [f"class {one}" for one in group[known]]
    return graph.replace(labels=labels), group


def test_more_labels_are_expected_to_be_no_worse():
    graph, _ = labelled(24)
    curve = learning_curve(graph)
    assert curve["more"].tolist() == [0, 10, 20, 40]
    assert curve["labels"].tolist() == [24, 34, 44, 64]
    assert curve["accuracy"].is_monotonic_increasing
    assert (curve["low"] <= curve["accuracy"]).all()
    assert (curve["accuracy"] <= curve["high"]).all()
    assert curve["accuracy"][0] > 0.7


def test_no_more_labels_than_nodes():
    graph, _ = labelled(135)
    assert learning_curve(graph)["more"].tolist() == [0, 10]


def test_labels_that_mean_nothing_promise_nothing():
    graph, _ = labelled(40)
    random = np.random.default_rng(0)
    shuffled = [None if one is None else random.choice(["a", "b"]) for one in graph.labels]
    curve = learning_curve(graph, shuffled)
    assert curve["accuracy"].max() < 0.75


def test_few_labels_are_refused():
    graph, _ = labelled(11)
    with pytest.raises(DataError, match="needs 12 labels, not 11"):
        learning_curve(graph)
