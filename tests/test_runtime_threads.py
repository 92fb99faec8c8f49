"""Small work runs on one thread in every library, and leaves the pools as they were."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
import torch
from tests.methods.auto.test_gramme_auto import fits
from threadpoolctl import threadpool_info, threadpool_limits

from gramme._runtime import MIN_SHARED_ENTRIES, one_thread_below
from gramme.methods import Majority


def threads() -> list[int]:
    pools = [pool["num_threads"] for pool in threadpool_info()]
    return [*pools, torch.get_num_threads()]


@pytest.fixture(autouse=True)
def _two_threads() -> Iterator[None]:
    """Whatever OMP_NUM_THREADS says, there is something to limit."""
    torch.set_num_threads(2)
    with threadpool_limits(limits=2):
        yield
    torch.set_num_threads(1)


def test_every_pool_is_limited_and_restored() -> None:
    before = threads()
    assert max(before[:-1]) == before[-1] == 2
    with one_thread_below(1000):
        assert set(threads()) == {1}
        with one_thread_below(1000):
            assert set(threads()) == {1}
    assert threads() == before
    with one_thread_below(MIN_SHARED_ENTRIES):
        assert threads() == before, "large work keeps its threads"


def test_a_fit_of_a_small_graph_is_on_one_thread() -> None:
    seen: list[int] = []

    class Looking(Majority):
        def _fit(self, graph, known, seed):
            seen.extend(threads())
            return super()._fit(graph, known, seed)

    Looking().fit(fits()[0])
    assert set(seen) == {1}
    assert torch.get_num_threads() == 2


def test_the_pool_of_numba_is_not_started() -> None:
    """Starting it sets OpenMP's threads for the whole process, whatever OMP_NUM_THREADS says."""
    script = (
        "import numba\n"
        "from numba.np.ufunc import parallel\n"
        "from gramme._runtime import one_thread_below\n"
        "with one_thread_below(10): pass\n"
        "assert not parallel._is_initialized"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
