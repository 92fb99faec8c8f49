"""What every regression on nodes shares: which numbers are known, the score, and what is refused."""

import numpy as np
import pytest

from gramme.errors import DataError, GrammeError
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.methods.regression.base import KnownNumbers, explained, known_numbers
from gramme.methods.regression.ingredients import NumberPropagation

GRAPH = MultilayerGraph(
    {"line": EdgeLayer(6, range(5), range(1, 6))}, nodes=list("abcdef"), labels=[1, 2, 3, 4, 5, None]
)


def test_known_numbers_by_place_and_by_name() -> None:
    found = known_numbers(GRAPH)
    assert found.nodes.tolist() == [0, 1, 2, 3, 4]
    assert found.values.tolist() == [1, 2, 3, 4, 5]
    assert found.part(found.values > 3).nodes.tolist() == [3, 4]
    named = known_numbers(GRAPH, {"f": "7.5", "a": float("nan"), "b": 2}, least=2)
    assert named.nodes.tolist() == [1, 5]
    assert named.values.tolist() == [2, 7.5]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["low", *[None] * 5], "the label 'low' of 'a' is not a number"),
        ([1.0, float("inf"), *[None] * 4], "the label of 'b' is infinite"),
        ([1e-300, -2e-300, *[None] * 4], "the largest of the labels is 2e-300, below 1e-100"),
        ([1.0, 2.0, *[None] * 4], "2 nodes have a known number; at least 5 are needed"),
    ],
)
def test_labels_that_will_not_do_are_refused(labels, message: str) -> None:
    with pytest.raises(DataError, match=message):
        NumberPropagation().fit(GRAPH, labels)


def test_scores_need_numbers_that_were_not_learned_from() -> None:
    model = NumberPropagation().fit(GRAPH)
    with pytest.raises(DataError, match="pass y"):
        model.score()
    other = GRAPH.replace(labels=[1, 2, 3, 4, 5, 6])
    assert model.score(other) == model.score(y=[1, 2, 3, 4, 5, 6]) < 1
    assert explained(np.array([1.0, 2, 3]), np.array([2.0, 2, 2])) == 0
    assert np.isnan(explained(np.ones(3), np.ones(3)))


def test_weights_that_overflow_are_refused() -> None:
    wild = MultilayerGraph({"line": EdgeLayer(6, range(5), range(1, 6), [1e300] * 5)})
    with pytest.raises(GrammeError, match="weight"):
        NumberPropagation().fit(wild, KnownNumbers(np.arange(5), np.arange(5.0)))
