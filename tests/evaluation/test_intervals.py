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
