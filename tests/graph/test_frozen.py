import copy
import pickle

import numpy as np
import pytest

from gramme.graph.frozen import Frozen


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
