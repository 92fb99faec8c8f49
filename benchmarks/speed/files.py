"""What it costs to read ten million edges and to make a graph of a table, beside pandas doing only the parsing.

    python benchmarks/speed/files.py [--lines 10000000] [--rows 1000000] [--repeats 3]

Prints CSV ``what,peer,cpu_seconds,peer_cpu_seconds,ratio,limit``. One thread; the least of several runs counts.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from measure import cpu_seconds

import gramme


def write_edges(path: Path, lines: int) -> None:
    """Rows ``layer source target`` in random order of nodes, layer after layer, as such files come."""
    random, nodes = np.random.default_rng(0), max(10, lines // 10)
    columns = {"layer": np.sort(random.integers(1, 4, lines))}
    columns |= {end: random.integers(1, nodes + 1, lines) for end in ("source", "target")}
    pd.DataFrame(columns).to_csv(path, sep=" ", header=False, index=False)


def categories(rows: int) -> pd.DataFrame:
    """Ten columns of text, whole numbers, truth values and categories in turn, of 2 to 20 values."""
    random, made = np.random.default_rng(0), dict[str, Any]()
    for number in range(10):
        codes = random.integers(0, 2 + 2 * number, rows)
        kinds: list[Callable[[Any], Any]] = [
            lambda codes: pd.Series([f"value {code}" for code in codes]),
            lambda codes: codes,
            lambda codes: codes % 2 == 0,
            lambda codes: pd.Categorical.from_codes(codes, pd.Index([f"value {code}" for code in range(21)])),
        ]
        made[f"column {number}"] = kinds[number % 4](codes)
    return pd.DataFrame(made)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    table = categories(chosen.rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "random_multiplex.edges")
        write_edges(path, chosen.lines)
        pairs = {
            (f"read {chosen.lines:,} edges", "pandas.read_csv", 2.5): (
                lambda: gramme.read(path),
                lambda: pd.read_csv(path, sep=" ", header=None),
            ),
            (f"table of {chosen.rows:,} rows x 10", "pandas.factorize", 3.0): (
                lambda: gramme.MultilayerGraph.from_table(table),
                lambda: [pd.factorize(table[name]) for name in table],
            ),
        }
        print("what,peer,cpu_seconds,peer_cpu_seconds,ratio,limit")
        for (what, peer, limit), works in pairs.items():
            ours, theirs = (cpu_seconds(work, repeats=chosen.repeats, warm_up=1) for work in works)
            print(f'"{what}",{peer},{ours:.2f},{theirs:.2f},{ours / theirs:.2f},{limit}', flush=True)


if __name__ == "__main__":
    main()
