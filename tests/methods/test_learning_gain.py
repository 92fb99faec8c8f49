"""How many of its folds' misses a model of all labels makes."""

import pytest

from gramme.methods.learning_gain import LEAST_RATIO, MOST_RATIO, miss_ratio


@pytest.mark.parametrize("folds", [3, 5, 10])
def test_misses_that_fall_as_one_over_the_labels_are_followed_to_all_labels(folds):
    """With misses a + b / n the model's are a + b; the caution keeps two of the folds' misses as they are."""
    flat, steep = 2000.0, 1000.0
    tested, halved = flat + steep * folds / (folds - 1), flat + 2 * steep
    expected = (flat + steep) / tested
    assert miss_ratio(round(tested), round(halved), folds) == pytest.approx(expected, abs=0.002)


def test_few_misses_tell_little_and_the_ratio_stays_in_its_bounds():
    assert miss_ratio(0, 0, 5) == 1
    assert miss_ratio(1, 2, 5) > miss_ratio(100, 200, 5)
    assert miss_ratio(1, 90, 5) == LEAST_RATIO
    assert miss_ratio(50, 0, 5) == MOST_RATIO


@pytest.mark.parametrize("folds", [0, 1, 2])
def test_without_folds_or_with_halves_alone_nothing_is_told(folds):
    assert miss_ratio(10, 50, folds) == 1
