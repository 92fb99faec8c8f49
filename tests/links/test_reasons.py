"""What is said about a layer in numbers: the calibration error without the part that chance adds."""

import numpy as np
import pytest

from gramme.links.reasons import calibration_bins, calibration_error, link_calibration_error


def plain(bins: np.ndarray) -> float:
    """The calibration error as it comes, chance included."""
    return float(np.abs(bins[:, 1] - bins[:, 2]).sum() / bins[:, 0].sum())


def test_perfect_probabilities_of_few_pairs_look_less_wrong_than_by_the_plain_formula():
    random = np.random.default_rng(0)
    told, untold = [], []
    for _ in range(200):
        probability = random.random(150)
        bins = calibration_bins(random.random(150) < probability, probability)
        told.append(plain(bins))
        untold.append(calibration_error(bins))
    assert np.mean(told) > 0.07, "150 pairs in ten bins: chance alone shows that much"
    assert np.mean(untold) < 0.65 * np.mean(told)


def test_an_error_that_is_large_against_chance_stays_what_it_is():
    random = np.random.default_rng(1)
    truth = random.random(20_000)
    linked = random.random(20_000) < truth
    bins = calibration_bins(linked, 0.8 * truth)
    assert calibration_error(bins) == pytest.approx(plain(bins), abs=1e-3)
    assert link_calibration_error(linked, 0.8 * truth) == calibration_error(bins)


def test_the_part_of_chance_is_that_of_a_simulation():
    bins = np.array([[30.0, 4.5, 6.0], [40.0, 20.0, 17.0], [0.0, 0.0, 0.0], [25.0, 24.0, 25.0]])
    pairs, expected, linked = bins[bins[:, 0] > 0].T
    share = linked / pairs
    gap = expected / pairs - share
    noise = np.random.default_rng(2).normal(size=(200_000, 3)) * np.sqrt(
        share * (1 - share) / pairs
    )
    simulated = np.abs(gap + noise).mean(axis=0) - np.abs(gap)
    right = ((np.abs(gap) - simulated) * pairs).sum() / pairs.sum()
    assert calibration_error(bins) == pytest.approx(right, abs=3e-4)
    assert calibration_error(bins) < plain(bins)
