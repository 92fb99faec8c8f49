import numpy as np
import pandas as pd
import pytest

from gramme.errors import DataError
from gramme.graph import EdgeLayer, MultilayerGraph
from gramme.graph.align import aligned

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
