"""How much memory there is, as the system tells it, and how large arrays are laid out in it."""

from __future__ import annotations

import os
from pathlib import Path

LARGE_PAGES = "THP_MEM_ALLOC_ENABLE"
"""Torch's setting for pages of 2 MiB below arrays of at least that size; without effect on systems other than Linux."""


def ask_for_large_pages() -> None:
    """Let torch ask for large pages, unless the user has said whether it should.

    Torch looks at the setting when it makes its first array. The memory of a large array goes back to the system with
    the array, and every page of the next one costs system time. Sums over 30 million edges take 1.4 times as much
    CPU time on pages of 4 KiB, a fit with ten million edges 1.1 times (``benchmarks/bench_attention.py --only g`` and
    ``bench_budget.py``, each with ``THP_MEM_ALLOC_ENABLE=0`` and 1).
    """
    os.environ.setdefault(LARGE_PAGES, "1")


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
