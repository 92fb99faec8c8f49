"""What each member learns from, and which labels it sets aside."""

import numpy as np
import pytest
import torch

from gramme.training import Lessons, held_out_labels

CPU = torch.device("cpu")
NODES, CODES = np.array([4, 0, 2, 7]), np.array([0, 1, 0, 1])


def test_members_learn_by_their_weights():
    weights = np.array([[1.0, 0.0], [1.0, 2.0], [0.0, 1.0], [2.0, 1.0]])
    lessons = Lessons(NODES, CODES, weights)
    assert lessons.members == 2
    task, stopping = lessons.tasks(range(1, 2), CPU)
    assert stopping is None
    assert task.nodes.tolist() == NODES.tolist()
    assert task.weights[:, 0].tolist() == [0, 0.5, 0.25, 0.25]


def test_labels_set_aside_teach_nothing_and_tell_when_to_stop():
    aside = np.array([[True], [False], [False], [True]])
    task, stopping = Lessons(NODES, CODES, np.ones((4, 1)), aside).tasks(range(1), CPU)
    assert stopping is not None
    assert (task.weights[:, 0] > 0).tolist() == (~aside[:, 0]).tolist()
    assert (stopping.weights[:, 0] > 0).tolist() == aside[:, 0].tolist()


def test_validation_labels_count_alike_for_all_members():
    validation = (np.array([1, 3]), np.array([0, 1]))
    task, stopping = Lessons(NODES, CODES, np.ones((4, 3)), validation=validation).tasks(
        range(1, 3), CPU
    )
    assert stopping is not None
    assert stopping.nodes.tolist() == [1, 3]
    assert stopping.weights.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert task.weights.shape == (4, 2)


def test_labels_are_held_out_within_each_class_and_one_of_each_stays():
    codes = np.repeat([0, 1, 2], [10, 6, 1])
    seen = np.ones((17, 3), dtype=bool)
    seen[:5, 2] = False
    aside = held_out_labels(codes, seen, 0.5, seed=0)
    assert aside is not None
    for member in range(3):
        assert set(codes[seen[:, member] & ~aside[:, member]]) == {0, 1, 2}
        assert not (aside & ~seen).any()
    assert aside[:, 0].sum() == 5 + 3
    assert (aside[:, 0] != aside[:, 1]).any()
    again = held_out_labels(codes, seen, 0.5, seed=0)
    assert np.array_equal(aside, again)


@pytest.mark.parametrize("codes", [[0, 1], []])
def test_too_few_labels_to_hold_any_out(codes):
    seen = np.ones((len(codes), 2), dtype=bool)
    assert held_out_labels(np.array(codes, dtype=np.int64), seen, 0.9, seed=0) is None
