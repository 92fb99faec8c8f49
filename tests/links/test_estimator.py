"""Steps of learning tell how far they are, in steps and in shares of the work."""

from gramme._progress import watched
from gramme.links.estimator import LearningSteps


def test_a_step_counts_once_and_moves_its_part_of_the_work():
    told, shares = [], []
    with watched(lambda what, done, until: shares.append((what, round(done, 3), round(until, 3)))):
        steps = LearningSteps({"a": 2}, tell=lambda *one: told.append(one))
        with steps.within("evidence in a", 2):
            steps()
            steps()
        with steps.within("weighing", 2):
            steps()
    assert told == [(1, 4), (2, 4), (3, 4)]
    assert ("evidence in a", 0.2, 0.4) in shares, "one of five steps, a look at all edges among them"
    assert ("weighing", 0.6, 0.8) in shares
