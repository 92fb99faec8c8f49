"""What a run costs: CPU and wall seconds on one thread, and the most memory the process held meanwhile."""

from __future__ import annotations

import contextlib
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from gramme._threads import thread_pools


@dataclass
class Cost:
    """CPU and wall seconds, and the peak of the process's resident memory in bytes, its libraries included."""

    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    peak_memory: int = 0


@contextlib.contextmanager
def measured() -> Iterator[Cost]:
    """Run the body on one thread and note what it costs, also where it fails.

    One thread whatever the machine: sums then have one order, and results do not depend on how many runs go on beside
    each other; cores are used by running several realisations at once.

    >>> with measured() as cost:
    ...     total = sum(range(100_000))
    >>> cost.cpu_seconds > 0, cost.peak_memory > 1_000_000
    (True, True)
    """
    cost = Cost()
    threads = torch.get_num_threads()
    _forget_peak()
    torch.set_num_threads(1)
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        with thread_pools().limit(limits=1):
            yield cost
    finally:
        cost.cpu_seconds = time.process_time() - cpu
        cost.wall_seconds = time.perf_counter() - wall
        cost.peak_memory = _peak()
        torch.set_num_threads(threads)


def _forget_peak() -> None:
    """Reset the peak, if the system can; otherwise an earlier peak of the process counts too."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(usage if sys.platform == "darwin" else usage * 1024)
