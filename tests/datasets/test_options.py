import numpy as np
import pytest

from gramme.datasets.options import layer_signals, positive_int, shuffled_classes, streams
from gramme.errors import DataError


@pytest.mark.parametrize("value", [0, -1, True, 1.0, "3", None])
def test_what_is_no_positive_whole_number(value):
    with pytest.raises(DataError, match="k must be a whole number of at least 1"):
        positive_int(value, "k")
    assert positive_int(np.int16(4), "k") == 4


def test_signals_are_one_per_layer_between_0_and_1():
    assert layer_signals([0.1, 1], 2) == [0.1, 1.0]
    for signal, layers in (([0.1], 2), ([], None), (1.2, None), ([-0.1], 1)):
        with pytest.raises(DataError, match="signal"):
            layer_signals(signal, layers)


def test_more_streams_leave_the_first_as_they_are():
    few, many = streams(7, 2), streams(7, 5)
    assert [one.random() for one in few] == [one.random() for one in many[:2]]
    assert streams(7, 2)[0].random() != streams(7, 2)[1].random()


def test_classes_are_equally_large_and_in_random_order():
    found = shuffled_classes(100, 3, np.random.default_rng(0))
    assert sorted(np.bincount(found)) == [33, 33, 34]
    assert found[:6].tolist() != [0, 1, 2, 0, 1, 2]
