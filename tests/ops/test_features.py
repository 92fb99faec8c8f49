import numpy as np
import pandas as pd
import pytest

from gramme.ops import random_features

MANY = pd.RangeIndex(20_000)
PINNED = [0.4997767, -0.17681247, -0.9719068]
PINNED_COPY = [-0.92414296, 0.08641704, 1.3754059]


def test_a_node_has_the_same_features_in_any_graph() -> None:
    some = random_features(pd.Index(["Ann", "Bo", "Cy"]), 5, seed=3)
    others = random_features(pd.Index(["Di", "Cy", "Ed", "Ann"]), 5, seed=3)
    np.testing.assert_array_equal(some[[0, 2]], others[[3, 1]])


def test_a_column_does_not_depend_on_how_many_there_are() -> None:
    names = pd.Index(["Ann", "Bo"])
    np.testing.assert_array_equal(
        random_features(names, 3, seed=3), random_features(names, 9, seed=3)[:, :3]
    )


def test_names_count_by_their_text() -> None:
    np.testing.assert_array_equal(
        random_features(pd.Index([7, 12]), 4, seed=0), random_features(pd.Index(["7", "12"]), 4, 0)
    )


def test_the_numbers_never_change() -> None:
    found = random_features(pd.Index(["Ann"]), 3, seed=0)
    np.testing.assert_array_equal(found[0], np.array(PINNED, dtype=np.float32))
    other = random_features(pd.Index(["Ann"]), 3, seed=1, copy=2)
    np.testing.assert_array_equal(other[0], np.array(PINNED_COPY, dtype=np.float32))


def test_mean_0_and_variance_1() -> None:
    found = random_features(MANY, 16, seed=1).astype(np.float64)
    assert found.dtype == np.float64
    assert abs(found.mean()) < 5 / found.size**0.5
    assert abs(found.var() - 1) < 5 * 0.9 / found.size**0.5
    assert np.abs(found.mean(0)).max() < 5 / len(MANY) ** 0.5
    assert np.abs(found).max() <= 3**0.5


def test_columns_seeds_and_copies_are_unrelated() -> None:
    sets = [
        random_features(MANY, 6, seed=0),
        random_features(MANY, 6, seed=1),
        random_features(MANY, 6, seed=0, copy=1),
        random_features(MANY, 6, seed=1, copy=1),
    ]
    correlation = np.corrcoef(np.hstack(sets), rowvar=False) - np.eye(24)
    assert np.abs(correlation).max() < 5 / len(MANY) ** 0.5


def test_rows_are_unrelated() -> None:
    found = random_features(pd.RangeIndex(30), 20_000, seed=0)
    correlation = np.corrcoef(found) - np.eye(30)
    assert np.abs(correlation).max() < 5 / 20_000**0.5


def test_written_where_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    names = pd.RangeIndex(50)
    wanted = random_features(names, 7, seed=4)
    monkeypatch.setattr("gramme.ops.features._BLOCK", 21)
    out = np.empty((50, 7), dtype=np.float32)
    assert random_features(names, 7, seed=4, out=out) is out
    np.testing.assert_array_equal(out, wanted)


def test_nothing_asked_for() -> None:
    assert random_features(pd.Index([]), 3, seed=0).shape == (0, 3)
    assert random_features(pd.Index(["Ann"]), 0, seed=0).shape == (1, 0)


def test_any_whole_number_is_a_seed() -> None:
    names = pd.Index(["Ann"])
    for seed in (-1, 2**63, 2**70):
        assert np.isfinite(random_features(names, 2, seed)).all()


def test_names_that_no_file_can_hold_have_features_too():
    found = random_features(pd.Index(["\ud800", "\udfff", "ok"], dtype=object), 4, seed=0)
    assert np.isfinite(found).all()
    assert (found[0] != found[1]).any()
