"""Scaling of a graph's own features: any unit, sparse to the first product, the leading directions of many columns."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from gramme import DataError
from gramme.methods.attention.given_features import ENTRY_SUM, GivenFeatures

MOST = 64


def words(nodes=60, columns=40, seed=0):
    random = np.random.default_rng(seed)
    return sp.csr_array((random.random((nodes, columns)) < 0.15).astype(np.float64))


def table(features, most=MOST):
    return GivenFeatures.of(features, most).table(features)


def test_the_unit_of_words_and_counts_does_not_matter():
    features = words()
    expected = table(features)
    for unit in (1e-3, 7.0, 1e6):
        np.testing.assert_allclose(table(features * unit), expected, atol=1e-5)
    np.testing.assert_allclose((expected**2).mean(), 1, rtol=1e-5)
    np.testing.assert_allclose(expected.mean(axis=0), 0, atol=1e-6)


def test_each_column_may_have_a_unit_of_its_own():
    features = words()
    units = np.logspace(-3, 6, features.shape[1])
    mixed = sp.csr_array(features * units[None, :])
    np.testing.assert_allclose(table(mixed), table(features), atol=1e-5)


def test_measurements_get_columns_of_variance_one():
    features = np.random.default_rng(0).normal(5, 1, size=(200, 10)) * np.logspace(-3, 6, 10)
    found = table(features)
    np.testing.assert_allclose(found.std(axis=0), 1, rtol=1e-4)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-4)


def test_a_column_that_is_the_same_everywhere_becomes_zero():
    features = np.random.default_rng(0).normal(size=(50, 3))
    features[:, 1] = 1e6
    assert not table(features)[:, 1].any()


def test_features_that_say_nothing_are_zero():
    assert not table(np.zeros((5, 3))).any()
    assert not table(np.full((5, 3), 2.5)).any()


@pytest.mark.parametrize("most", [MOST, 8])
def test_sparse_and_dense_agree(most):
    features = words()
    np.testing.assert_allclose(table(features, most), table(features.toarray(), most), atol=1e-4)
    measured = np.random.default_rng(1).normal(size=(60, 40))
    np.testing.assert_allclose(table(sp.csr_array(measured), most), table(measured, most), atol=1e-4)


def test_many_columns_become_their_leading_directions():
    random = np.random.default_rng(0)
    features = random.normal(size=(300, 5)) @ random.normal(size=(5, 90))
    features += 0.01 * random.normal(size=features.shape)
    found = table(features, 5)
    assert found.shape == (300, 5)
    full = table(features, 90).astype(np.float64)
    left, values, _ = np.linalg.svd(full, full_matrices=False)
    exact = left[:, :5] * values[:5]
    exact /= np.sqrt((exact**2).mean())
    np.testing.assert_allclose(np.abs(found), np.abs(exact), atol=1e-3)


def test_a_row_means_the_same_in_another_graph():
    features = words()
    scales = GivenFeatures.of(features, 8)
    np.testing.assert_allclose(scales.table(features[10:20]), scales.table(features)[10:20], atol=1e-6)


def test_another_number_of_columns_is_refused():
    scales = GivenFeatures.of(words(), 8)
    with pytest.raises(DataError, match="needs 40 features per node; the graph has 39"):
        scales.table(words(columns=39))


def wide():
    """Many words, of which each node has few."""
    nodes, columns, entries = 4_000, 100_000, 50
    random = np.random.default_rng(0)
    places = random.integers(columns, size=nodes * entries)
    return sp.csr_array(
        (np.ones(places.size, np.float32), places, np.arange(0, places.size + 1, entries)), shape=(nodes, columns)
    )


def test_a_wide_sparse_table_is_never_dense():
    features = wide()
    tracemalloc.start()
    found = table(features, 16)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.shape == (4_000, 16)
    assert peak < 300e6  # dense it would be 3.2e9, and 1.6e9 in single precision


def test_words_that_stay_sparse_take_a_few_copies_of_their_entries():
    features = wide()
    tracemalloc.start()
    found = sparse(features).sparse(features)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.dtype == np.float32
    assert found.nnz == np.count_nonzero(features.data)
    assert peak < 24e6  # 200,000 entries; 50 of them for each of a million nodes then take 6e9


def sparse(features, most=8):
    return GivenFeatures.of(features, most, may_be_sparse=True)


def test_many_words_stay_entries_whatever_their_unit():
    features = words()
    scales = sparse(features)
    assert scales.entries
    assert scales.columns == 40
    expected = scales.sparse(features)
    assert expected.nnz == features.nnz
    np.testing.assert_allclose(expected.sum(axis=1).mean(), ENTRY_SUM, rtol=1e-5)
    less = GivenFeatures.of(features, 8, may_be_sparse=True, entry_sum=3.0).sparse(features)
    np.testing.assert_allclose(less.toarray() * ENTRY_SUM, expected.toarray() * 3, rtol=1e-5)
    lengths = np.sqrt((expected**2).sum(axis=1))
    np.testing.assert_allclose(lengths[lengths > 0], lengths.max(), rtol=1e-5)
    for unit in (1e-3, 7.0, 1e6):
        found = sparse(features * unit).sparse(features * unit)
        np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-5)
    dense = sparse(features.toarray()).sparse(features.toarray())
    np.testing.assert_allclose(dense.toarray(), expected.toarray(), rtol=1e-5)


def test_few_words_and_measurements_are_dense():
    assert not sparse(words(), most=40).entries
    assert not sparse(np.random.default_rng(0).normal(size=(60, 40))).entries
    assert sparse(words() * 0).sparse(words()).shape == (60, 40)


def test_entries_of_another_number_of_columns_are_refused():
    with pytest.raises(DataError, match="needs 40 features per node; the graph has 39"):
        sparse(words()).sparse(words(columns=39))
