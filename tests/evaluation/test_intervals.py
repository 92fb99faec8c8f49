import pytest
from scipy.stats import binomtest

from gramme.evaluation import accuracy_interval


@pytest.mark.parametrize(
    ("right", "total"), [(0, 5), (5, 5), (3, 7), (90, 100), (1, 1), (999, 1000)]
)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_equals_scipys_wilson_interval(right: int, total: int, level: float) -> None:
    low, high = accuracy_interval(right, total, level)
    known = binomtest(right, total).proportion_ci(level, method="wilson")
    assert low == pytest.approx(known.low, abs=1e-12)
    assert high == pytest.approx(known.high, abs=1e-12)


def test_nothing_measured_says_nothing() -> None:
    assert accuracy_interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize("total", [24, 24 / 1.51, 7.3])
def test_all_right_may_mean_always_right(total: float) -> None:
    """Rounding once left the bound at 1 - 1e-16, below the truth."""
    assert accuracy_interval(total, total)[1] == 1.0
    assert accuracy_interval(0, total)[0] == 0.0
