import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramme.ops.alias import alias_tables, drawn
from gramme.ops.counter_random import derived_seed, start

WEIGHTS = st.lists(st.sampled_from([0.0, 1e-9, 0.1, 1.0, 3.0, 1e6]), max_size=8)


def shares(indptr, accept, alias):
    """The probability of each place within its segment, from the tables."""
    found = np.zeros(accept.size)
    for low, high in itertools.pairwise(indptr):
        for k in range(low, high):
            found[k] += accept[k] / (high - low)
            found[alias[k]] += (1 - accept[k]) / (high - low)
    return found


@given(st.lists(WEIGHTS, min_size=1, max_size=4))
def test_tables_hold_the_distribution_of_every_segment(segments):
    indptr = np.cumsum([0, *(len(one) for one in segments)]).astype(np.int64)
    weights = np.array([weight for one in segments for weight in one], dtype=float)
    accept, alias = alias_tables(indptr, weights)
    found = shares(indptr, accept, alias)
    for low, high in itertools.pairwise(indptr):
        part = weights[low:high]
        if part.sum() > 0:
            assert found[low:high] == pytest.approx(part / part.sum(), abs=1e-12)
            assert (found[low:high][part == 0] == 0).all()


def test_draws_follow_the_weights():
    weights = np.array([9.0, 1.0, 2.0, 0.0, 5.0])
    indptr = np.array([0, 1, 5])
    accept, alias = alias_tables(indptr, weights)
    stream = np.zeros(1, np.uint64)
    start(stream, derived_seed(3), 0, 0)
    counts = np.bincount([drawn(accept, alias, 1, 5, stream) for _ in range(20_000)], minlength=5)
    assert counts[0] == counts[3] == 0
    assert counts[1:] / 20_000 == pytest.approx(weights[1:] / 8, abs=0.015)


def test_without_tables_all_are_alike():
    none, stream = np.zeros(0), np.zeros(1, np.uint64)
    start(stream, derived_seed(0), 0, 0)
    places = [drawn(none, none.astype(np.int64), 10, 13, stream) for _ in range(3000)]
    assert np.bincount(places)[10:] / 3000 == pytest.approx(np.ones(3) / 3, abs=0.04)
