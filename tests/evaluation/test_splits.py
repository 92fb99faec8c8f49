import numpy as np
import pandas as pd
import pytest

from gramme.errors import DataError
from gramme.evaluation import hold_out, random_split

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


HOLDOUT_LABELS = np.array(["a", "b", None, "a", "b", "a", None, "b", "a", "b"], dtype=object)


def test_labels_set_aside_are_not_in_training() -> None:
    split = hold_out(HOLDOUT_LABELS, 0.5, random_state=1)
    assert split.held_out.size == 4
    assert all(split.train[node] is None for node in split.held_out)
    others = np.setdiff1d(np.arange(HOLDOUT_LABELS.size), split.held_out)
    assert all(split.train[node] is HOLDOUT_LABELS[node] for node in others)
    assert all(HOLDOUT_LABELS[node] is not None for node in split.held_out)


def test_the_input_is_left_alone_and_the_seed_decides() -> None:
    before = HOLDOUT_LABELS.copy()
    first, again, other = (hold_out(HOLDOUT_LABELS, 0.5, random_state=seed) for seed in (1, 1, 2))
    assert (before == HOLDOUT_LABELS).all()
    assert first.held_out.tolist() == again.held_out.tolist()
    assert first.held_out.tolist() != other.held_out.tolist()


def test_accuracy_counts_only_the_nodes_set_aside() -> None:
    split = hold_out(HOLDOUT_LABELS, 0.5, random_state=1)
    guess = np.array(["wrong"] * HOLDOUT_LABELS.size, dtype=object)
    guess[split.held_out[:3]] = HOLDOUT_LABELS[split.held_out[:3]]
    accuracy, (low, high) = split.accuracy(guess)
    assert accuracy == 0.75
    assert low < 0.75 < high


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, float("nan")])
def test_a_share_outside_0_and_1_is_an_error(share: float) -> None:
    with pytest.raises(DataError, match="between 0 and 1"):
        hold_out(HOLDOUT_LABELS, share, random_state=0)


@pytest.mark.parametrize("share", [0.01, 0.99])
def test_too_few_labels_on_either_side_is_an_error(share: float) -> None:
    with pytest.raises(DataError, match="of 8 labelled nodes"):
        hold_out(HOLDOUT_LABELS, share, random_state=0)


def test_who_is_set_aside_depends_on_names_and_not_on_their_order() -> None:
    names = pd.Index([f"n{place}" for place in range(HOLDOUT_LABELS.size)])
    order = np.random.default_rng(0).permutation(HOLDOUT_LABELS.size)
    first = hold_out(HOLDOUT_LABELS, 0.5, 1, names)
    other = hold_out(HOLDOUT_LABELS[order], 0.5, 1, names[order])
    assert set(names[first.held_out]) == set(names[order][other.held_out])
