import numpy as np
import pytest

from gramme.evaluation.calibration import on_the_whole, reliability_table
from gramme.evaluation.metrics import calibration_error


def test_every_node_is_in_one_bin_and_bins_are_in_order():
    random = np.random.default_rng(0)
    shares, codes = random.dirichlet([2, 1, 1], 200), random.integers(-1, 3, 200)
    table = reliability_table(shares, codes)
    assert table["nodes"].tolist() == [20] * 10
    assert table["probability"].is_monotonic_increasing
    assert (table["low"] <= table["right"]).all()
    assert (table["right"] <= table["high"]).all()
    right = (shares.argmax(1) == codes).mean()
    assert (table["right"] * table["nodes"]).sum() / 200 == pytest.approx(right)


def test_probabilities_that_are_meant_as_said_lie_within_their_intervals():
    random = np.random.default_rng(1)
    first = random.uniform(0.5, 1, 3000)
    shares = np.stack([first, 1 - first], axis=1)
    codes = (random.random(3000) > first).astype(np.int64)
    table = reliability_table(shares, codes)
    inside = (table["low"] <= table["probability"]) & (table["probability"] <= table["high"])
    assert inside.sum() >= 9
    assert calibration_error(first, codes == 0) < 0.05


@pytest.mark.parametrize(("labels", "bins"), [(0, 0), (10, 1), (45, 3), (1000, 10)])
def test_few_labels_make_few_bins(labels, bins):
    shares = np.tile([0.7, 0.3], (labels, 1))
    assert len(reliability_table(shares, np.zeros(labels, dtype=np.int64))) == bins


def outcomes(true, shift=0.0):
    """Predictions that are right with the probability ``true`` and say ``true + shift``."""
    codes = (np.random.default_rng(0).random(true.size) > true).astype(np.int64)
    return reliability_table(np.stack([true + shift, 1 - true - shift], axis=1), codes)


@pytest.mark.parametrize(("shift", "verdict"), [(0.0, "fits"), (0.1, "too sure"), (-0.1, "not sure enough")])
def test_what_is_off_by_more_than_chance_is_called_so(shift, verdict):
    true = np.random.default_rng(1).uniform(0.61, 0.9, 1000)
    found = on_the_whole(outcomes(true, shift))
    assert found.verdict == verdict
    assert found.nodes == 1000
    assert found.said == pytest.approx((true + shift).mean())
    assert found.said - found.right == pytest.approx(shift, abs=0.04)


def test_a_verdict_needs_more_than_chance():
    def verdict(said, right, nodes):
        return on_the_whole({"probability": [said], "right": [right], "nodes": [nodes]}).verdict

    assert verdict(0.9, 0.8, 20) == "fits"
    assert verdict(0.9, 0.8, 200) == "too sure"
    assert verdict(1.0, 1.0, 30) == "fits"
    assert verdict(1.0, 29 / 30, 30) == "too sure"


def test_the_share_right_is_counted_also_where_the_table_was_rounded():
    right, nodes = np.array([28, 31, 33, 33, 42, 49, 41, 57, 58, 68]), np.array([79] * 5 + [78] * 5)
    table = {"probability": right / nodes, "right": (right / nodes).round(4), "nodes": nodes}
    assert on_the_whole(table).right == right.sum() / nodes.sum() == 440 / 785
