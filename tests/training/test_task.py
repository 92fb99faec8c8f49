"""What a network is trained on."""

import numpy as np
import pytest
import torch

from gramme.training import NumberTask, Task

CPU = torch.device("cpu")
SCORES = torch.randn(5, 2, 3, generator=torch.Generator().manual_seed(0))


def losses(one, scores=SCORES):
    return one.losses(one.among(scores))


def task(weights):
    return Task.of(np.array([4, 0, 2]), np.array([2, 0, 1]), np.array(weights, dtype=float), CPU)


def test_the_loss_is_the_weighted_cross_entropy_of_each_member():
    weights = np.array([[1.0, 0.0], [1.0, 3.0], [2.0, 1.0]])
    found = losses(task(weights))
    for member in range(2):
        entropy = -SCORES[:, member].log_softmax(-1)[[4, 0, 2], [2, 0, 1]].numpy()
        expected = np.average(entropy, weights=weights[:, member])
        assert found[member].item() == pytest.approx(expected, rel=1e-5)


def test_a_weight_of_zero_hides_a_label():
    hidden = task([[0.0, 1.0], [1.0, 1.0], [1.0, 1.0]])
    other = SCORES.clone()
    other[4, 0] += 10
    assert losses(hidden)[0] == losses(hidden, other)[0]


def test_accuracy_counts_as_the_weights_do():
    scores = torch.zeros(5, 1, 3)
    scores[4, 0, 2] = 1  # right
    scores[0, 0, 1] = 1  # wrong
    scores[2, 0, 1] = 1  # right
    one = task([[1.0], [2.0], [1.0]])
    assert one.accuracies(one.among(scores)).item() == pytest.approx(0.5)


def test_a_member_without_labels_has_no_loss_instead_of_no_number():
    assert losses(task([[0.0, 1.0]] * 3))[0] == 0


def test_numbers_are_met_by_squared_error_each_member_its_own():
    numbers = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    one = NumberTask.of(np.array([4, 0, 2]), numbers, np.array([[1.0, 1], [1, 0], [2, 1]]), CPU)
    scores = torch.zeros(5, 2, 1)
    scores[4, 0], scores[0, 0], scores[2, 0] = 1, 4, 3
    scores[2, 1] = 30
    assert losses(one, scores).tolist() == pytest.approx([4 / 4, 100 / 2])
    found = one.accuracies(one.among(scores)).tolist()
    assert found == pytest.approx([1 - 1 / 0.6875, 1 - 50 / 100])
