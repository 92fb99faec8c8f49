import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from gramme.errors import DataError
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.graph.node_values import aligned, checked_features, same_features

NAMED = MultilayerGraph({"l": EdgeLayer(3, [0], [1])}, nodes=["a", "b", "c"])
NUMBERED = MultilayerGraph({"l": EdgeLayer(3, [0], [1])})


@pytest.mark.parametrize(
    "values",
    [
        ["x", None, "y"],
        np.array(["x", None, "y"], dtype=object),
        ("x", float("nan"), "y"),
        {"c": "y", "a": "x"},
        pd.Series(["x", pd.NA, "y"]),
        pd.Series(["y", "x"], index=["c", "a"]),
    ],
)
def test_every_form_of_the_same_values(values):
    assert aligned(NAMED, values).tolist() == ["x", None, "y"]


def test_a_series_goes_by_name_where_nodes_are_numbers():
    assert aligned(NUMBERED, pd.Series(["y", "x"], index=[2, 0])).tolist() == ["x", None, "y"]


def test_the_result_is_read_only_and_of_python_values():
    found = aligned(NAMED, np.array([1, 2, 3]))
    assert type(found[0]) is int
    assert not found.flags.writeable


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["x"], "1 labels were given for 3 nodes"),
        ("xyz", "must be a sequence or a mapping"),
        (3, "must be a sequence or a mapping"),
        (np.zeros((3, 1)), "must be one-dimensional"),
        ([["x"], "y", "z"], "the label of node 'a' is not a value"),
        ({"q": "x"}, "q"),
        (pd.Series(["x", "y"], index=["a", "a"]), "'a' has more than one label"),
    ],
)
def test_what_cannot_be_aligned(values, words):
    with pytest.raises(DataError, match=words):
        aligned(NAMED, values, "label")


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
