import numpy as np
from scipy import stats

from gramme.ops.counter_random import below, derived_seed, start, uniform


def drawn(count, seed=0, first=0, second=0):
    stream = np.zeros(1, np.uint64)
    start(stream, derived_seed(seed), first, second)
    return np.array([uniform(stream) for _ in range(count)])


def test_numbers_are_uniform_and_uncorrelated():
    values = drawn(20_000)
    assert values.min() >= 0
    assert values.max() < 1
    assert stats.kstest(values, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(values[:-1], values[1:])[0, 1]) < 0.03


def test_first_numbers_of_neighbouring_streams_are_uniform_too():
    values = np.array([drawn(1, first=i, second=j)[0] for i in range(60) for j in range(60)])
    assert stats.kstest(values, "uniform").pvalue > 1e-3
    assert np.unique(values).size == values.size


def test_a_stream_belongs_to_its_numbers():
    assert (drawn(5, 1, 2, 3) == drawn(5, 1, 2, 3)).all()
    for other in ((2, 2, 3), (1, 3, 3), (1, 2, 4), (1, 3, 2)):
        assert (drawn(5, 1, 2, 3) != drawn(5, *other)).all()


def test_below_covers_its_range():
    stream = np.zeros(1, np.uint64)
    start(stream, derived_seed(0), 0, 0)
    assert {below(stream, 3) for _ in range(200)} == {0, 1, 2}
