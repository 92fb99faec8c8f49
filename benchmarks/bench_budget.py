"""GrammeAuto on ten million edges: CPU time, memory, and what attention was trained with in that time.

    python benchmarks/bench_budget.py                     333,333 nodes, 3 layers, 10 million edges, a tenth labelled
    python benchmarks/bench_budget.py --edges 300000 --budget 20s

The graph is ``gramme.datasets.load("synthetic")`` with three layers of signal 0.2, 0.1 and 0.05. Set OMP_NUM_THREADS=1
for CPU time on one thread. What is asked of the default: attention takes part, 15 CPU minutes, 6 GiB.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from measure import resident_bytes

from gramme import GrammeAuto, datasets

SIGNALS = (0.2, 0.1, 0.05)
DEGREE = 20  # ends of edges per node and layer
MAX_MINUTES, MAX_GIB = 15, 6


def main() -> None:
    """Fit once and print what it took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--budget", default=None, help="like 10m; by default that of GrammeAuto")
    asked = parser.parse_args()
    nodes = asked.edges // (len(SIGNALS) * DEGREE // 2)
    graph = datasets.load("synthetic", nodes=nodes, classes=4, degree=DEGREE, signal=SIGNALS)
    assert graph.labels is not None
    labels = graph.labels.astype(object)
    hidden = np.random.default_rng(0).random(nodes) > 0.1
    y = labels.copy()
    y[hidden] = None
    print(f"{nodes:,} nodes, {graph.num_layers} layers, {graph.num_edges:,} edges", flush=True)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GrammeAuto(budget=asked.budget, random_state=0, progress=False).fit(graph, y)
    minutes = (time.process_time() - began) / 60
    gib = resident_bytes(peak=True) / 2**30
    print(f"{minutes:.1f} CPU minutes ({MAX_MINUTES} asked), peak {gib:.1f} GiB ({MAX_GIB} asked)")
    print(model.done_in_time_ or "everything was trained")
    print(model.ingredients_.round(3).to_string(index=False))
    print(f"accuracy on hidden labels: {(model.predict() == labels)[hidden].mean():.3f}")
    for name, one in model.models_.items():
        print(f"  {name} {(one.predict() == labels)[hidden].mean():.3f}")


if __name__ == "__main__":
    main()
