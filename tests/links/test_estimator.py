"""Steps of learning tell how far they are, in steps and in expected seconds."""

import pytest

from gramme._progress import watched
from gramme.links.estimator import LearningSteps
from gramme.links.expected_time import ExpectedSeconds

EXPECTED = ExpectedSeconds({"a": 6.0}, 1.0, 1.0, 1.0, {"a": 1.0}, {"a": 100.0})


def test_a_step_counts_once_and_moves_its_part_of_the_work_by_its_seconds():
    told, shares = [], []
    with watched(lambda what, done, until: shares.append((what, round(done, 3), round(until, 3)))):
        steps = LearningSteps(
            {"a": 2}, EXPECTED, attention=False, tell=lambda *one: told.append(one)
        )
        with steps.within("evidence in a", 6.0, 2):
            steps()
            steps()
        with steps.within("weighing", 1.0, 2):
            steps()
    assert told == [(1, 4), (2, 4), (3, 4)]
    assert ("evidence in a", 0.3, 0.6) in shares, "half of six of ten seconds"
    assert ("weighing", 0.65, 0.7) in shares


@pytest.mark.parametrize(("attention", "steps"), [(False, 4), (True, 8)])
def test_steps_that_attention_may_take_are_counted_before(attention, steps):
    assert LearningSteps({"a": 2}, EXPECTED, attention=attention).total == steps
