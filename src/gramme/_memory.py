"""How much memory there is, as the system tells it."""

from __future__ import annotations

from pathlib import Path


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
