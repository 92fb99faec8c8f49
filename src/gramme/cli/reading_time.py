"""How long reading some files takes, and how much is in them, judged by their size alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from glob import glob
from pathlib import Path

START_SECONDS = 0.3
SECONDS_PER_BYTE = 1.7e-7
"""Of text, on one core; binary formats are as fast per byte, as they have fewer."""
EXCEL_SECONDS_PER_BYTE = 2e-6
BYTES_PER_ENTRY = 7.0
"""Of an edge list or a table, for each end of an edge or cell."""
OTHER_BYTES_PER_ENTRY = {
    ".graphml": 37.0,
    ".gexf": 37.0,
    ".gml": 30.0,
    ".json": 30.0,
    ".npz": 3.5,
    ".parquet": 2.5,
}
USUAL_SECONDS = {
    "fit": (5.0, 1.5e-4, 400.0),
    "predict": (3.0, 2e-6, 500.0),
    "info": (1.0, 1e-7, 60.0),
    "convert": (1.0, 1e-6, 60.0),
    "demo": (5.0, 0.0, 0.0),
    "report": (3.0, 0.0, 0.0),
}
"""By command: seconds whatever the data, seconds for each end of an edge or cell, and those at most."""
_ADDRESS = re.compile(r"^(?:sqlite|duckdb):([^?]*)")


def usual_seconds(command: str, names: Sequence[str]) -> float | None:
    """About how long a command usually takes with its default options, starting included; None if nobody can tell."""
    if command not in USUAL_SECONDS:
        return None
    start, per_entry, most = USUAL_SECONDS[command]
    return start + reading_seconds(names) + min(per_entry * expected_entries(names), most)


def reading_seconds(names: Sequence[str]) -> float:
    """About how long it takes to read files and make a graph of them, on one core."""
    return START_SECONDS + sum(
        size * (EXCEL_SECONDS_PER_BYTE if suffix.startswith(".xls") else SECONDS_PER_BYTE)
        for suffix, size in _sizes(names)
    )


def expected_entries(names: Sequence[str]) -> float:
    """About how many nodes, memberships and ends of edges files hold."""
    return sum(
        size / OTHER_BYTES_PER_ENTRY.get(suffix, BYTES_PER_ENTRY) for suffix, size in _sizes(names)
    )


def _sizes(names: Sequence[str]) -> Iterator[tuple[str, int]]:
    """The suffix and the size of each file; nothing for what is none."""
    for name in names:
        address = _ADDRESS.match(name)
        for path in _files(name if address is None else address[1]):
            try:
                yield path.suffix.lower(), path.stat().st_size
            except OSError:
                continue


def _files(name: str) -> list[Path]:
    """The files that a name stands for: itself, those of a folder, or those that match a pattern."""
    if not name:
        return []
    try:
        path = Path(name)
        if path.is_dir():
            return [one for one in path.iterdir() if one.is_file()]
        return [path] if path.is_file() else [Path(one) for one in glob(name)]  # noqa: PTH207
    except (OSError, ValueError):
        return []
