"""The promise is kept on average, exactly where it can be counted, and never made from too few labels."""

import numpy as np
import pytest

from gramme.methods.set_promise import UnseenLabels, fewest_labels


def thresholds(scores, codes, classes, coverage, **options):
    tested = UnseenLabels(scores, codes)
    return np.array([one.threshold for one in tested.promises(coverage, classes, **options)])


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("labels", [1, 8, 9, 30, 99])
def test_the_promise_is_kept_in_the_mean_over_draws(coverage, labels):
    """The k-th of n draws leaves out k in n + 1 of further ones: never more than promised, and at most 1 in n less."""
    random = np.random.default_rng(labels)
    trials = np.sort(random.random((4000, labels)), axis=1)
    codes = np.zeros(labels, dtype=np.int64)
    bars = np.array([thresholds(own, codes, 1, coverage)[0] for own in trials])
    kept = 1 - bars.mean()  # the chance that a further uniform draw reaches the bar
    assert coverage - 0.01 < kept < coverage + 1 / (labels + 1) + 0.01


@pytest.mark.parametrize(("coverage", "fewest"), [(0.5, 1), (0.8, 4), (0.9, 9), (0.99, 99)])
def test_so_many_labels_are_needed_to_promise_anything(coverage, fewest):
    assert fewest_labels(coverage) == fewest
    for count, promised in ((fewest - 1, False), (fewest, True)):
        found = thresholds(np.full(count, 0.7), np.zeros(count, int), 2, coverage)
        assert (found > 0).all() == promised


def test_by_class_each_class_has_a_threshold_of_its_own():
    own = np.r_[np.linspace(0.5, 0.99, 50), np.linspace(0.1, 0.4, 50), [0.9] * 3]
    codes = np.repeat([0, 1, 2], [50, 50, 3])
    found = thresholds(own, codes, 4, 0.9, by_class=True)
    assert found[0] == own[4]
    assert found[1] == own[54]
    assert found[2:].tolist() == [0, 0]  # too few labels, and none at all


@pytest.mark.parametrize("labels", [20, 60, 200])
@pytest.mark.parametrize("slope", [0.0, 4.0, 8.0])
def test_where_misses_fall_with_the_labels_the_promise_is_that_of_all_labels(labels, slope):
    """A model of n labels has uniform draws to the power of 1 + slope / n as scores, larger ones with more labels."""
    random = np.random.default_rng(labels)
    codes, coverage = np.zeros(labels, dtype=np.int64), 0.8

    def drawn(share, chance):
        return chance ** (1 + slope / (share * labels))

    kept, said = [], []
    for _ in range(2000):
        chance = random.random(labels)  # an easy label is easy for all models
        halved = drawn(0.5, chance)
        found = UnseenLabels(drawn(0.8, chance), codes, halved, folds=5).promise(coverage)
        said.append(found.level)
        kept.append(1 - found.threshold ** (1 / (1 + slope / labels)))
    assert abs(np.mean(kept) - np.mean(said)) < 0.02
    assert np.mean(said) < coverage + 1 / labels + 0.01


def test_without_models_of_halves_and_without_folds_nothing_is_corrected():
    scores, halved = np.linspace(0.01, 0.99, 99), np.linspace(0.01, 0.8, 99)
    codes = np.zeros(99, dtype=np.int64)
    plain = UnseenLabels(scores, codes).promise(0.9)
    assert UnseenLabels(scores, codes, halved, folds=0).promise(0.9) == plain
    assert UnseenLabels(scores, codes, halved, folds=5).promise(0.9).threshold > plain.threshold


def test_the_fewest_labels_keep_the_promise_also_where_a_half_does_better():
    scores = np.linspace(0.1, 0.9, 9)
    found = UnseenLabels(scores, np.zeros(9, dtype=np.int64), np.ones(9), folds=5).promise(0.9)
    assert found.threshold == pytest.approx(0.1)
    assert found.level == pytest.approx(0.9)
