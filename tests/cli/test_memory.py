import sys

import numpy as np
import pytest
import torch

from gramme.cli.memory import bounded_memory
from gramme.errors import DataError

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are Linux's")
GIBIBYTE = 1 << 30


@linux
@pytest.mark.parametrize("take", [np.ones, torch.ones], ids=["numpy", "torch"])
def test_a_request_for_too_much_is_an_error_that_says_what_needs_less(take):
    expected = pytest.raises(DataError, match="memory is too small: take fewer")
    with expected, bounded_memory("take fewer", most=GIBIBYTE):
        take(GIBIBYTE)
    assert len(take(1000)) == 1000


@linux
def test_inner_bounds_do_not_widen_outer_ones_and_bounds_end():
    expected = pytest.raises(DataError, match="inner")
    with bounded_memory("outer", most=GIBIBYTE), expected, bounded_memory("inner"):
        np.empty(GIBIBYTE)
    assert np.empty(GIBIBYTE // 4).nbytes == 2 * GIBIBYTE


def test_sizes_that_no_machine_has_and_errors_of_other_kinds():
    with pytest.raises(DataError, match="fewer"), bounded_memory("fewer"):
        torch.empty(2**40, 2**40)
    with pytest.raises(RuntimeError, match="something else"), bounded_memory("fewer"):
        raise RuntimeError("something else")
