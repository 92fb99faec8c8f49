import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from gramme.errors import DataError
from gramme.graph.arrays import (
    Frozen,
    checked_weights,
    index_array,
    is_missing,
    loose_index,
    name_index,
    node_count,
    object_array,
    plain_list,
    same_values,
    smallest_int,
    whole_numbers,
)


@pytest.mark.parametrize(("largest", "kind"), [(127, np.int8), (128, np.int16), (32_768, np.int32), (2**31, np.int64)])
def test_the_smallest_type_that_holds_the_largest(largest, kind):
    assert smallest_int(np.array([0, 1]), largest).dtype == kind


@pytest.mark.parametrize("value", [-1, 2.0, True, "3", None])
def test_a_number_of_nodes_is_a_whole_number(value):
    with pytest.raises(DataError, match="whole number of at least 0"):
        node_count(value)
    assert (node_count(np.int32(4)), node_count(0)) == (4, 0)


def test_a_position_outside_is_named():
    assert index_array([2, 0], 3, "sources").dtype == np.int64
    with pytest.raises(DataError, match=r"sources: 3 at position 1 is not a node; .* from 0 to 2"):
        index_array([0, 3], 3, "sources")
    with pytest.raises(DataError, match="the nodes are none"):
        index_array([0], 0, "sources")


def test_whole_numbers_beyond_64_bits_are_still_whole():
    assert whole_numbers([2**70], "ids")[0] == 2**70
    for wrong in ([0.5], ["a"], [[1]], [[1], [1, 2]]):
        with pytest.raises(DataError, match="ids"):
            whole_numbers(wrong, "ids")


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf, np.nan])
def test_the_first_bad_weight_is_named(bad):
    with pytest.raises(DataError, match=r"edge 1 has the weight .*positive and finite"):
        checked_weights([1.0, bad], 2, "edge", lambda place: f"edge {place}")


def test_weights_are_as_many_as_edges():
    with pytest.raises(DataError, match=r"shape \(2,\) were given for 3 edges"):
        checked_weights([1.0, 2.0], 3, "edge", str)


@pytest.mark.parametrize("value", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT")])
def test_missing(value):
    assert is_missing(value)
    assert not any(is_missing(known) for known in (0, "", False, "nan"))


def test_plain_list_gives_python_values():
    assert [type(value) for value in plain_list(np.array([1, 2]))] == [int, int]
    assert plain_list(np.array(["2020-01-02"], dtype="datetime64[D]")) == [pd.Timestamp("2020-01-02")]
    assert plain_list(pd.Series([np.float64(0.5)])) == [0.5]


def test_an_index_keeps_numbers_apart_from_text_and_tuples_whole():
    assert loose_index([3, 1]).dtype == np.int64
    assert loose_index([2**80, 1]).tolist() == [2**80, 1]
    assert loose_index([("a", 1), ("b", 2)]).tolist() == [("a", 1), ("b", 2)]
    assert loose_index(pd.Series(["x"], name="who")).name is None


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["a", "a"], "two nodes have the name 'a'"),
        (["a", None], "position 1 has no name"),
        (["a"], "1 node names were given for 2 nodes"),
        (["a", ["b"]], "must be hashable"),
    ],
)
def test_names_that_name_no_node(names, words):
    with pytest.raises(DataError, match=words):
        name_index(names, 2)


def test_same_values_counts_missing_as_equal():
    left = object_array([None, "a", (1, 2)])
    assert same_values(left, object_array([float("nan"), "a", (1, 2)]))
    assert not same_values(left, object_array([None, "b", (1, 2)]))
    assert same_values(np.array([np.nan, 1.0]), np.array([np.nan, 1.0]))
    assert same_values(None, None)
    assert not same_values(None, left)
    assert not same_values(left, left[:2])


class Pair(Frozen):
    values: np.ndarray


class Named(Pair):
    name: str


def made():
    pair = Named()
    pair.values = np.arange(3)
    pair.name = "n"
    return pair


def test_a_declared_attribute_is_set_once():
    pair = made()
    with pytest.raises(AttributeError, match="a Named does not change once made, so 'name'"):
        pair.name = "other"
    with pytest.raises(AttributeError, match="cannot be deleted"):
        del pair.name
    assert pair.name == "n"


def test_a_name_that_is_not_declared_cannot_be_set():
    with pytest.raises(AttributeError, match="'nmae' cannot be set"):
        made().nmae = "mistyped"


def test_a_copy_is_the_object_itself():
    pair = made()
    assert copy.copy(pair) is pair
    assert copy.deepcopy([pair])[0] is pair


def test_pickling_keeps_what_is_declared_and_makes_arrays_read_only():
    pair = made()
    pair._computed = "by another room"
    again = pickle.loads(pickle.dumps(pair))
    assert again.values.tolist() == [0, 1, 2]
    assert not again.values.flags.writeable
    assert not hasattr(again, "_computed")
