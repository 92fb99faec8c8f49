"""PageRank of a table with a million rows and ten columns, whose edges nobody could list.

    python benchmarks/bench_rank.py [--rows 1000000] [--columns 10]

Prints CSV: what, rows, columns, implied edges and seconds of CPU, with networkx's PageRank on a part of the table whose
edges can be built at all.
"""

from __future__ import annotations

import argparse
import time

import networkx as nx
import numpy as np

from gramme.graph import MembershipLayer, MultilayerGraph
from gramme.ranking import rank


def table(rows: int, columns: int) -> MultilayerGraph:
    """Random columns with 2 to 1,000 values each, like answers, towns and birthdays."""
    random = np.random.default_rng(0)
    values = np.geomspace(2, 1000, columns).astype(int)
    return MultilayerGraph(
        {
            f"column {place}": MembershipLayer.from_codes(random.integers(0, count, rows))
            for place, count in enumerate(values)
        }
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--part", type=int, default=1000, help="rows for networkx")
    given = parser.parse_args()
    print("what,rows,columns,implied_edges,cpu_seconds")
    rank(table(100, 2), ["pagerank"])  # compile and import before the clock starts
    for rows in (given.part, given.rows):
        graph = table(rows, given.columns)
        began = time.process_time()
        rank(graph, ["pagerank"])
        seconds = time.process_time() - began
        print(f"gramme,{rows},{given.columns},{graph.num_edges},{seconds:.3f}", flush=True)
        if rows == given.part:
            supra = nx.from_scipy_sparse_array(graph.supra_adjacency())
            began = time.process_time()
            nx.pagerank(supra, tol=1e-13, max_iter=1000)
            peer = time.process_time() - began
            print(f"networkx,{rows},{given.columns},{graph.num_edges},{peer:.3f}")
            print(f"# networkx takes {peer / seconds:.0f} times as long", flush=True)


if __name__ == "__main__":
    main()
