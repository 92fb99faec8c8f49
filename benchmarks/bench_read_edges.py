"""CPU time of reading an edge list into a graph, against pandas.read_csv parsing the same file.

Neither uses more than one thread. The target is a ratio of at most 2.5 on 10 million lines `layer source target`.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gramme.io import read

TARGET = 2.5


def write_edges(path: Path, lines: int, layers: int, nodes: int) -> None:
    """Rows in random order of nodes, layer after layer, as such files come."""
    random = np.random.default_rng(0)
    columns = {
        "layer": np.sort(random.integers(1, layers + 1, lines)),
        "source": random.integers(1, nodes + 1, lines),
        "target": random.integers(1, nodes + 1, lines),
    }
    pd.DataFrame(columns).to_csv(path, sep=" ", header=False, index=False)


def cpu_seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random_multiplex.edges"
        write_edges(path, options.lines, options.layers, options.nodes)
        path.read_bytes()  # both find the file in memory
        ours, theirs = [], []
        for _ in range(options.repeats):
            theirs.append(cpu_seconds(lambda: pd.read_csv(path, sep=" ", header=None)))
            ours.append(cpu_seconds(lambda: read(path)))
    best, peer = min(ours), min(theirs)
    print(f"{options.lines:,} lines, {options.layers} layers, {options.nodes:,} nodes")
    print(f"pandas.read_csv  {peer:8.2f} s CPU  ({options.lines / peer / 1e6:.1f} M lines/s)")
    print(f"gramme.io.read   {best:8.2f} s CPU  ({options.lines / best / 1e6:.1f} M lines/s)")
    print(f"ratio            {best / peer:8.2f}    (target: at most {TARGET})")


if __name__ == "__main__":
    main()
