"""Small work on one thread: sharing it between threads costs more than doing it, much more on a busy machine.

numpy, scipy and scikit-learn (BLAS, OpenMP) and torch each have a pool of threads of their own, which wait for one
another after every operation. Here all of them are limited while something small is worked on. Our compiled loops use
one thread anyway, and numba's pool is left alone: even asking for its size starts it and gives torch more threads.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

from threadpoolctl import ThreadpoolController

MIN_SHARED_ENTRIES = 2_000_000
"""Nodes, edges and memberships over all layers from which several threads pay off."""

_LIMITED: ContextVar[bool] = ContextVar("limited", default=False)


@contextmanager
def one_thread_below(entries: int) -> Iterator[None]:
    """Run the body on one thread where the work has fewer entries than are worth sharing.

    >>> from threadpoolctl import threadpool_info
    >>> import numpy
    >>> with one_thread_below(1000):
    ...     {pool["num_threads"] for pool in threadpool_info()}
    {1}
    """
    if entries >= MIN_SHARED_ENTRIES or _LIMITED.get():
        yield
        return
    mark = _LIMITED.set(True)
    restore = _limit_torch()
    try:
        with thread_pools().limit(limits=1):
            yield
    finally:
        restore()
        _LIMITED.reset(mark)


def thread_pools() -> ThreadpoolController:
    """The pools of the libraries that are loaded, whose sizes its ``limit`` sets for the duration of a block.

    >>> with thread_pools().limit(limits=1):
    ...     pass
    """
    return _pools_of(len(sys.modules))


@lru_cache(maxsize=1)
def _pools_of(modules: int) -> ThreadpoolController:
    """Looked for anew only where more modules are loaded: it takes milliseconds, as long as a small fit."""
    return ThreadpoolController()


def _limit_torch() -> Callable[[], None]:
    """One thread for torch, if it is loaded; returns what undoes it."""
    torch = sys.modules.get("torch")
    threads = 1 if torch is None else torch.get_num_threads()
    if torch is None or threads == 1:
        return lambda: None
    torch.set_num_threads(1)
    return lambda: torch.set_num_threads(threads)
