import numpy as np
import pytest

from gramme.errors import DataError
from gramme.evaluation import random_split

LABELS = np.array(["a", "b", None, "c"] * 25, dtype=object)


def test_train_and_test_are_all_labelled_nodes_and_never_both():
    split = random_split(LABELS, 20, 3)
    assert len(split.train) == 15
    both = np.concatenate([split.train, split.test])
    assert sorted(both) == [i for i, label in enumerate(LABELS) if label is not None]
    assert split.y[split.train].tolist() == LABELS[split.train].tolist()
    assert all(split.y[node] is None for node in split.test)
    assert all(split.monitor[node] is None for node in split.train)


def test_the_seed_is_the_realisation_and_percentages_are_nested():
    again = random_split(LABELS, 20, 3)
    assert (random_split(LABELS, 20, 3).train == again.train).all()
    assert (random_split(LABELS, 20, 4).train != again.train).any()
    assert set(random_split(LABELS, 10, 3).train) < set(again.train)


def test_it_is_the_documented_draw():
    known = np.flatnonzero([label is not None for label in LABELS])
    order = np.random.default_rng(5).permutation(known.size)
    assert set(random_split(LABELS, 10, 5).train) == set(known[order[: round(known.size * 0.1)]])


def test_missed_classes_are_counted_and_the_split_is_kept():
    labels = np.array(["common"] * 99 + ["rare"], dtype=object)
    missed = [random_split(labels, 10, r).missed for r in range(20)]
    assert set(missed) == {0, 1}


@pytest.mark.parametrize("percent", [0, 100, -5, 250, float("nan")])
def test_a_percentage_out_of_range(percent):
    with pytest.raises(DataError, match="more than 0 and less than 100"):
        random_split(LABELS, percent, 0)


def test_nothing_left_to_test_on():
    with pytest.raises(DataError, match="none to test on"):
        random_split(np.array(["a", "b"], dtype=object), 90, 0)
