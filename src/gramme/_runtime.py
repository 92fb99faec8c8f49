"""A Ray to work on: the one this program is connected to, that of $RAY_ADDRESS, or a local one while it is needed."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any

from threadpoolctl import ThreadpoolController

from .errors import import_extra

# How much memory there is, as the system tells it, and how large arrays are laid out in it.


LARGE_PAGES = "THP_MEM_ALLOC_ENABLE"
"""Torch's setting for pages of 2 MiB below arrays of at least that size; without effect on systems other than Linux."""


def ask_for_large_pages() -> None:
    """Let torch ask for large pages, unless the user has said whether it should; the environment stays as it is.

    Torch looks at the setting when it makes its first array, which is made here: an array that was made before decides.
    The memory of a large array goes back to the system with the array, and every page of the next one costs system
    time. Sums over 30 million edges take 1.4 times as much CPU time on pages of 4 KiB, a fit with ten million edges 1.1
    times (``benchmarks/speed/attention.py --only g`` and ``bench_budget.py``, each with ``THP_MEM_ALLOC_ENABLE=0``
    and 1).
    """
    import torch

    if LARGE_PAGES in os.environ:
        return
    os.environ[LARGE_PAGES] = "1"
    try:
        torch.empty(1)
    finally:
        del os.environ[LARGE_PAGES]


def return_memory(entries: int) -> None:
    """Give pages that nothing uses back to the system after work on so many entries of a graph.

    Without it arrays of changing sizes leave gaps: on Debian's packages every further network made the program 90 MiB
    larger. Only the C library of Linux can; below 100,000 entries it is not worth the time.
    """
    if entries >= 100_000 and sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def free_bytes() -> int | None:
    """Bytes that can still be used, swap included; None on systems other than Linux."""
    try:
        return 1024 * (kibibytes("meminfo", "MemAvailable") + kibibytes("meminfo", "SwapFree"))
    except (OSError, ValueError):
        return None


def kibibytes(file: str, name: str) -> int:
    """A line of a file below ``/proc`` such as ``VmData:  1234 kB``."""
    for line in Path("/proc", file).read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    raise ValueError(f"no {name} in /proc/{file}")


# Small work on one thread: sharing it between threads costs more than doing it, much more on a
# busy machine.


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


TORCH_LOG_LEVEL = {"TORCH_CPP_LOG_LEVEL": "ERROR"}
"""Set before torch is loaded: when another process is gone, torch would warn with C++ stack frames; gramme says it."""


# Ends a process soon after the one that started it: it might compute for hours, and nobody would
# take the result.


PARENT = "GRAMME_PARENT"
"""The environment variable that names who started a process of a fit."""


@lru_cache(maxsize=1)
def end_with(parent: int) -> None:
    """End this process soon after its parent, also where that was killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def import_ray(purpose: str) -> Any:
    """The module; where it is absent, an error says what needs it and how to install it."""
    # Ray warns about a default of its own that will change; it has no bearing on work without GPUs.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    return import_extra("ray", "ray", purpose)


@contextmanager
def connected_ray(purpose: str, cpus: int, *, talks: bool = False) -> Iterator[Any]:
    """Ray, connected; what was not connected before is left with the context.

    Parameters
    ----------
    purpose : str
        What needs Ray, for the error where it is not installed.
    cpus : int
        How many tasks a local Ray runs side by side.
    talks : bool, default=False
        Whether what the tasks print is shown here.
    """
    ray = import_ray(purpose)
    ours = not ray.is_initialized()
    if ours and os.environ.get("RAY_ADDRESS"):
        ray.init(log_to_driver=talks)
    elif ours:
        ray.init(num_cpus=cpus, include_dashboard=False, log_to_driver=talks, configure_logging=False)
    try:
        yield ray
    finally:
        if ours:
            ray.shutdown()
