"""Time per edge and memory of a full-batch training step, from 100,000 to 30 million edges.

    python benchmarks/bench_scale.py [--quick] [--largest EDGES]

Three layers of random directed edges, ten per node and layer: 1,000,000 nodes at 30 million edges. GrAMME-Fusion with
the paper's sizes (two hops, two heads, D = 64, d = 32) on one thread. Each size runs in a process of its own. Prints a
table and, for a whole run, draws docs/figures/time_per_edge.png.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from bench_attention import our_step
from measure import in_own_process, mebibytes, resident_bytes

from gramme.graph import EdgeLayer, MultilayerGraph

LAYERS, PER_NODE = 3, 10
SIZES = [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000]
FIGURE = Path(__file__).parent.parent / "docs" / "figures" / "time_per_edge.png"


def measure(edges: int) -> None:
    """Train a few steps at one size; the last line printed is what was found."""
    per_layer = edges // LAYERS
    nodes = per_layer // PER_NODE
    random = np.random.default_rng(0)
    layers = {
        f"layer {number}": EdgeLayer(
            nodes,
            random.integers(0, nodes, per_layer, dtype=np.int32),
            random.integers(0, nodes, per_layer, dtype=np.int32),
            directed=True,
        )
        for number in range(LAYERS)
    }
    graph = MultilayerGraph(layers)
    del layers
    kept = graph.num_edges
    step = our_step(graph, "fusion")
    del graph
    repeats = 10 if edges <= 1_000_000 else 3 if edges <= 10_000_000 else 2
    step()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        step()
        times.append(time.process_time() - start)
    found = {
        "nodes": nodes,
        "edges": kept,
        "seconds": min(times),
        "peak": resident_bytes(peak=True),
    }
    print(json.dumps(found))


def draw(rows: list[dict[str, float]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    edges = [row["edges"] for row in rows]
    figure, axes = plt.subplots(figsize=(5.5, 3.5), layout="constrained")
    axes.loglog(edges, [row["seconds"] / row["edges"] * 1e9 for row in rows], marker="o")
    axes.set_ylim(10, 10_000)
    axes.set_xlabel("edges (three layers together)")
    axes.set_ylabel("CPU nanoseconds per edge and step")
    axes.grid(True, which="both", alpha=0.3)
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(FIGURE, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only up to a million edges")
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="leave out larger sizes")
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    if options.size:
        measure(options.size)
        return
    largest = min(options.largest, 1_000_000) if options.quick else options.largest
    print(f"{'edges':>12} {'nodes':>10} {'ms / step':>12} {'ns / edge':>10} {'peak memory':>14}")
    rows = []
    for size in SIZES:
        if size > largest:
            break
        row = in_own_process(["--size", str(size)])
        rows.append(row)
        per_edge = row["seconds"] / row["edges"] * 1e9
        print(
            f"{row['edges']:>12,.0f} {row['nodes']:>10,.0f} {row['seconds'] * 1e3:>12,.1f} "
            f"{per_edge:>10.0f} {mebibytes(row['peak']):>14}",
            flush=True,
        )
    costs = [row["seconds"] / row["edges"] for row in rows]
    print(f"highest / lowest cost per edge: {max(costs) / min(costs):.2f}")
    if not options.quick:
        draw(rows)
        print(f"drawn: {FIGURE}")


if __name__ == "__main__":
    main()
