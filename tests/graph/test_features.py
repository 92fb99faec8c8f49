import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from gramme.errors import DataError
from gramme.graph.features import checked_features, same_features

NODES = pd.Index(["a", "b"])


def test_features_are_copied_and_read_only():
    given = np.ones((2, 3), dtype=np.float32)
    kept = checked_features(given, NODES)
    given[0, 0] = 9
    assert kept[0, 0] == 1
    assert kept.dtype == np.float32
    with pytest.raises(ValueError, match="read-only"):
        kept[0, 0] = 2


def test_other_numbers_become_float64_and_sparse_stays_sparse():
    assert checked_features([[1, 2], [3, 4]], NODES).dtype == np.float64
    sparse = checked_features(sp.coo_array(np.eye(2, dtype=int)), NODES)
    assert sp.issparse(sparse)
    assert sparse.dtype == np.float64
    assert not sparse.data.flags.writeable


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ([[1.0], [np.nan]], "the features of node 'b' are not all finite"),
        (sp.csr_array([[np.inf], [0.0]]), "the features of node 'a' are not all finite"),
        ([[1.0]], r"shape \(1, 1\) were given for 2 nodes"),
        ([1.0, 2.0], r"shape \(2,\) were given for 2 nodes"),
        ([["x"], ["y"]], "features must be numbers"),
        ([[1], [1, 2]], "in rows of equal length"),
        ([[1j], [0]], "real numbers"),
    ],
)
def test_what_is_no_features(features, words):
    with pytest.raises(DataError, match=words):
        checked_features(features, NODES)


def test_dense_and_sparse_can_be_the_same():
    dense = np.array([[0.0, 1.0], [2.0, 0.0]])
    assert same_features(dense, sp.csr_array(dense))
    assert not same_features(dense, sp.csr_array(2 * dense))
    assert not same_features(dense, dense[:, :1])
    assert same_features(None, None)
    assert not same_features(None, dense)
