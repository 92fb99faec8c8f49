import numpy as np
import pytest

from gramme.evaluation.recall import Recall


def test_classes_without_tested_nodes_do_not_count():
    found = Recall.of(["a", "b", "c"], np.array([[8, 2, 0], [1, 3, 1], [0, 0, 0]]))
    assert found.classes == ["a", "b"]
    assert found.shares.tolist() == [0.8, 0.6]
    assert found.balanced_accuracy == pytest.approx(0.7)
    assert found.guess == ("a", 10 / 15)
    assert not found.unequal, "twice as many is not yet unequal"


@pytest.mark.parametrize(
    ("right", "verdict"), [([50, 50], "better"), ([28, 25], "unclear"), ([50, 0], "no better")]
)
def test_the_verdict_on_equal_classes_is_by_accuracy(right: list[int], verdict: str):
    one = Recall(["a", "b"], np.array([50, 50]), np.array(right))
    accuracy = sum(right) / 100
    assert one.verdict(accuracy, (accuracy - 0.1, accuracy + 0.1)) == verdict


def test_the_interval_of_the_balanced_accuracy_covers_it_about_as_often_as_it_says():
    random = np.random.default_rng(0)
    sizes, shares = np.array([200, 20]), np.array([0.9, 0.6])
    inside = 0
    for _ in range(500):
        one = Recall(["a", "b"], sizes, random.binomial(sizes, shares))
        low, high = one.balanced_interval
        inside += low <= shares.mean() <= high
    assert 0.92 <= inside / 500 <= 0.985
    assert Recall(["a", "b"], np.array([9, 9]), np.array([9, 9])).balanced_interval[1] == 1
