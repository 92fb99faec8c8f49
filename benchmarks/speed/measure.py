"""What the benchmarks share: CPU time of one thread, peak memory in a process of its own, a table of ratios."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


def cpu_seconds(work: Callable[[], object], *, repeats: int = 5, warm_up: int = 1, times: int = 1) -> float:
    """The least CPU time of several runs of ``times`` calls each, per call: other programs only ever add to it."""
    for _ in range(warm_up):
        work()
    gc.collect()
    measured = []
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(times):
            work()
        measured.append((time.process_time() - start) / times)
    return min(measured)


def resident_bytes(peak: bool = False) -> int:
    """Resident memory of this process now, or the most since :func:`forget_peak` (Linux)."""
    wanted = "VmHWM:" if peak else "VmRSS:"
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(wanted):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {wanted} in /proc/self/status")


def forget_peak() -> None:
    """Start anew to look for the peak of resident memory, so that how a graph was made does not count."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")


def in_own_process(arguments: Sequence[str]) -> dict[str, float]:
    """Run this benchmark again with other arguments; its last line of output is a JSON object."""
    command = [sys.executable, sys.argv[0], *arguments]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result: dict[str, float] = json.loads(output.splitlines()[-1])
    return result


@dataclass(frozen=True)
class Comparison:
    """One row of the table: what was compared, both costs as text, the ratio and its target."""

    what: str
    ours: str
    other: str
    ratio: float
    target: float
    at_least: bool = True

    @property
    def met(self) -> bool:
        """Whether the ratio is on the right side of the target."""
        return self.ratio >= self.target if self.at_least else self.ratio <= self.target

    def __str__(self) -> str:
        sign = ">=" if self.at_least else "<="
        verdict = "met" if self.met else "MISSED"
        numbers = f"{self.ours:>12} {self.other:>12} {self.ratio:>9.2f}"
        return f"{self.what:<58} {numbers}   {sign} {self.target:<6g} {verdict}"


def header() -> str:
    """The head of the table."""
    return f"{'':<58} {'gramme':>12} {'other':>12} {'ratio':>9}   target"


def milliseconds(seconds: float) -> str:
    """CPU time for the table."""
    return f"{seconds * 1e3:,.1f} ms"


def mebibytes(count: float) -> str:
    """Memory for the table."""
    return f"{count / 2**20:,.0f} MiB"
