"""Folds: every class spread evenly, every label in one fold, the same seed the same folds."""

import numpy as np
import pytest

from gramme.methods.folds import dealt_in_turn, enough_folds, stratified_folds


@pytest.mark.parametrize("folds", [2, 3, 5])
@pytest.mark.parametrize("sizes", [(10, 10), (17, 4, 9), (1, 1, 1), (3,)])
def test_classes_are_spread_evenly(folds, sizes):
    codes = np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))
    fold = stratified_folds(codes, folds, seed=1)
    used = min(folds, codes.size)
    assert set(fold.tolist()) == set(range(used))
    for code in range(len(sizes)):
        counts = np.bincount(fold[codes == code], minlength=used)
        assert counts.max() - counts.min() <= 1
    total = np.bincount(fold)
    assert total.max() - total.min() <= 1


def test_the_seed_decides():
    codes = np.arange(40) % 3
    first = stratified_folds(codes, 5, seed=0)
    assert first.tolist() == stratified_folds(codes, 5, seed=0).tolist()
    assert first.tolist() != stratified_folds(codes, 5, seed=1).tolist()


def test_dealing():
    assert dealt_in_turn(np.array([3, 1, 0, 2]), 2).tolist() == [0, 1, 1, 0]
    assert dealt_in_turn(np.zeros(0, dtype=np.int64), 2).tolist() == []


def test_all_folds_of_small_data_and_of_few_labels_are_tested():
    few = np.arange(50) % 5
    assert enough_folds(few, 2_000_000) is few
    assert (enough_folds(few, 10**8) == few).all()
    assert enough_folds(np.arange(6000) % 5, 10**8).max() == 0
