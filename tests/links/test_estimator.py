"""Steps of learning tell how far they are, in steps and in shares of the work."""

import pytest

from gramme._progress import watched
from gramme.links.estimator import LearningSteps


def test_a_step_counts_once_and_moves_its_part_of_the_work():
    told, shares = [], []
    with watched(lambda what, done, until: shares.append((what, round(done, 3), round(until, 3)))):
        steps = LearningSteps({"a": 2}, attention=False, tell=lambda *one: told.append(one))
        with steps.within("evidence in a", 2):
            steps()
            steps()
        with steps.within("weighing", 2):
            steps()
    assert told == [(1, 4), (2, 4), (3, 4)]
    assert ("evidence in a", 0.2, 0.4) in shares, "one of five steps, a look at all edges among them"
    assert ("weighing", 0.6, 0.8) in shares


@pytest.mark.parametrize(("attention", "steps"), [(False, 4), (True, 8)])
def test_steps_that_attention_may_take_are_counted_before(attention, steps):
    assert LearningSteps({"a": 2}, attention=attention).total == steps
