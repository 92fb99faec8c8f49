"""What it costs to build a graph from a table of categories, beside a plain pandas factorize.

    python benchmarks/bench_build_table.py [--rows 1000000] [--columns 10] [--repeats 3]

Prints CPU seconds per million cells of both, their ratio, and the memory the build added at its
peak, which includes the graph. The table itself is not counted.
"""

import argparse
import gc
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gramme.graph import MultilayerGraph

PAGE = 4096


def make_table(rows: int, columns: int) -> pd.DataFrame:
    """Text, whole numbers, truth values and categories in turn, of 2 to 20 values."""
    random = np.random.default_rng(0)
    made: dict[str, Any] = {}
    for place in range(columns):
        codes = random.integers(0, 2 + 2 * place % 19, rows)
        kind = place % 4
        if kind == 0:
            made[f"text {place}"] = pd.Series([f"value {code}" for code in codes])
        elif kind == 1:
            made[f"whole {place}"] = codes
        elif kind == 2:
            made[f"truth {place}"] = codes % 2 == 0
        else:
            made[f"category {place}"] = pd.Categorical.from_codes(
                codes, [f"value {code}" for code in range(21)]
            )
    return pd.DataFrame(made)


def cpu_seconds(work: Callable[[], object], repeats: int) -> float:
    """The least CPU time of several runs: other programs only ever add to it."""
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def peak_added(work: Callable[[], object]) -> int:
    """Bytes of resident memory above the start, sampled every millisecond."""
    gc.collect()
    before = highest = resident()
    done = threading.Event()

    def watch() -> None:
        nonlocal highest
        while not done.wait(0.001):
            highest = max(highest, resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    kept = work()
    done.set()
    watcher.join()
    del kept
    return highest - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    table = make_table(options.rows, options.columns)
    millions = options.rows * options.columns / 1e6

    def build() -> MultilayerGraph:
        return MultilayerGraph.from_table(table)

    memory = peak_added(build)
    ours = cpu_seconds(build, options.repeats) / millions
    plain = cpu_seconds(lambda: [pd.factorize(table[c]) for c in table], options.repeats) / millions
    graph = build()
    print(f"{options.rows:,} rows x {options.columns} columns, {graph.num_edges:,} implied edges")
    print(f"from_table        {ours:.4f} CPU seconds per million cells")
    print(f"pandas factorize  {plain:.4f} CPU seconds per million cells")
    print(f"ratio             {ours / plain:.2f}")
    print(f"peak memory added {memory / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
