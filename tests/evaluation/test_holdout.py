import numpy as np
import pandas as pd
import pytest

from gramme.errors import DataError
from gramme.evaluation import hold_out

LABELS = np.array(["a", "b", None, "a", "b", "a", None, "b", "a", "b"], dtype=object)


def test_labels_set_aside_are_not_in_training() -> None:
    split = hold_out(LABELS, 0.5, random_state=1)
    assert split.held_out.size == 4
    assert all(split.train[node] is None for node in split.held_out)
    others = np.setdiff1d(np.arange(LABELS.size), split.held_out)
    assert all(split.train[node] is LABELS[node] for node in others)
    assert all(LABELS[node] is not None for node in split.held_out)


def test_the_input_is_left_alone_and_the_seed_decides() -> None:
    before = LABELS.copy()
    first, again, other = (hold_out(LABELS, 0.5, random_state=seed) for seed in (1, 1, 2))
    assert (before == LABELS).all()
    assert first.held_out.tolist() == again.held_out.tolist()
    assert first.held_out.tolist() != other.held_out.tolist()


def test_accuracy_counts_only_the_nodes_set_aside() -> None:
    split = hold_out(LABELS, 0.5, random_state=1)
    guess = np.array(["wrong"] * LABELS.size, dtype=object)
    guess[split.held_out[:3]] = LABELS[split.held_out[:3]]
    accuracy, (low, high) = split.accuracy(guess)
    assert accuracy == 0.75
    assert low < 0.75 < high


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, float("nan")])
def test_a_share_outside_0_and_1_is_an_error(share: float) -> None:
    with pytest.raises(DataError, match="between 0 and 1"):
        hold_out(LABELS, share, random_state=0)


@pytest.mark.parametrize("share", [0.01, 0.99])
def test_too_few_labels_on_either_side_is_an_error(share: float) -> None:
    with pytest.raises(DataError, match="of 8 labelled nodes"):
        hold_out(LABELS, share, random_state=0)


def test_who_is_set_aside_depends_on_names_and_not_on_their_order() -> None:
    names = pd.Index([f"n{place}" for place in range(LABELS.size)])
    order = np.random.default_rng(0).permutation(LABELS.size)
    first = hold_out(LABELS, 0.5, 1, names)
    other = hold_out(LABELS[order], 0.5, 1, names[order])
    assert set(names[first.held_out]) == set(names[order][other.held_out])
